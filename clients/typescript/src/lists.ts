import type { Api } from './generated/sdk.gen.js'
import type { EventPage, ListEventsData } from './generated/types.gen.js'
import { pause } from './retry.js'

type Page = { pagination: { totalPages: number } }
type Item<P> = Extract<P[keyof P], readonly unknown[]>[number]

/**
 * Iterates over all items of a list: `everyItem((page) => api.listInvites({ query: { page, limit: 100 } }))`. If the list changes meanwhile,
 * an item can come twice or be missed. Follow the events to learn of changes.
 */
export async function* everyItem<P extends Page>(readPage: (page: number) => Promise<{ data: P }>): AsyncGenerator<Item<P>> {
  for (let page = 1, pages = 1; page <= pages; page++) {
    const { data } = await readPage(page)
    pages = data.pagination.totalPages
    for (const field of Object.values(data)) if (Array.isArray(field)) yield* field as Item<P>[]
  }
}

/**
 * Options of {@link followEvents}.
 *
 * @property cursor cursor of the last processed page, or the header `Events-Cursor` of a list's first page. Default: the oldest stored event.
 * @property seconds between two requests while there are no new events. Default: 5.
 * @property until `end` stops at the end of the feed, for scheduled jobs. Default: never.
 * @property signal stops the iteration.
 */
export type Following = Omit<NonNullable<ListEventsData['query']>, 'cursor'> & {
  cursor?: string | undefined
  seconds?: number
  until?: 'end'
  signal?: AbortSignal
}

/**
 * Iterates over pages of events: each event once, in order. Store the cursor of each page together with your changes from its events, and
 * continue from there after a restart. An {@link ApiError} with the code `cursor_gone` means that later events are no longer stored: list
 * everything again.
 */
export async function* followEvents(
  api: Api,
  { cursor, seconds = 5, until, signal, ...query }: Following = {},
): AsyncGenerator<EventPage> {
  for (;;) {
    const { data } = await api.listEvents({
      query: { ...query, ...(cursor !== undefined && { cursor }) },
      ...(signal && { signal }),
    })
    if (data.cursor !== cursor) yield data
    cursor = data.cursor
    if (!data.hasMore && until === 'end') return
    if (!data.hasMore) await pause(seconds * 1_000, signal)
  }
}
