import { advance, type Effect, type Happening, isSaved, type Kinds, type Rules, type Saving } from './saving.ts'
import { actWhileTyping } from './typing.ts'

type Page<K extends Kinds> = Rules<K> & {
  /** Sends with retries. Never rejects. @param missed is called after a try without an answer. @returns the event for the answer. */
  send: (sent: K['typed'], saved: K['saved'], missed: () => true) => Promise<Happening<K>>
  /** Sends once while the page unloads. */
  sendLast: (sent: K['typed'], saved: K['saved']) => void
  /** Stores unsaved input in the browser, where it survives closing the page. */
  keep: (saving: Saving<K>, isSaved: boolean) => void
  show: (saving: Saving<K>, isSaved: boolean) => void
}

export type Saver<K extends Kinds> = ReturnType<typeof saveAsTyped<K>>

/** Saves input a moment after the last key, one request at a time. */
export function saveAsTyped<K extends Kinds>(begun: Saving<K>, page: Page<K>) {
  let saving = begun
  let asking = Promise.resolve()
  const typing = actWhileTyping(() => void save())
  const show = () => page.show(saving, isSaved(saving, page))

  function happen(happening: Happening<K>): void {
    const [next, effects] = advance(saving, happening, page)
    saving = next
    page.keep(saving, isSaved(saving, page))
    for (const effect of effects) perform(effect)
    show()
  }

  function perform(effect: Effect<K>): void {
    if (effect.do === 'saveSoon') typing.changed()
    else if (effect.do === 'sendLast') page.sendLast(effect.sent, saving.saved)
    else asking = page.send(effect.sent, saving.saved, missed).then(happen)
  }

  function missed(): true {
    happen({ is: 'missed' })
    return true
  }

  /** Resolves when the current input is saved, or can't be. */
  async function save(): Promise<void> {
    typing.done()
    happen({ is: 'due' })
    while (saving.isAsking) await asking
  }

  return { happen, save, show, now: () => saving, isSaved: () => isSaved(saving, page), close: typing.done }
}
