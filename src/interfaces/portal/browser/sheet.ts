import { createElement, setText } from '../../../http/browser/dom.ts'
import { type GradingViewResponse, saveGradeAsTyped } from './grade-form.ts'
import { setUpNotes } from './notes.ts'
import { setUpSaveAndNext } from './save-next.ts'
import { listenToKeys } from './sheet-keys.ts'
import { setUpPlayers } from './sheet-players.ts'
import { localizeTimes } from './times.ts'
import { placeNotes } from './transcripts.ts'
import { drawWaveforms } from './waveform.ts'

/** Interval at which the page reports this grader's presence, far below the time after which the service forgets it. */
const HERE_EVERY_MS = 45_000

/**
 * Grading view: saves grades as they are typed, shows what others do, and adds keyboard shortcuts.
 *
 * @param sheet element with the address of the grading view and the storage key of drafts.
 */
export function openGradingView(sheet: HTMLElement): void {
  const address = sheet.dataset.sheet!
  const spoken = createElement('p', { class: 'sr-only', role: 'status' })
  sheet.before(spoken)
  const say = (text: string) => setText(spoken, text)
  // Forms with a draft send it immediately, so the variables that `sending` reads are declared first.
  let underWay = 0
  let haveCrossed = false
  const forms = [...sheet.querySelectorAll<HTMLFormElement>('form[data-grade]')].map((form) =>
    saveGradeAsTyped(form, {
      key: `${sheet.dataset.drafts} ${form.dataset.grade}`,
      say,
      listShown,
      onAnswer: show,
      sending,
    }),
  )
  const tools = document.querySelector<HTMLElement>('[data-tools]')!
  const players = setUpPlayers(sheet, tools)
  drawWaveforms(sheet)
  const notes = setUpNotes(sheet, { address, listShown, onAnswer: show, say })
  listenToKeys(sheet, { tools, players, notes, say })
  const [form] = forms
  if (form && sheet.dataset.next) setUpSaveAndNext(sheet, { form, next: sheet.dataset.next, say })

  function show({ isReleased, parts }: GradingViewResponse): void {
    for (const [name, part] of Object.entries(parts)) showPart(name, part)
    placeNotes(sheet)
    if (isReleased) for (const form of forms) form.setReleased()
  }

  /** Responses of overlapping saves may be outdated, so the state is requested again after the last of them. */
  function sending(): () => void {
    haveCrossed ||= ++underWay > 1
    return () => {
      if (--underWay > 0 || !haveCrossed) return
      haveCrossed = false
      void stay()
    }
  }

  async function stay(): Promise<void> {
    if (document.hidden) return
    const body = new URLSearchParams({ shown: listShown() })
    const answer = await fetch(`${address}/viewers${location.search}`, { method: 'POST', body, redirect: 'manual' }).catch(
      () => null,
    )
    if (!answer?.ok) return // the field shows the error
    show((await answer.json()) as GradingViewResponse)
    for (const form of forms) form.tryAgain()
  }

  setInterval(stay, HERE_EVERY_MS)
  document.addEventListener('visibilitychange', stay)
  void stay()
}

/** Tags of the parts that were inserted. */
const shownParts = new Map<string, string>()
const listShown = () => [...shownParts].map((part) => part.join(':')).join(' ')

/** Replaces a part unless it has the focus. Unfolded details stay unfolded. */
function showPart(name: string, { tag, text }: GradingViewResponse['parts'][string]): void {
  const element = document.querySelector<HTMLElement>(`[data-part="${name}"]`)
  if (!element || shownParts.get(name) === tag || element.contains(document.activeElement)) return
  shownParts.set(name, tag)
  const wasOpen = element.querySelector('details')?.open ?? false
  element.innerHTML = text
  const details = element.querySelector('details')
  if (details) details.open = wasOpen
  localizeTimes(element)
}
