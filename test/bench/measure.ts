import { setTimeout as sleep } from 'node:timers/promises'
import type { Pool } from 'pg'
import type { Bound, Case, Goal, Variant } from './cases.ts'
import { type BenchDatabase, waitUntilQuiet } from './database.ts'
import { drive, median, type Sample } from './load.ts'
import type { Options } from './options.ts'
import type { Rivals } from './rivals.ts'
import { readProcessorTime } from './usage.ts'

/** A value, and whether it is as it should be; without a goal it is for information. */
export type Check = { what: string; value: number; goal?: string; met?: boolean }

/** What came of a case: medians over the rounds, and the checks on them; or why nothing came of it. */
export type Result = {
  name: string
  variants: (Sample & { name: string; rounds: Sample[] })[]
  checks: Check[]
  failure?: string
}

const DRAINED_WITHIN_MS = 60_000

/** Measures each variant in each round, one after the other, so that what changes meanwhile changes for all of them. */
export async function measure(
  { name, connections, variants, goals, rounds: enough }: Case,
  rivals: Rivals,
  database: BenchDatabase,
  options: Pick<Options, 'rounds' | 'seconds' | 'warmUp'>,
): Promise<Result> {
  const run = async ({ rival, organization, requests }: Variant, seconds: number) => {
    const { url, pid } = rivals[rival]
    const before = await readProcessorTime(pid)
    const sample = await drive({ url, key: organization.key, requests, connections }, seconds)
    await waitUntilQuiet(database)
    if (requests[0]?.body && rival === 'service') await waitUntilSent(database.pool, organization.id)
    return { ...sample, cpu: ((await readProcessorTime(pid)) - before) / sample.answers }
  }
  const rounds = new Map<string, Sample[]>(variants.map((variant) => [variant.name, []]))
  for (const variant of variants) await run(variant, options.warmUp)
  for (let round = 0; round < Math.min(options.rounds, enough ?? options.rounds); round++)
    for (const variant of variants) rounds.get(variant.name)!.push(await run(variant, options.seconds))
  return {
    name,
    variants: [...rounds].map(([name, samples]) => ({ name, ...middle(samples), rounds: samples })),
    checks: goals.map((goal) => check(goal, rounds)),
  }
}

const middle = (samples: Sample[]): Sample => ({
  throughput: median(samples.map((sample) => sample.throughput)),
  p50: median(samples.map((sample) => sample.p50)),
  p99: median(samples.map((sample) => sample.p99)),
  cpu: median(samples.map((sample) => sample.cpu)),
  answers: samples.reduce((sum, sample) => sum + sample.answers, 0),
})

/** The median of the rounds' ratios. */
function check(goal: Goal, rounds: Map<string, Sample[]>): Check {
  const [over, figure] = goal.over
  if (!goal.under) {
    const value = median(rounds.get(over)!.map((sample) => sample[figure]))
    return { what: `${over}: ${figure}`, value, ...judge(value, goal) }
  }
  const [under, otherFigure] = goal.under
  const value = median(rounds.get(over)!.map((sample, round) => sample[figure] / rounds.get(under)![round]![otherFigure]))
  const what = over === under ? `${over}: ${figure} / ${otherFigure}` : `${figure}: ${over} / ${under}`
  return { what, value, ...judge(value, goal) }
}

/** Holds a value against its bound. */
export function judge(value: number, bound: Bound): Pick<Check, 'goal' | 'met'> {
  if ('atLeast' in bound) return { goal: `≥ ${bound.atLeast}`, met: value >= bound.atLeast }
  if ('atMost' in bound) return { goal: `≤ ${bound.atMost}`, met: value <= bound.atMost }
  return {}
}

/** So that no round bears the mails and webhooks of the one before. */
async function waitUntilSent(pool: Pool, organizationId: string): Promise<void> {
  const deadline = Date.now() + DRAINED_WITHIN_MS
  for (;;) {
    const { rows } = await pool.query<{ queued: number }>(
      `SELECT (SELECT count(*) FROM invite_emails WHERE state = 'queued' AND organization_id = $1)::int
         + (SELECT count(*) FROM webhook_deliveries WHERE state = 'waiting' AND organization_id = $1)::int AS queued`,
      [organizationId],
    )
    const { queued } = rows[0]!
    if (queued === 0) return
    if (Date.now() > deadline) return console.error(`  ${queued} mails and webhooks are still queued: the next round bears them`)
    await sleep(200)
  }
}
