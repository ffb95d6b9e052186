/** Part of a transcript. @property startMs null if the service told no times. @property isUncertain true if the words are probably wrong. */
export type TranscriptSegment = { startMs: number | null; endMs: number | null; text: string; isUncertain: boolean }

/** Recognized words. @property language as two or three lower-case letters; empty if unknown. */
export type Transcription = { language: string; segments: TranscriptSegment[] }

/** @property language of the speech as a language code; null if unknown. */
export type SpokenFile = { path: string; contentType: string; milliseconds: number; language: string | null }

/**
 * Why a request for a transcript failed.
 *
 * - `unavailable`: the service can't be reached, is busy, or refuses the key. All recordings wait.
 * - `too_large`: the service refuses files of that size.
 * - `refused`: the service refuses this file.
 * - `no_answer`: the service broke off, or took too long.
 * - `unreadable`: the answer is no transcript.
 */
export type TranscriptionFailure = 'unavailable' | 'too_large' | 'refused' | 'no_answer' | 'unreadable'

/** The message has no words of the answer: it is logged. @property retryAfterMs as the service demands. */
export class TranscriptionError extends Error {
  readonly failure: TranscriptionFailure
  readonly retryAfterMs: number | undefined

  constructor(failure: TranscriptionFailure, message: string, retryAfterMs?: number) {
    super(message)
    this.name = 'TranscriptionError'
    this.failure = failure
    this.retryAfterMs = retryAfterMs
  }
}

/** Speech recognition service that the operator connected. @property host an organization agrees to. */
export type Transcriber = {
  host: string
  model: string
  maxBytes: number
  /** @throws TranscriptionError. */
  transcribe: (file: SpokenFile) => Promise<Transcription>
}
