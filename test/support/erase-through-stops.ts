import type { Context } from '../../src/domain/context.ts'
import { continueErasure } from '../../src/domain/erasure/continue-erasure.ts'
import { type ErasureStep, getErasure } from '../../src/domain/erasure/erasures.ts'
import { scaled } from './scale.ts'
import type { Service } from './service.ts'

/** Number of stops per step. */
export const STOPS = scaled(2, 20)
/** Maximum number of attempts, more than any erasure in these tests takes. */
const MOST_TRIES = 500

/**
 * Runs an erasure to its end despite interruptions: each step's transaction is rolled back {@link STOPS} times before its commit, each step's
 * first write fails once, and the media store fails {@link STOPS} times.
 *
 * @param request requests the erasure.
 * @returns the number of times that each step did its work, and the kinds of failures, sorted.
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
  // Only this function continues the erasure. With a worker, the steps of the two could not be told apart.
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
