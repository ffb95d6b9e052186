import { openAsBlob } from 'node:fs'
import { type SpokenFile, type Transcriber, type Transcription, TranscriptionError } from '../domain/ports/transcriber.ts'
import { readTranscription, type TranscriptionFormat } from './transcription-answer.ts'

/**
 * Connection to a server with OpenAI's `POST /v1/audio/transcriptions`.
 *
 * @property url of the endpoint. @property fields further form fields.
 */
export type TranscriberSettings = {
  url: string
  key: string | undefined
  model: string
  format: TranscriptionFormat
  fields: [name: string, value: string][]
  maxBytes: number
}

/** Milliseconds that a request may take, and as a multiple of the recording's length. */
const BASE_TIMEOUT_MS = 60_000
const TIMEOUT_FACTOR = 2
const MAX_ANSWER_BYTES = 2_000_000
/** Statuses that say nothing about the recording: settings are wrong, or the server is busy or away. */
const UNAVAILABLE = [401, 403, 404, 405, 407, 408, 429, 502, 503, 504]
/** Longest pause that a server may ask for. */
const MAX_RETRY_AFTER_MS = 600_000

/** @see https://platform.openai.com/docs/api-reference/audio/createTranscription */
export const createTranscriber = (settings: TranscriberSettings): Transcriber => ({
  host: new URL(settings.url).host,
  model: settings.model,
  maxBytes: settings.maxBytes,
  async transcribe(file) {
    const language = primaryLanguage(file.language)
    const form = await createForm(settings, file, language)
    const timeout = BASE_TIMEOUT_MS + TIMEOUT_FACTOR * file.milliseconds
    return readTranscription(settings.format, await post(settings, form, timeout), language)
  },
})

/** The protocol wants ISO 639-1, such as `pt` for `pt-BR`. */
const primaryLanguage = (code: string | null): string | null => /^[a-z]{2,3}(?=-|$)/i.exec(code ?? '')?.[0].toLowerCase() ?? null

const EXTENSIONS = new Map([
  ['audio/webm', 'webm'],
  ['audio/mp4', 'mp4'],
  ['audio/wav', 'wav'],
])

async function createForm(settings: TranscriberSettings, file: SpokenFile, language: string | null): Promise<FormData> {
  const form = new FormData()
  const content = await openAsBlob(file.path, { type: file.contentType }) // read while it is sent
  form.set('file', content, `answer.${EXTENSIONS.get(file.contentType.split(';')[0]!) ?? 'webm'}`)
  form.set('model', settings.model)
  form.set('response_format', settings.format)
  form.set('temperature', '0')
  if (language !== null) form.set('language', language)
  for (const [name, value] of settings.fields) form.set(name, value)
  return form
}

async function post({ url, key }: TranscriberSettings, body: FormData, timeoutMs: number): Promise<string> {
  const headers = key === undefined ? {} : { authorization: `Bearer ${key}` }
  const signal = AbortSignal.timeout(timeoutMs)
  const response = await fetch(url, { method: 'POST', body, headers, redirect: 'error', signal }).catch((error: unknown) => {
    throw signal.aborted
      ? lateAnswer()
      : new TranscriptionError('unavailable', `The speech recognition service can't be reached (${reasonOf(error)})`)
  })
  if (!response.ok) {
    await response.body?.cancel()
    throw failureOf(response)
  }
  return readBody(response).catch((error: unknown) => {
    if (error instanceof TranscriptionError) throw error
    throw signal.aborted
      ? lateAnswer()
      : new TranscriptionError('no_answer', 'The speech recognition service broke off its answer')
  })
}

const lateAnswer = () => new TranscriptionError('no_answer', 'The speech recognition service did not answer in time')

/** Error codes such as ECONNREFUSED have no words of an answer. */
const reasonOf = (error: unknown): string => {
  const { cause } = error as { cause?: { code?: string } }
  return cause?.code ?? 'no connection'
}

function failureOf({ status, headers }: Response): TranscriptionError {
  const message = `The speech recognition service answered ${status}`
  if (status === 413) return new TranscriptionError('too_large', message)
  if (UNAVAILABLE.includes(status))
    return new TranscriptionError('unavailable', message, readRetryAfter(headers.get('retry-after')))
  return new TranscriptionError(status >= 500 ? 'no_answer' : 'refused', message)
}

/** Seconds or a date. */
function readRetryAfter(value: string | null): number | undefined {
  if (value === null) return undefined
  const ms = /^\d+$/.test(value) ? Number(value) * 1_000 : Date.parse(value) - Date.now()
  return Number.isNaN(ms) ? undefined : Math.min(Math.max(ms, 0), MAX_RETRY_AFTER_MS)
}

async function readBody(response: Response): Promise<string> {
  const pieces: Uint8Array[] = []
  let bytes = 0
  for await (const piece of response.body ?? []) {
    bytes += piece.length
    if (bytes > MAX_ANSWER_BYTES)
      throw new TranscriptionError('unreadable', 'The answer of the speech recognition service is too large')
    pieces.push(piece)
  }
  return Buffer.concat(pieces).toString('utf8')
}

/** For `doctor`: an answer in that format to a second of silence. @throws TranscriptionError. */
export async function probeTranscriber(settings: TranscriberSettings, timeoutMs: number): Promise<Transcription> {
  const form = new FormData()
  form.set('file', new File([silence()], 'silence.wav', { type: 'audio/wav' }))
  form.set('model', settings.model)
  form.set('response_format', settings.format)
  for (const [name, value] of settings.fields) form.set(name, value)
  return readTranscription(settings.format, await post(settings, form, timeoutMs), null)
}

/** A second of silence as WAV: 16 kHz, mono, 16 bits. */
function silence(): Buffer<ArrayBuffer> {
  const rate = 16_000
  const header = Buffer.alloc(44)
  header.write('RIFF', 0)
  header.writeUInt32LE(36 + rate * 2, 4)
  header.write('WAVEfmt ', 8)
  header.writeUInt32LE(16, 16)
  header.writeUInt16LE(1, 20)
  header.writeUInt16LE(1, 22)
  header.writeUInt32LE(rate, 24)
  header.writeUInt32LE(rate * 2, 28)
  header.writeUInt16LE(2, 32)
  header.writeUInt16LE(16, 34)
  header.write('data', 36)
  header.writeUInt32LE(rate * 2, 40)
  return Buffer.concat([header, Buffer.alloc(rate * 2)])
}
