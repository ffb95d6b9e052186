import { pino } from 'pino'
import { SWEEP_PARTS, type SweepPart } from '../../src/domain/ports/metrics.ts'
import { startQueue } from '../../src/jobs/queue.ts'
import { sweepQueueName } from '../../src/jobs/sweep.ts'
import { waitUntil } from './wait-until.ts'

/**
 * Queues parts of the sweep (default: all) for the service's workers, like the schedule. If a part is already queued or running, waits for that
 * run first.
 */
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
