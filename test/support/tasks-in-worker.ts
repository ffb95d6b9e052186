import { expect, vi } from 'vitest'
import type * as processes from '../../src/processes/run-limited.ts'
import { isStartingPrograms, registerTask, runInWorker, startPrograms } from './programs.ts'

// This setup file runs tasks in the worker instead of in separate programs. Starting a program to read a file or join a recording would take most
// of the processor time of a test about its content. Tests of the programs and their limits start them, see startPrograms and startProgramsInTest.
const TESTS_OF_PROGRAMS = /\/test\/(?:faults|operations|reports|transfer|uploads)\/|\/result-report\.test\.ts$/
startPrograms(TESTS_OF_PROGRAMS.test(expect.getState().testPath!))

vi.mock('../../src/processes/run-limited.ts', async (importOriginal) => {
  const original = await importOriginal<typeof processes>()
  const runLimited: typeof processes.runLimited = (program, limits, work, takePart) =>
    isStartingPrograms() ? original.runLimited(program, limits, work, takePart) : runInWorker(program, work, takePart)
  return { ...original, runLimited }
})

vi.mock('../../src/processes/run-task.ts', () => ({ runTask: registerTask }))
