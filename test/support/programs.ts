import { deserialize, serialize } from 'node:v8'
import { onTestFinished } from 'vitest'
import type { Program } from '../../src/processes/run-limited.ts'

type Task = {
  work: (task: unknown, sendPart: (part: unknown) => Promise<void>) => Promise<unknown>
  describe: (error: unknown) => unknown
}

let startsPrograms = false

/** Chooses whether each task starts a program, as in production, or runs in the worker. */
export function startPrograms(starts = true): void {
  startsPrograms = starts
}

/** Starts programs for tasks until the test ends. */
export function startProgramsInTest(): void {
  startPrograms()
  onTestFinished(() => startPrograms(false))
}

export const isStartingPrograms = (): boolean => startsPrograms

let registered: Task | undefined
/** Replaces `runTask`, which a program calls when it is loaded. */
export function registerTask(work: Task['work'], describe: Task['describe']): void {
  registered = { work, describe }
}

const programs = new Map<string, Promise<Task>>()
let lastLoaded: Promise<unknown> = Promise.resolve()

/** Loads one program at a time, so that each registers its own task. */
function loadTask(path: string): Promise<Task> {
  const load = async () => {
    await import(/* @vite-ignore */ path)
    return registered!
  }
  const task = programs.get(path) ?? lastLoaded.then(load)
  programs.set(path, task)
  lastLoaded = task
  return task
}

/** Copies a value as if it were sent to another process. */
const send = <T>(value: T): T => deserialize(serialize(value))

/** Runs a program's task in the worker, without limits. */
export async function runInWorker<Outcome, Part>(
  { path }: Program,
  task: object,
  takePart: (part: Part) => Promise<void> = async () => {},
): Promise<Outcome> {
  const { work, describe } = await loadTask(path)
  const refused = Promise.withResolvers<never>()
  const sendPart = (part: unknown) =>
    takePart(send(part) as Part).catch((error) => {
      refused.reject(error)
      return new Promise<void>(() => {}) // a program would be stopped here
    })
  const outcome = work(send(task), sendPart).catch(describe)
  return send(await Promise.race([outcome, refused.promise])) as Outcome
}
