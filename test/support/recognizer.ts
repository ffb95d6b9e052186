import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { promisify } from 'node:util'

const run = promisify(execFile)
/** Debian's paths, of the packages pocketsphinx, pocketsphinx-en-us, flite, and ffmpeg. */
const [RECOGNIZER, VOICE, FFMPEG] = ['/usr/bin/pocketsphinx_continuous', '/usr/bin/flite', '/usr/bin/ffmpeg']
export const isRecognizerInstalled = [RECOGNIZER, VOICE, FFMPEG].every((program) => existsSync(program))

/** Length of a pause that ends a segment, in seconds. */
const PAUSE = 0.6
const WORD = /^([a-z'.-]+)(?:\(\d\))? ([\d.]+) ([\d.]+) ([\d.e+-]+)$/

type Word = { text: string; start: number; end: number; probability: number }

async function withFolder<T>(work: (folder: string) => Promise<T>): Promise<T> {
  const folder = await mkdtemp(path.join(tmpdir(), 'assessments-speech-'))
  try {
    return await work(folder)
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}

/** Speaks English sentences into a WebM file, with a second of silence around each. The recognizer understands this voice best. */
export const speak = (sentences: readonly string[]): Promise<Buffer> =>
  withFolder(async (folder) => {
    const spoken = sentences.map((_, i) => path.join(folder, `${i}.wav`))
    for (const [i, sentence] of sentences.entries()) await run(VOICE, ['-voice', 'rms', '-t', sentence, '-o', spoken[i]!])
    const padded = sentences.map((_, i) => `[${i}]adelay=1000:all=1,apad=pad_dur=1[s${i}]`)
    const joined = `${sentences.map((_, i) => `[s${i}]`).join('')}concat=n=${sentences.length}:v=0:a=1`
    const inputs = spoken.flatMap((file) => ['-i', file])
    const output = path.join(folder, 'spoken.webm')
    const coded = ['-filter_complex', `${padded.join(';')};${joined}`, '-ar', '48000', '-c:a', 'libopus', '-b:a', '32k', output]
    await run(FFMPEG, ['-nostdin', '-v', 'error', ...inputs, ...coded])
    return readFile(output)
  })

/** Starts a server with OpenAI's transcription API, which recognizes English speech with PocketSphinx. */
export async function startRecognizer() {
  const server = createServer(async (request, response) => {
    const form = await new Response(request as unknown as ReadableStream, {
      headers: { 'content-type': request.headers['content-type']! },
    }).formData()
    const sound = Buffer.from(await (form.get('file') as File).arrayBuffer())
    const segments = toSegments(await withFolder((folder) => recognize(sound, folder)))
    response.writeHead(200, { 'content-type': 'application/json' })
    response.end(JSON.stringify({ language: 'english', text: segments.map(({ text }) => text).join(' '), segments }))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  return { url: `http://127.0.0.1:${port}/v1/audio/transcriptions`, host: `127.0.0.1:${port}`, close: () => void server.close() }
}

async function recognize(sound: Buffer, folder: string): Promise<Word[]> {
  const [given, wav] = [path.join(folder, 'given'), path.join(folder, 'mono.wav')]
  await writeFile(given, sound)
  await run(FFMPEG, ['-nostdin', '-v', 'error', '-i', given, '-vn', '-ac', '1', '-ar', '16000', wav])
  const { stdout } = await run(RECOGNIZER, ['-infile', wav, '-time', 'yes', '-logfn', '/dev/null'], { maxBuffer: 16_000_000 })
  return stdout.split('\n').flatMap((line) => {
    const [, text, start, end, probability] = WORD.exec(line) ?? []
    return text ? [{ text, start: Number(start), end: Number(end), probability: Number(probability) }] : []
  })
}

function toSegments(words: Word[]) {
  const groups: Word[][] = []
  for (const word of words) {
    const last = groups.at(-1)
    if (last && word.start - last.at(-1)!.end < PAUSE) last.push(word)
    else groups.push([word])
  }
  return groups.map((group) => ({
    start: group[0]!.start,
    end: group.at(-1)!.end,
    text: ` ${group.map(({ text }) => text).join(' ')}`,
    avg_logprob: group.reduce((sum, { probability }) => sum + Math.log(Math.max(probability, 1e-6)), 0) / group.length,
    no_speech_prob: 0.01,
    compression_ratio: 1,
  }))
}
