import type { Api } from './generated/sdk.gen.js'
import type { EventPage, ListEventsData } from './generated/types.gen.js'
import { pause } from './retry.js'

type Page = { pagination: { totalPages: number } }
type Item<P> = Extract<P[keyof P], readonly unknown[]>[number]

/**
 * Every item of a list, page by page: `everyItem((page) => api.listInvites({ query: { page, limit: 100 } }))`. A list that changes while it
 * is read may show an item twice, and pass over one that has moved; the feed of events tells what has changed.
 */
export async function* everyItem<P extends Page>(readPage: (page: number) => Promise<{ data: P }>): AsyncGenerator<Item<P>> {
  for (let page = 1, pages = 1; page <= pages; page++) {
    const { data } = await readPage(page)
    pages = data.pagination.totalPages
    for (const field of Object.values(data)) if (Array.isArray(field)) yield* field as Item<P>[]
  }
}

/**
 * What to follow.
 *
 * @property cursor where to go on: that of the page that was worked on last, or the header `Events-Cursor` of a list's first page. Without
 *   one the oldest events that are kept come first.
 * @property seconds between two looks while nothing happens, 5 unless given.
 * @property until `end` stops at the end of the feed, for scheduled jobs. Without it, following never stops.
 * @property signal ends it.
 */
export type Following = Omit<NonNullable<ListEventsData['query']>, 'cursor'> & {
  cursor?: string | undefined
  seconds?: number
  until?: 'end'
  signal?: AbortSignal
}

/**
 * What happens, page by page: each event once and in order. Keep the cursor of a page together with what you have made
 * of its events: from there you go on. An {@link ApiError} with the code `cursor_gone` says that what is behind the cursor is no longer
 * kept: list everything again.
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
