import type { Levels } from '../domain/submissions/media/levels.ts'
import { runTask } from '../processes/run-task.ts'
import { measureLevels } from './measure-levels.ts'

export type LevelsTask = { file: string }
export type LevelsOutcome = { levels: Levels | null } | { problem: string }

// Program started by measureLevelsInProcess for one recording.
runTask<LevelsTask, LevelsOutcome>(
  async ({ file }) => ({ levels: await measureLevels(file) }),
  (error) => ({ problem: error instanceof Error ? error.message : String(error) }),
)
