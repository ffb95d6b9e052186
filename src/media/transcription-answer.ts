import { type Transcription, TranscriptionError, type TranscriptSegment } from '../domain/ports/transcriber.ts'

/** Formats that services of the protocol may have, the one with most facts first. */
export const TRANSCRIPTION_FORMATS = ['verbose_json', 'vtt', 'json'] as const
export type TranscriptionFormat = (typeof TRANSCRIPTION_FORMATS)[number]

/** Limits beyond which a segment is probably wrong, as whisper uses them itself. */
const MAX_NO_SPEECH = 0.6
const MIN_LOG_PROBABILITY = -1
const MAX_COMPRESSION = 2.4

const unreadable = (problem: string) =>
  new TranscriptionError('unreadable', `The answer of the speech recognition service ${problem}`)

/** Reads an answer of any version of the protocol. Every number may be missing. @throws TranscriptionError unreadable. */
export function readTranscription(format: TranscriptionFormat, body: string, askedLanguage: string | null): Transcription {
  if (format === 'vtt') return { language: askedLanguage ?? '', segments: readCues(body) }
  const answer = parseObject(body)
  const language = askedLanguage ?? codeOf(answer.language)
  const segments = format === 'verbose_json' && Array.isArray(answer.segments) ? answer.segments.flatMap(readSegment) : null
  if (segments) return { language, segments }
  if (typeof answer.text !== 'string') throw unreadable('has no text')
  return { language, segments: [untimed(answer.text)] }
}

function parseObject(body: string): Record<string, unknown> {
  try {
    const answer: unknown = JSON.parse(body)
    if (typeof answer === 'object' && answer !== null) return answer as Record<string, unknown>
  } catch {
    // the parser's message repeats the body
  }
  throw unreadable('is no JSON')
}

const untimed = (text: string): TranscriptSegment => ({ startMs: null, endMs: null, text: printable(text), isUncertain: false })

function readSegment(segment: unknown): TranscriptSegment[] {
  if (typeof segment !== 'object' || segment === null || !('text' in segment) || typeof segment.text !== 'string')
    throw unreadable('has a segment without text')
  const { start, end, avg_logprob, no_speech_prob, compression_ratio } = segment as Record<string, unknown>
  const isNumber = (value: unknown): value is number => typeof value === 'number' && Number.isFinite(value)
  const isImprobable =
    isNumber(no_speech_prob) && no_speech_prob > MAX_NO_SPEECH && isNumber(avg_logprob) && avg_logprob < MIN_LOG_PROBABILITY
  const isUncertain = isImprobable || (isNumber(compression_ratio) && compression_ratio > MAX_COMPRESSION)
  const text = printable(segment.text)
  if (!isNumber(start) || !isNumber(end)) return [{ ...untimed(text), isUncertain }]
  return [{ startMs: start * 1_000, endMs: end * 1_000, text, isUncertain }]
}

const CUE = /^(?:(\d+):)?(\d{1,2}):(\d{1,2}[.,]\d{1,3}) --> (?:(\d+):)?(\d{1,2}):(\d{1,2}[.,]\d{1,3})/

/** Cues of WebVTT: hours are optional, and settings may follow the times. */
function readCues(body: string): TranscriptSegment[] {
  if (!body.trimStart().startsWith('WEBVTT')) throw unreadable('is no WebVTT')
  const blocks = body.replaceAll('\r\n', '\n').split(/\n{2,}/)
  return blocks.flatMap((block) => {
    const lines = block.split('\n')
    const index = lines.findIndex((line) => line.includes('-->'))
    if (index === -1) return []
    const times = CUE.exec(lines[index]!.trim())
    if (!times) throw unreadable('has a cue without times')
    const ms = (hours = '0', minutes = '0', seconds = '0') =>
      (Number(hours) * 3_600 + Number(minutes) * 60 + Number(seconds.replace(',', '.'))) * 1_000
    const text = printable(
      lines
        .slice(index + 1)
        .join(' ')
        .replaceAll(/<[^>]*>/g, ''),
    )
    return [{ startMs: ms(...times.slice(1, 4)), endMs: ms(...times.slice(4, 7)), text, isUncertain: false }]
  })
}

/** Replaces control characters, which neither the database nor pages accept. */
const printable = (text: string): string => text.replaceAll(/[\p{Cc}\p{Cs}]+/gu, ' ')

/** Services name languages by code or by their English name. */
function codeOf(language: unknown): string {
  if (typeof language !== 'string') return ''
  const name = language.trim().toLowerCase()
  if (/^[a-z]{2,3}$/.test(name)) return name
  return NAMES.get(name) ?? ''
}
const inEnglish = new Intl.DisplayNames(['en'], { type: 'language' })
const CODES =
  'af ar bg bn ca cs da de el en es et eu fa fi fr gl he hi hr hu id is it ja ko lt lv ms nl no pl pt ro ru sk sl sq sr sv sw th tr uk ur vi zh'
const NAMES = new Map(CODES.split(' ').map((code) => [inEnglish.of(code)?.toLowerCase(), code]))
