/** What only some pages need, and only they load; null: it is not needed. */
export type Parts = Awaited<ReturnType<typeof loadParts>>

/**
 * Loads them with the page, never later: without a connection a session goes on, and what it needs has to be there.
 *
 * @throws TypeError where one does not come.
 */
export async function loadParts() {
  const has = (selector: string) => document.querySelector(selector) !== null
  const [preview, preparing] = await Promise.all([
    // Of a member's preview: nothing is asked of the service then.
    has('[data-preview]') ? import('./preview/preview.ts') : null,
    has('[data-prepare] [data-steps]') ? import('./preparing/prepare.ts') : null,
  ])
  return { preview, prepare: preparing?.prepare ?? null }
}
