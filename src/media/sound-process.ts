import { stat } from 'node:fs/promises'
import { runTask } from '../processes/run-task.ts'
import { copySound } from './copy-sound.ts'
import { isDamage } from './damage.ts'

export type SoundTask = { from: string; to: string }
export type SoundOutcome =
  | { contentType: string }
  /** @property isOfInput true if the recording is at fault; otherwise a retry may succeed. */
  | { problem: string; isOfInput: boolean }

// Program started by extractSoundInProcess for one recording.
runTask<SoundTask, SoundOutcome>(
  async ({ from, to }) => ({ contentType: await copySound(from, to, (await stat(from)).size) }),
  (error) => ({ problem: error instanceof Error ? error.message : String(error), isOfInput: isDamage(error) }),
)
