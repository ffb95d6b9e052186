import type { Connection, ServiceContext } from '../context.ts'
import { SWEEP_PARTS, type SweepPart } from '../ports/metrics.ts'

/** Time that a part of the sweep runs, in milliseconds. It continues in the next minute, which shows that it is alive. */
const TIME_BUDGET_MS = 50_000

/** @returns whether the part of the sweep that begins now has worked for long enough. */
export function startTimeBudget(): () => boolean {
  const ends = performance.now() + TIME_BUDGET_MS
  return () => performance.now() >= ends
}

/** Starts the age of each part of the sweep that has none, so that a part that never finishes is noticed. */
export async function expectSweepParts({ db, deps }: ServiceContext): Promise<void> {
  const endedAt = deps.clock()
  await db.sweepPart.createMany({ data: SWEEP_PARTS.map((part) => ({ part, endedAt })), skipDuplicates: true })
}

/** Records that the part has ended without a failure. */
export async function recordSweepPart({ db, deps }: ServiceContext, part: SweepPart): Promise<void> {
  const endedAt = deps.clock()
  await db.sweepPart.upsert({ where: { part }, create: { part, endedAt }, update: { endedAt } })
}

/** Time when each part last ended, without parts of other releases. */
export const measureSweep = ({ db }: { db: Connection }): Promise<{ part: string; endedAt: Date }[]> =>
  db.sweepPart.findMany({ where: { part: { in: [...SWEEP_PARTS] } } })
