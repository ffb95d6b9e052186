import { createWriteStream } from 'node:fs'
import { rm, stat } from 'node:fs/promises'
import path from 'node:path'
import { pipeline } from 'node:stream/promises'
import type { ServiceContext } from '../../context.ts'
import { TranscriptionError } from '../../ports/transcriber.ts'
import { UnreadableRecording } from '../media/join-recording.ts'
import { makeJoinFolder } from '../media/make-join-folder.ts'
import { findQueuedSound, type Outcome, type QueuedSound, type SoundRef, type TranscriptProblem } from './queued-sound.ts'
import { fitSegments } from './segments.ts'
import { dropSilent, isSilent } from './silence.ts'

/** Copies the sound of a recording into a file of its own. @returns its content type. @throws UnreadableRecording; Error if a retry may succeed. */
export type ExtractSound = (from: string, to: string) => Promise<string>

/** Longest recording that is sent. */
const MAX_MS = 3 * 3_600_000
/** Most tries for problems that may be the recording's fault. */
const TRIES: Record<TranscriptProblem, number> = { too_large: 1, too_long: 1, refused: 2, unreadable: 3, no_answer: 5 }

/**
 * Sends a recorded answer, or a question's audio or video, to the speech recognition service, and stores its words. Killed at any point and
 * done again, it ends with the same; a recording whose words are stored is not sent again.
 *
 * @throws TranscriptionError `unavailable`: everything waits. Any other Error: a retry of this recording may succeed.
 */
export async function transcribeRecording(system: ServiceContext, ref: SoundRef, extractSound: ExtractSound): Promise<void> {
  const { transcriber } = system.deps
  const sound = transcriber && (await findQueuedSound(system, ref, transcriber))
  if (!transcriber || !sound) return
  const end = (outcome: Outcome) => complete(system, ref, sound, outcome)
  if (isSilent(sound)) return end({ state: 'silent' })
  if (sound.milliseconds > MAX_MS) return end({ state: 'failed', problem: 'too_long' })
  const folder = await makeJoinFolder(system.deps.log)
  try {
    const file = await fetchSound(sound, folder, extractSound)
    if ((await stat(file.path)).size > transcriber.maxBytes)
      throw new TranscriptionError('too_large', 'The recording is larger than TRANSCRIBE_MAX_MEGABYTES')
    const { milliseconds, language } = sound
    const heard = await transcriber.transcribe({ ...file, milliseconds, language })
    const segments = dropSilent(fitSegments(heard.segments, milliseconds), sound.levels)
    await end({ state: 'ready', language: heard.language, model: transcriber.model, segments })
  } catch (error) {
    const problem = toProblem(error)
    if (!problem || (await sound.countFault()) < TRIES[problem]) throw error
    await end({ state: 'failed', problem })
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}

/** @returns null: there is no fault of the recording. */
function toProblem(error: unknown): TranscriptProblem | null {
  if (error instanceof UnreadableRecording) return 'refused'
  return error instanceof TranscriptionError && error.failure !== 'unavailable' ? error.failure : null
}

/** The file as it is, or the sound of a video. */
async function fetchSound(sound: QueuedSound, folder: string, extractSound: ExtractSound) {
  const whole = path.join(folder, 'whole')
  await pipeline(await sound.readSound(), createWriteStream(whole))
  if (sound.contentType.startsWith('audio/')) return { path: whole, contentType: sound.contentType }
  const extracted = path.join(folder, 'sound')
  return { path: extracted, contentType: await extractSound(whole, extracted) }
}

/** Without effect if the recording was deleted meanwhile. */
async function complete({ deps }: ServiceContext, ref: SoundRef, sound: QueuedSound, outcome: Outcome): Promise<void> {
  if (!(await sound.complete(outcome))) return
  const { id: mediaId, organizationId } = ref
  if (outcome.state === 'failed')
    deps.log.warn({ mediaId, organizationId, problem: outcome.problem }, 'a recording could not be transcribed')
  deps.metrics.recordingTranscribed(outcome.state)
}
