import { setText } from '../../../http/browser/dom.ts'
import { openDrafts } from '../../../http/browser/drafts.ts'
import { actWhileTyping } from '../../../http/browser/typing.ts'
import type { Player } from './player.ts'
import { Refusal } from './session.ts'

type Draft = { text: string; revision: number }

/**
 * Saves a text while it is typed. What the service does not have yet is kept in the browser, also when the page is closed.
 *
 * @param line where it says so.
 */
export function saveText({ session, status, state }: Player, number: number, area: HTMLTextAreaElement, line: HTMLElement) {
  const drafts = openDrafts<Draft>(`draft ${session.base} ${number}`)
  const server = state.question?.text ?? { text: '', revision: 0 }
  const draft = drafts.read()
  let revision = Math.max(server.revision, draft?.revision ?? 0)
  let saved = server.revision
  const latestText = draft && draft.revision > server.revision ? draft.text : server.text
  // The page may be older than what was sent while the one before was left.
  if (area.value === area.defaultValue) area.value = latestText
  area.autocomplete = 'off' // browsers put back what an earlier page had
  let saving: Promise<void> | null = null
  const typing = actWhileTyping(() => void save())
  let failure = ''

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

  function change(): void {
    revision++
    failure = ''
    drafts.write({ text: area.value, revision })
    typing.changed()
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
      const sent = { text: area.value, revision }
      try {
        const { saved: there } = (await session.send('PUT', `/questions/${number}/text`, { json: sent, until: latest() })) as {
          saved: number
        }
        if (there > sent.revision)
          revision = there + 1 // another page has saved a later one: this is later still
        else saved = sent.revision
      } catch (error) {
        refuse(error)
      }
    }
    if (isSaved()) drafts.clear()
  }

  const latest = () => (state.question?.closesAt ? session.momentOf(state.question.closesAt) : Number.POSITIVE_INFINITY)

  function refuse(error: unknown): void {
    const code = error instanceof Refusal ? error.code : ''
    failure =
      code === 'closed' || code === 'unreachable'
        ? 'The time was over, or the question closed, before your last words were saved.'
        : 'Your last words could not be saved. Copy them, and load this page again.'
    status.say(failure)
  }

  function saveOnLeaving(): void {
    if (isSaved() || failure) return
    const json = { text: area.value, revision }
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
  show()

  return {
    save,
    show,
    isSaved: () => isSaved(),
    failure: () => failure,
    close(): void {
      typing.done()
      window.removeEventListener('pagehide', saveOnLeaving)
      document.removeEventListener('visibilitychange', saveOnLeaving)
    },
  }
}
