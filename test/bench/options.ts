import { parseArgs } from 'node:util'

/** Options of the benchmark. */
export type Options = ReturnType<typeof readOptions>

/** `seconds` is the duration of one measurement, `warmUp` that of the load before the first, also in seconds. */
const FULL = {
  rounds: 3,
  seconds: 3,
  warmUp: 1.5,
  /** Invites of the two organizations whose lists are compared. */
  sizes: { small: 1_000, large: 1_000_000 },
  /** Submissions of the two organizations for grading. */
  submissions: { few: 200, many: 20_000 },
  /** Mails or webhooks to send while reads are measured. */
  messages: 3_000,
  /** Invites from creation to submission: `lives` with text answers, `livesWithRecordings` with recordings too. */
  lives: 1_000,
  livesWithRecordings: 10,
}
/** A quick run shows that everything works, and reveals gross slowdowns. */
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

/** Parses the command line. @throws Error for an unknown option. */
export function readOptions(args: string[]) {
  const text = { type: 'string' } as const
  const { values } = parseArgs({ args, options: { quick: { type: 'boolean' }, only: text, rounds: text, seconds: text } })
  const preset = values.quick ? QUICK : FULL
  const [rounds, seconds] = [Number(values.rounds ?? preset.rounds), Number(values.seconds ?? preset.seconds)]
  if (!(rounds > 0 && seconds > 0)) throw new Error('--rounds and --seconds need numbers above 0.')
  // A quick run skips long cases, unless --only is given.
  const all = !values.quick || values.only !== undefined
  return { ...preset, rounds: Math.ceil(rounds), seconds, only: new RegExp(values.only ?? ''), all }
}
