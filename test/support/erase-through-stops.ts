import type { Context } from '../../src/domain/context.ts'
import { continueErasure } from '../../src/domain/erasure/continue-erasure.ts'
import { type ErasureStep, getErasure } from '../../src/domain/erasure/erasures.ts'
import { scaled } from './scale.ts'
import type { Service } from './service.ts'

/** Number of stops per step. */
export const STOPS = scaled(2, 20)
/** More tries than any erasure takes here. */
const MOST_TRIES = 500

/**
 * Runs an erasure to its end although it is interrupted: the transaction of each step is rolled back {@link STOPS} times before its commit, the
 * first write of each step once, and the media store fails as often.
 *
 * @param request asks for it.
 * @returns how often each step was at its work, and what it was stopped by, in order.
 */
export async function eraseThroughStops(
  { db }: Service,
  ctx: Context,
  steps: readonly ErasureStep[],
  request: (ctx: Context) => Promise<{ id: string }>,
): Promise<{ id: string; times: Partial<Record<ErasureStep, number>>; failures: string[] }> {
  for (const step of steps) {
    await db.$executeRawUnsafe(`CREATE SEQUENCE begin_${step}`)
    await db.$executeRawUnsafe(`CREATE SEQUENCE work_${step}`)
  }
  await db.$executeRawUnsafe(`CREATE FUNCTION stop_erasing() RETURNS trigger LANGUAGE plpgsql AS $$
    DECLARE works CONSTANT boolean := OLD.counts <> NEW.counts OR NEW.finished_at IS NOT NULL;
    BEGIN
      IF NEW.organization_id = '${ctx.organization.id}'
        AND nextval(CASE WHEN works THEN 'work_' ELSE 'begin_' END || NEW.step) <= (CASE WHEN works THEN ${STOPS} ELSE 1 END)
      THEN RAISE EXCEPTION 'stopped'; END IF;
      RETURN NEW;
    END $$`)
  await db.$executeRawUnsafe('CREATE TRIGGER stop_erasing BEFORE UPDATE ON erasures FOR EACH ROW EXECUTE FUNCTION stop_erasing()')
  const { media, queue } = ctx.deps
  let refusals = STOPS
  const deletePrefix = async (prefix: string) => {
    if (refusals-- > 0) throw new Error('the store is away')
    await media.deletePrefix(prefix)
  }
  // Done here alone: beside a worker of its own, what one of the two does would be taken for the step of the other.
  const withoutWorker: Context = { ...ctx, deps: { ...ctx.deps, queue: { ...queue, enqueueErasure: async () => {} } } }
  const refusing: Context = { ...ctx, deps: { ...ctx.deps, media: { ...media, deletePrefix } } }
  const failures = new Set<string>()
  try {
    const { id } = await request(withoutWorker)
    for (let tries = 0; !(await getErasure(ctx, id)).finishedAt; tries++) {
      if (tries === MOST_TRIES) throw new Error(`It has not ended in ${MOST_TRIES} tries`)
      await continueErasure(refusing, { organizationId: ctx.organization.id, erasureId: id }).catch((error) =>
        failures.add(String(error.message).includes('store') ? 'store' : 'stopped'),
      )
    }
    const timesOf = async (step: string) =>
      Number((await db.$queryRawUnsafe<{ n: bigint }[]>(`SELECT last_value AS n FROM work_${step}`))[0]!.n)
    const times = Object.fromEntries(await Promise.all(steps.map(async (step) => [step, await timesOf(step)] as const)))
    return { id, times, failures: [...failures].sort() }
  } finally {
    await db.$executeRawUnsafe('DROP TRIGGER stop_erasing ON erasures')
  }
}
