import { parseArgs } from 'node:util'

/** Options of the benchmark. */
export type Options = ReturnType<typeof readOptions>

/** Durations are in seconds: of one measurement, and of what comes before the first. */
const FULL = {
  rounds: 3,
  seconds: 3,
  warmUp: 1.5,
  /** Invites of the two organizations that lists are compared in. */
  sizes: { small: 1_000, large: 1_000_000 },
  /** Submissions of the two organizations for grading. */
  submissions: { few: 200, many: 20_000 },
  /** Mails and webhooks that are sent beside reads. */
  messages: 3_000,
  /** Invites that live from their creation to the hand-in: of texts, and of recordings as well. */
  lives: 1_000,
  livesWithRecordings: 10,
}
/** Shows that everything works, and gross faults. */
const QUICK: typeof FULL = {
  rounds: 1,
  seconds: 0.15,
  warmUp: 0.05,
  sizes: { small: 1_000, large: 20_000 },
  submissions: { few: 100, many: 500 },
  messages: 60,
  lives: 200,
  livesWithRecordings: 2,
}

/** Reads the command line. @throws Error for what it does not know. */
export function readOptions(args: string[]) {
  const text = { type: 'string' } as const
  const { values } = parseArgs({ args, options: { quick: { type: 'boolean' }, only: text, rounds: text, seconds: text } })
  const preset = values.quick ? QUICK : FULL
  const [rounds, seconds] = [Number(values.rounds ?? preset.rounds), Number(values.seconds ?? preset.seconds)]
  if (!(rounds > 0 && seconds > 0)) throw new Error('--rounds and --seconds need numbers above 0.')
  // A quick run leaves out what takes long, unless it is asked for by its name.
  const all = !values.quick || values.only !== undefined
  return { ...preset, rounds: Math.ceil(rounds), seconds, only: new RegExp(values.only ?? ''), all }
}
