import { measureSequenceLag } from '../../src/domain/events/sequence-events.ts'
import type { Service } from './service.ts'
import { waitUntil } from './wait-until.ts'

/** An event as the feed shows it. */
export type FeedItem = {
  id: string
  type: string
  position: number
  createdAt: string
  actor: { type: string; id: string | null }
  data: { inviteId: string; assessmentId: string; status: string } & Record<string, string>
}

/** Waits until all committed events are in the feed. */
export const waitForNumbering = ({ system }: Pick<Service, 'system'>): Promise<true> =>
  waitUntil('the sequencing of events', async () => (await measureSequenceLag(system)).oldest === null || undefined)

/** Reads the feed from the cursor, or from its beginning, to its current end. */
export async function readFeed(service: Service, key: string, query: Record<string, string> = {}) {
  await waitForNumbering(service)
  const events: FeedItem[] = []
  for (let { cursor } = query; ; ) {
    const parameters = new URLSearchParams({ ...query, ...(cursor !== undefined && { cursor }) })
    const { status, body, text } = await service.v1(key).get(`/events?${parameters}`)
    if (status !== 200) throw new Error(text)
    events.push(...body.events)
    cursor = body.cursor as string
    if (!body.hasMore) return { events, cursor }
  }
}
