// State of a text answer while typing: the initial text, saving, and the status line.

import { initialState, type SaveEvent, type SaveState, type SaveTypes } from '../../../../http/browser/save-state.ts'
import type { BrowserTexts } from '../../../../locales/texts.ts'
import { measureAgo, toMonotonicTime } from '../session/ago.ts'
import { cutText } from './text-length.ts'

/** Draft stored in the browser. @property at time of typing by the device's clock; missing if nothing was typed. */
export type Draft = { text: string; revision: number; at?: number }
/** @property revision rises with each change. */
type TypedText = Draft & { ago: ReturnType<typeof measureAgo> }
export type TextKinds = {
  typed: TypedText
  saved: { revision: number }
  obstacle: SaveTypes['obstacle'] & { why: string; isLate: boolean }
}

export const rules = {
  isSame: (typed: TypedText, saved: { revision: number }): boolean => typed.revision <= saved.revision,
  isNumbered: true,
}

/** @param draft text that an earlier page kept; newer than the service's, which may be its truncated beginning. */
export function openText(server: { text: string; revision: number }, draft: Draft | null): SaveState<TextKinds> {
  const isBeyond = draft?.revision === server.revision && draft.text.startsWith(server.text)
  const restored = draft && (draft.revision > server.revision || isBeyond) ? readDraft(draft) : null
  return initialState<TextKinds>(restored ?? { ...server, ago: measureAgo(performance.now()) }, { revision: server.revision })
}

/** Keeps the draft's time, because the newer one of text and recording becomes the answer. */
export const readDraft = (draft: Draft): TypedText => ({ ...draft, ago: measureAgo(toMonotonicTime(draft.at ?? Date.now())) })

export const typeAfter = ({ revision }: TypedText, text: string): TypedText => ({
  text,
  revision: revision + 1,
  at: Date.now(),
  ago: measureAgo(performance.now()),
})

export const toRequest = ({ text, revision, ago }: TypedText) => ({ text: cutText(text), revision, ago })

/** @param savedRevision revision stored by the service. @param typed current text. */
export const readSaved = (savedRevision: number, sent: TypedText, typed: TypedText): SaveEvent<TextKinds> => ({
  type: 'saved',
  saved: { revision: savedRevision },
  // Another page has saved a later revision. The text of this page becomes the next one.
  ...(savedRevision > sent.revision && { typed: { ...typed, revision: savedRevision + 1 } }),
})

/** @param code error code of the service, or `unreachable` or `taken_over`. */
export function readRefusal(t: BrowserTexts, code: string): TextKinds['obstacle'] {
  const isLate = ['closed', 'submitted', 'unreachable'].includes(code)
  return { until: 'typed', why: t.text(isLate ? 'text.late' : 'text.unsaved'), isLate }
}

/** @param isKept true if the browser stores unsaved texts. */
export function formatSaving(
  t: BrowserTexts,
  { typed, obstacle }: SaveState<TextKinds>,
  isSaved: boolean,
  isReachable: boolean,
  isKept: boolean,
): string {
  if (obstacle) return obstacle.why
  if (isSaved) return t.text(typed.revision === 0 ? 'text.typing' : 'text.saved')
  if (isReachable) return t.text('text.saving')
  return t.text(isKept ? 'text.offline.kept' : 'text.offline')
}
