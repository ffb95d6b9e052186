import { pino } from 'pino'
import { SWEEP_PARTS, type SweepPart } from '../../src/domain/context.ts'
import { startQueue } from '../../src/jobs/queue.ts'
import { sweepQueueName } from '../../src/jobs/sweep.ts'
import { waitUntil } from './wait-until.ts'

/** Has the service's workers run parts of the sweep, all of them unless told, each after a run that is under way: as a schedule does, without data. */
export async function runSweep(
  { databaseUrl }: { databaseUrl: string },
  parts: readonly SweepPart[] = SWEEP_PARTS,
): Promise<void> {
  const boss = await startQueue(databaseUrl, pino({ level: 'silent' }), { works: false })
  for (const part of parts)
    await waitUntil(`${part} to be queued`, async () => (await boss.send(sweepQueueName(part), null)) ?? undefined)
  await boss.stop()
}
