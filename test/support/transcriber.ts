import { type Behavior, type Received, startReceiver } from './receiver.ts'

/** A received request for a transcript. */
export type TranscriptRequest = { fields: Record<string, string>; file: File; authorization: string | undefined }

/** Responds with these segments in the format `verbose_json`. */
export const verbose =
  (...segments: object[]): Behavior =>
  (response) =>
    void response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify({ language: 'english', segments }))

export const HEARD = verbose(
  { start: 0.2, end: 1, text: ' First I listen.', avg_logprob: -0.2, no_speech_prob: 0.01, compression_ratio: 1.1 },
  { start: 1, end: 2.5, text: ' Zanzibar <perhaps>.', avg_logprob: -1.4, no_speech_prob: 0.7, compression_ratio: 1.1 },
)

/** Starts a server with OpenAI's transcription API, which responds with {@link HEARD} by default. */
export async function startTranscriber(behavior: Behavior = HEARD) {
  const bodies: Buffer[] = []
  const receiver = await startReceiver(behavior, undefined, (body) => bodies.push(body))
  const url = `http://127.0.0.1:${receiver.port}/v1/audio/transcriptions`
  return {
    ...receiver,
    url,
    host: new URL(url).host,
    /** Returns all requests so far, parsed as forms. */
    requests: () => Promise.all(receiver.received.map((message, i) => readForm(message, bodies[i]!))),
  }
}

async function readForm({ headers }: Received, body: Buffer): Promise<TranscriptRequest> {
  const form = await new Response(new Uint8Array(body), { headers: { 'content-type': headers['content-type']! } }).formData()
  const file = form.get('file') as File
  form.delete('file')
  return { fields: Object.fromEntries(form) as Record<string, string>, file, authorization: headers.authorization }
}
