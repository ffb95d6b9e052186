import {
  isSaved,
  type SaveEffect,
  type SaveEvent,
  type SaveRules,
  type SaveState,
  type SaveTypes,
  transition,
} from './save-state.ts'

type Page<K extends SaveTypes> = SaveRules<K> & {
  /** Sends with retries. Never rejects. @param missed is called after a try without an answer. @returns the event for the answer. */
  send: (sent: K['typed'], saved: K['saved'], missed: () => true) => Promise<SaveEvent<K>>
  /** Sends once while the page unloads. */
  sendLast: (sent: K['typed'], saved: K['saved']) => void
  /** Stores unsaved input in the browser, where it survives closing the page. */
  storeDraft: (saving: SaveState<K>, isSaved: boolean) => void
  show: (saving: SaveState<K>, isSaved: boolean) => void
}

export type Autosave<K extends SaveTypes> = ReturnType<typeof createAutosave<K>>

/** Saves input a moment after the last key, one request at a time. */
export function createAutosave<K extends SaveTypes>(initial: SaveState<K>, page: Page<K>) {
  let saving = initial
  let asking = Promise.resolve()
  const typing = debounceTyping(() => void save())
  const show = () => page.show(saving, isSaved(saving, page))

  function dispatch(event: SaveEvent<K>): void {
    const [next, effects] = transition(saving, event, page)
    saving = next
    page.storeDraft(saving, isSaved(saving, page))
    for (const effect of effects) perform(effect)
    show()
  }

  function perform(effect: SaveEffect<K>): void {
    if (effect.type === 'saveSoon') typing.schedule()
    else if (effect.type === 'sendLast') page.sendLast(effect.sent, saving.saved)
    else asking = page.send(effect.sent, saving.saved, missed).then(dispatch)
  }

  function missed(): true {
    dispatch({ type: 'missed' })
    return true
  }

  /** Resolves when the current input is saved, or can't be. */
  async function save(): Promise<void> {
    typing.cancel()
    dispatch({ type: 'due' })
    while (saving.isSending) await asking
  }

  return { dispatch, save, show, now: () => saving, isSaved: () => isSaved(saving, page), close: typing.cancel }
}

const DELAY_MS = 1_000
const MAX_DELAY_MS = 5_000

/** Calls `act` a second after the last key, and every five seconds during continuous typing. */
function debounceTyping(act: () => void) {
  let timer: ReturnType<typeof setTimeout> | undefined
  let changedAt = 0
  return {
    schedule(): void {
      if (changedAt === 0) changedAt = performance.now()
      clearTimeout(timer)
      timer = setTimeout(act, Math.min(DELAY_MS, Math.max(0, changedAt + MAX_DELAY_MS - performance.now())))
    },
    cancel(): void {
      clearTimeout(timer)
      changedAt = 0
    },
  }
}
