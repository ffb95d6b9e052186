import type { Messages } from '../../../locales/texts.ts'

/** Scripts that only some pages load; null if this page doesn't need them. */
export type Parts = Awaited<ReturnType<typeof loadParts>>

/**
 * Loads these scripts with the page, never later, because a session must continue without a connection.
 *
 * @throws TypeError if one can't be loaded.
 */
export async function loadParts(messages: Messages, loadChecks: () => Promise<{ messages: Messages }>) {
  const hasElement = (selector: string) => document.querySelector(selector) !== null
  const isPreparing = hasElement('[data-prepare] [data-steps]')
  const [preview, preparing, checks] = await Promise.all([
    // A member's preview sends no requests.
    hasElement('[data-preview]') ? import('./preview/preview.ts') : null,
    isPreparing ? import('./preparing/prepare.ts') : null,
    isPreparing ? loadChecks() : null,
  ])
  return { preview, prepare: preparing && checks && preparing.prepareIn({ ...messages, ...checks.messages }) }
}
