import path from 'node:path'
import { parseArgs } from 'node:util'

/** How to run the benchmark. Durations are in seconds. */
export type Options = {
  /** Small organizations, short rounds and no variations of cases: shows that everything works, and gross faults. */
  quick: boolean
  /** Only the cases whose name matches. */
  only: RegExp
  /** Whether also those that are other cases with other parameters, and those that start services of their own. */
  variations: boolean
  /** How often each variant of a case is measured. */
  rounds: number
  /** Of one measurement. */
  seconds: number
  /** Of each variant, before the first round. */
  warmUp: number
  /** Invites of the small, the middle and the large organization. */
  sizes: { small: number; middle: number; large: number }
  /** What was handed in, in the organizations that are asked for it. */
  submissions: { few: number; many: number }
  /** Mails of each run of the mail dispatch. */
  mails: number
  /** The file that the results go to, as JSON. */
  out: string
  /** The file that the chart of the ratios to the floor goes to, as SVG. */
  chart: string
  /** Where the service's processor time goes, instead of how fast it is. */
  profile: boolean
}

const FULL = {
  rounds: 5,
  seconds: 3,
  warmUp: 1.5,
  sizes: { small: 1_000, middle: 100_000, large: 1_000_000 },
  submissions: { few: 200, many: 20_000 },
  mails: 3_000,
}
const QUICK = {
  rounds: 1,
  seconds: 0.15,
  warmUp: 0.05,
  sizes: { small: 1_000, middle: 5_000, large: 20_000 },
  submissions: { few: 100, many: 500 },
  mails: 60,
}
const ROOT = path.join(import.meta.dirname, '../..')

/** Reads the command line. @throws Error for what it does not know. */
export function readOptions(args: string[]): Options {
  const { values } = parseArgs({
    args,
    options: {
      quick: { type: 'boolean', default: false },
      only: { type: 'string', default: '' },
      rounds: { type: 'string' },
      seconds: { type: 'string' },
      out: { type: 'string', default: path.join(ROOT, 'node_modules/.cache/bench.json') },
      chart: { type: 'string', default: path.join(ROOT, 'node_modules/.cache/bench.svg') },
      profile: { type: 'boolean', default: false },
    },
  })
  const { quick, out, chart, profile } = values
  const variations = !quick || values.only !== ''
  const preset = quick ? QUICK : FULL
  const rounds = readNumber('rounds', values.rounds) ?? preset.rounds
  const seconds = readNumber('seconds', values.seconds) ?? preset.seconds
  return {
    ...preset,
    quick,
    out,
    chart,
    profile,
    variations,
    only: new RegExp(values.only),
    rounds: Math.max(1, Math.round(rounds)),
    seconds,
  }
}

function readNumber(name: string, text: string | undefined): number | undefined {
  if (text === undefined) return undefined
  const number = Number(text)
  if (!(number > 0)) throw new Error(`--${name} needs a number above 0.`)
  return number
}
