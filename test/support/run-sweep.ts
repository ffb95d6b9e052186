import { pino } from 'pino'
import { SWEEP_PARTS, type SweepPart } from '../../src/domain/ports/metrics.ts'
import { startQueue } from '../../src/jobs/queue.ts'
import { sweepQueueName } from '../../src/jobs/sweep.ts'
import { waitUntil } from './wait-until.ts'

/** Runs parts of the sweep (default: all) in the service's workers, as the schedule does, each after a run in progress. */
export async function runSweep(
  { databaseUrl, startSweep }: { databaseUrl: string; startSweep?: () => Promise<void> },
  parts: readonly SweepPart[] = SWEEP_PARTS,
): Promise<void> {
  await startSweep?.()
  const boss = await startQueue(databaseUrl, pino({ level: 'silent' }), { works: false, migrates: false })
  for (const part of parts)
    await waitUntil(`${part} to be queued`, async () => (await boss.send(sweepQueueName(part), null)) ?? undefined)
  await boss.stop()
}
