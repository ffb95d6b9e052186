import { make, setNotice, setText } from '../../../http/browser/dom.ts'
import { actWhileTyping } from '../../../http/browser/typing.ts'
import { measureAgo } from './ago.ts'
import type { Player } from './player.ts'
import { GRACE_MS, Refusal } from './session.ts'
import { openTextDrafts, tellLostText, typedAtOf } from './text-drafts.ts'
import { cutText, isTooLong, WHAT_IS_SAVED, wordLength } from './text-length.ts'

/**
 * Saves a text while it is typed. What the service does not have yet is kept in the browser, also when the page is closed.
 *
 * @param line where it says so.
 */
export function saveText({ session, status, state }: Player, number: number, area: HTMLTextAreaElement, line: HTMLElement) {
  const drafts = openTextDrafts(session.base, number)
  const server = state.question?.text ?? { text: '', revision: 0 }
  const draft = drafts.read()
  let revision = Math.max(server.revision, draft?.revision ?? 0)
  let saved = server.revision
  // Of a text that is too long the service has the beginning.
  const isBeyond = draft?.revision === server.revision && draft.text.startsWith(server.text)
  const restored = draft && (draft.revision > server.revision || isBeyond) ? draft : null
  const latestText = restored?.text ?? server.text
  let typedAt = restored ? typedAtOf(restored) : performance.now()
  // The page may be older than what was sent while the one before was left.
  if (area.value === area.defaultValue) area.value = latestText
  area.autocomplete = 'off' // browsers put back what an earlier page had
  area.removeAttribute('maxlength') // it would cut what is pasted, and say nothing
  const length = make('p', { class: 'hint', hidden: true })
  area.parentElement!.querySelector('[data-length]')?.remove()
  area.after(length)
  let saving: Promise<void> | null = null
  const typing = actWhileTyping(() => void save())
  let failure = ''
  let wasTooLong = false

  const isSaved = () => saved >= revision

  function show(): void {
    if (failure) setText(line, failure)
    else if (!isSaved() && !session.isReachable())
      setText(
        line,
        drafts.isKept()
          ? 'No connection: not saved yet, but kept on this device.'
          : 'No connection: not saved yet. Keep this page open.',
      )
    else if (!isSaved()) setText(line, 'Saving…')
    else setText(line, revision === 0 ? 'Saved as you type.' : 'Saved.')
  }

  function count(): void {
    setNotice(length, wordLength(area.value))
    const is = isTooLong(area.value)
    length.classList.toggle('mistake', is)
    if (is && !wasTooLong) status.say(wordLength(area.value))
    wasTooLong = is
  }

  function change(): void {
    revision++
    typedAt = performance.now()
    failure = ''
    drafts.write({ text: area.value, revision, at: Date.now() })
    typing.changed()
    count()
    show()
  }

  /** @returns when what is there now is saved, or can't be. */
  function save(): Promise<void> {
    typing.done()
    saving ??= saveAll().finally(() => {
      saving = null
      show()
    })
    return saving
  }

  async function saveAll(): Promise<void> {
    while (!isSaved() && failure === '') {
      const sent = { text: cutText(area.value), revision, ago: measureAgo(typedAt) }
      try {
        const { saved: there } = (await session.send('PUT', `/questions/${number}/text`, { json: sent, until: latest() })) as {
          saved: number
        }
        if (there > sent.revision)
          revision = there + 1 // another page has saved a later one: this is later still
        else saved = sent.revision
      } catch (error) {
        refuse(error instanceof Refusal ? error.code : '')
      }
    }
    if (isSaved() && !isTooLong(area.value)) drafts.clear()
  }

  const latest = () =>
    state.question?.closesAt ? session.momentOf(state.question.closesAt) + GRACE_MS : Number.POSITIVE_INFINITY

  function refuse(code: string): void {
    const isLate = code === 'closed' || code === 'submitted' || code === 'unreachable'
    failure = isLate
      ? 'The time was over, or the question closed, before your last words were saved.'
      : 'Your last words could not be saved. Copy them, and load this page again.'
    if (isLate) tellLostText(status, number, area.value, drafts)
    else if (code !== 'taken_over') status.say(failure)
  }

  function saveOnLeaving(): void {
    if (isSaved() || failure) return
    const json = { text: cutText(area.value), revision, ago: measureAgo(typedAt) }
    session.send('PUT', `/questions/${number}/text`, { json, keepalive: true }).then(
      () => {
        saved = Math.max(saved, json.revision)
      },
      () => {}, // it is in the drafts
    )
  }

  area.addEventListener('input', change)
  window.addEventListener('pagehide', saveOnLeaving)
  document.addEventListener('visibilitychange', saveOnLeaving)
  if (area.value !== latestText) change() // typed before this script was there
  if (!isSaved()) void save()
  count()
  show()

  return {
    save,
    show,
    isSaved: () => isSaved(),
    failure: () => failure || (isTooLong(area.value) ? WHAT_IS_SAVED : ''),
    /** Whether more can be typed: not after the end of the question. */
    setOpen(is: boolean): void {
      area.readOnly = !is
    },
    close(): void {
      typing.done()
      window.removeEventListener('pagehide', saveOnLeaving)
      document.removeEventListener('visibilitychange', saveOnLeaving)
    },
  }
}
