import { advance, type Effect, type Happening, isSaved, type Kinds, type Rules, type Saving } from './saving.ts'
import { actWhileTyping } from './typing.ts'

type Page<K extends Kinds> = Rules<K> & {
  /** Asks until it is answered. @param missed is told of tries without an answer. @returns what the answer says; it never rejects. */
  send: (sent: K['typed'], saved: K['saved'], missed: () => true) => Promise<Happening<K>>
  /** Sends it once, though the page is being left. */
  sendLast: (sent: K['typed'], saved: K['saved']) => void
  /** Keeps in the browser what is not saved, also when the page is closed. */
  keep: (saving: Saving<K>, isSaved: boolean) => void
  show: (saving: Saving<K>, isSaved: boolean) => void
}

export type Saver<K extends Kinds> = ReturnType<typeof saveAsTyped<K>>

/** Saves what is typed, a moment after the last key, one request at a time. */
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

  /** @returns when what is there now is saved, or can't be. */
  async function save(): Promise<void> {
    typing.done()
    happen({ is: 'due' })
    while (saving.isAsking) await asking
  }

  return { happen, save, show, now: () => saving, isSaved: () => isSaved(saving, page), close: typing.done }
}
