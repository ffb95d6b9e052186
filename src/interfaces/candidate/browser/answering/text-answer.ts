import { type Autosave, createAutosave } from '../../../../http/browser/autosave.ts'
import { createElement, setText } from '../../../../http/browser/dom.ts'
import type { BrowserTexts } from '../../../../locales/texts.ts'
import type { Player } from '../session/player.ts'
import { GRACE_MS, Refusal } from '../session/session.ts'
import type { Status } from '../session/status.ts'
import { formatSaving, openText, readRefusal, readSaved, rules, type TextKinds, toRequest, typeAfter } from './text.ts'
import { openTextDrafts, showLostText } from './text-drafts.ts'
import { formatLength, formatTooLong, isTooLong } from './text-length.ts'

/**
 * Saves a text as it is typed, and shows the status below it. Unsaved text is stored in the browser, where it survives closing the page.
 */
export function saveText({ t, session, status, state }: Player, number: number, area: HTMLTextAreaElement) {
  const line = createElement('p', { class: 'hint' })
  const length = createElement('p', { class: 'hint tabular-nums', 'data-length': true, hidden: area.hidden })
  area.parentElement!.querySelector('[data-length]')?.remove()
  area.after(createElement('div', { class: 'mt-1 flex flex-wrap justify-between gap-x-4' }, line, length))
  const drafts = openTextDrafts(session.base, number)
  const address = `/questions/${number}/text`
  const latest = () => {
    const closesAt = state.question?.closesAt
    return closesAt ? session.momentOf(closesAt) + GRACE_MS : Number.POSITIVE_INFINITY
  }
  const explain = (code: string) => {
    const obstacle = readRefusal(t, code)
    if (obstacle.isLate) showLostText({ t, status }, number, area.value, drafts)
    else if (code !== 'taken_over') status.say(obstacle.why)
    return obstacle
  }
  const initial = openText(state.question?.text ?? { text: '', revision: 0 }, drafts.read())
  const saver: Autosave<TextKinds> = createAutosave(initial, {
    ...rules,
    send: (sent) =>
      session.send('PUT', address, { json: toRequest(sent), until: latest }).then(
        (answer) => readSaved((answer as { saved: number }).saved, sent, saver.now().typed),
        (error) => ({ type: 'refused', obstacle: explain(error instanceof Refusal ? error.code : '') }),
      ),
    sendLast: (sent) => void session.send('PUT', address, { json: toRequest(sent), keepalive: true }).catch(() => {}), // it is in the drafts
    storeDraft({ typed: { text, revision, at }, obstacle }, isSaved) {
      if (!isSaved && !obstacle) drafts.write({ text, revision, ...(at !== undefined && { at }) })
      else if (isSaved && !isTooLong(text)) drafts.clear()
    },
    show: (saving, isSaved) => setText(line, formatSaving(t, saving, isSaved, session.isReachable(), drafts.isKept())),
  })
  const count = countLength(t, area, length, status)
  const change = () => {
    saver.dispatch({ type: 'typed', typed: typeAfter(saver.now().typed, area.value) })
    count()
  }
  const leave = () => saver.dispatch({ type: 'leaving' })

  // The page may be older than a text that was sent while leaving the previous page.
  if (area.value === area.defaultValue) area.value = initial.typed.text
  area.autocomplete = 'off' // otherwise browsers restore the text of an earlier page
  area.removeAttribute('maxlength') // it would cut pasted text without a message
  area.addEventListener('input', change)
  window.addEventListener('pagehide', leave)
  document.addEventListener('visibilitychange', leave)
  if (area.value !== initial.typed.text) change() // typed before this script was loaded
  if (!saver.isSaved()) void saver.save()
  count()
  saver.show()

  return {
    save: saver.save,
    show: saver.show,
    isSaved: saver.isSaved,
    failure: () => saver.now().obstacle?.why ?? (isTooLong(area.value) ? formatTooLong(t) : ''),
    /** False after the end of the question. */
    setOpen(isOpen: boolean): void {
      area.readOnly = !isOpen
    },
    close(): void {
      saver.close()
      window.removeEventListener('pagehide', leave)
      document.removeEventListener('visibilitychange', leave)
    },
  }
}

/** Shows below a text how long it is, and says aloud once it is too long. */
function countLength(t: BrowserTexts, area: HTMLTextAreaElement, length: HTMLElement, status: Status): () => void {
  let wasTooLong = false
  return () => {
    const isOverLimit = isTooLong(area.value)
    setText(length, formatLength(t, area.value))
    length.classList.toggle('mistake', isOverLimit)
    if (isOverLimit && !wasTooLong) status.say(formatLength(t, area.value))
    wasTooLong = isOverLimit
  }
}
