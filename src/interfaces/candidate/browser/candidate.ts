// Script of a candidate's session: device checks, recordings, and saving of texts. One document serves the whole session, see
// pages/show-page.ts.

import type { Browser } from '../../../generated/locales/types.ts'
import { createButton, createElement } from '../../../http/browser/dom.ts'
import { type BrowserTexts, createTexts, type Messages } from '../../../locales/texts.ts'
import { sendUnsentTexts } from './answering/text-drafts.ts'
import { useDevices } from './devices/devices.ts'
import { loadParts, type Parts } from './load-parts.ts'
import { followPages, type Pages } from './pages/follow-pages.ts'
import { clearNotSent, sendForms } from './pages/send-forms.ts'
import { showForm } from './pages/show-page.ts'
import { syncWithService } from './pages/sync-with-service.ts'
import { watchSession } from './proctoring/proctoring.ts'
import { createNotes } from './session/notes.ts'
import { type Outbox, openOutbox } from './session/outbox.ts'
import { openPartDatabase } from './session/part-database.ts'
import { openPartStore, type PartStore } from './session/part-store.ts'
import { newId, openSession, type Question, Refusal, type Session } from './session/session.ts'
import { showStatus } from './session/status.ts'
import { isStopped, reportUnsentStops } from './session/stops.ts'

/** @param messages texts in the page's language. @param loadChecks loads the texts of the checks before the start. */
export async function begin(messages: Messages, loadChecks: () => Promise<{ messages: Messages }>): Promise<void> {
  const sessionElement = document.querySelector<HTMLElement>('[data-session]')
  if (!sessionElement) return
  const t = createTexts<Browser<string>>(document.documentElement.lang, messages)
  // The session can't run without these scripts. Nothing has been entered yet, so a reload loses nothing.
  const parts = await loadParts(messages, loadChecks).catch(() => showInstead(t, 'missing'))
  if (parts) await runSession(t, sessionElement.dataset.session!, parts).catch(showFailure)
}

async function runSession(t: BrowserTexts, base: string, { preview, prepare }: Parts): Promise<void> {
  const status = showStatus(t)
  const devices = useDevices()
  const session = preview
    ? preview.openPreview(base, newId)
    : openSession(base, { takenOver: () => void giveUp(), reachable: (isReachable) => reachable(isReachable) })
  const database = await openPartDatabase(base, () => store.refuse()).catch(() => null)
  const store: PartStore = openPartStore(database, () => status.uploads(outbox))
  const outbox: Outbox = openOutbox(session, store, () => status.uploads(outbox))
  const notes = createNotes(session)
  const proctoring = watchSession({ t, session, outbox, devices, notes, status }, clearNotSent)
  const connection = new EventTarget()
  let pages: Pages | null = null

  await session.claim()
  const state = await session.read()
  const interrupted = findInterrupted(session, state.question)
  await outbox.resume(state.uploads, interrupted, state.question?.closesAt ?? state.deadlineAt, state.deadlineAt)
  pages = followPages({ t, session, outbox, devices, notes, status, state }, proctoring, prepare)
  const { player, control } = pages
  void sendUnsentTexts(player)
  reportUnsentStops(session)
  sendForms(pages, proctoring, connection)
  syncWithService(player)
  preview?.followEditor(pages, showForm)
  window.addEventListener('beforeunload', (event) => {
    if (!session.isTakenOver() && !preview && (!outbox.isEmpty() || control().hasUnsaved?.())) event.preventDefault()
  })

  function reachable(isReachable: boolean): void {
    status.connection(isReachable, outbox)
    notes.note(isReachable ? 'online' : 'offline')
    pages?.control().connectionChanged?.()
    if (!isReachable) return
    connection.dispatchEvent(new Event('back'))
    void notes.send()
  }

  async function giveUp(): Promise<void> {
    pages?.leave()
    await proctoring.end()
    status.remove()
    showInstead(t, 'taken_over')
  }
}

/** The open question's recording that can be continued. Not one that the candidate has stopped, even if the service does not know that yet. */
function findInterrupted(session: Session, question: Question | null): string | null {
  if (!question?.interrupted || isStopped(session, question.interrupted.mediaId)) return null
  return question.interrupted.mediaId
}

/** Replaces the page by a message with a button to reload. */
function showInstead(t: BrowserTexts, messageKey: 'taken_over' | 'missing'): void {
  const heading = createElement('h1', { tabindex: '-1' }, t.text(`${messageKey}.heading`))
  const text = createElement('p', {}, t.text(`${messageKey}.text`))
  const reloadButton = createButton(t.text(`${messageKey}.here`), () => location.reload(), 'btn btn-primary mt-6')
  document
    .querySelector('main')!
    .replaceChildren(createElement('div', { class: 'mx-auto max-w-2xl px-4 py-14' }, heading, text, reloadButton))
  heading.focus()
}

/** Reports an error of the start. The page then works as it does without scripts. */
function showFailure(error: unknown): void {
  if (error instanceof Refusal && error.code === 'taken_over') return
  throw error
}
