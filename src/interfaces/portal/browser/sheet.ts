import { createElement, setText } from '../../../http/browser/dom.ts'
import { type SheetAnswer, saveGradeAsTyped } from './grade-form.ts'
import { listenToKeys } from './sheet-keys.ts'
import { setUpPlayers } from './sheet-players.ts'
import { localizeTimes } from './times.ts'
import { drawWaveforms } from './waveform.ts'

/** How often others are told that this grader is here: far more often than the service forgets it. */
const HERE_EVERY_MS = 45_000

/**
 * The sheet of a grader: grades are saved as they are typed, what others do is shown, and keys do what buttons do.
 *
 * @param sheet the element that has its address, and under what to keep drafts.
 */
export function openSheet(sheet: HTMLElement): void {
  const address = sheet.dataset.sheet!
  const spoken = createElement('p', { class: 'sr-only', role: 'status' })
  sheet.before(spoken)
  const say = (text: string) => setText(spoken, text)
  // Forms with a draft send it at once, so what `sending` reads comes before them.
  let underWay = 0
  let haveCrossed = false
  const forms = [...sheet.querySelectorAll<HTMLFormElement>('form[data-grade]')].map((form) =>
    saveGradeAsTyped(form, {
      key: `${sheet.dataset.drafts} ${form.dataset.grade}`,
      say,
      shown: listShown,
      answered: show,
      sending,
    }),
  )
  const tools = document.querySelector<HTMLElement>('[data-tools]')!
  const players = setUpPlayers(sheet, tools)
  drawWaveforms(sheet)
  listenToKeys(sheet, { tools, players, say })

  function show({ isReleased, parts }: SheetAnswer): void {
    for (const [name, part] of Object.entries(parts)) showPart(name, part)
    if (isReleased) for (const form of forms) form.setReleased()
  }

  /** The answers of saves that cross say what was true at different times: what is true after all of them is asked for once more. */
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
    if (!answer?.ok) return // whoever types is told
    show((await answer.json()) as SheetAnswer)
    for (const form of forms) form.tryAgain()
  }

  setInterval(stay, HERE_EVERY_MS)
  document.addEventListener('visibilitychange', stay)
  void stay()
}

/** The tags of the parts that were put in. */
const shown = new Map<string, string>()
const listShown = () => [...shown].map((part) => part.join(':')).join(' ')

/** Puts in what there is now, unless somebody is in the middle of it. What was folded out stays so. */
function showPart(name: string, { tag, text }: SheetAnswer['parts'][string]): void {
  const element = document.querySelector<HTMLElement>(`[data-part="${name}"]`)
  if (!element || shown.get(name) === tag || element.contains(document.activeElement)) return
  shown.set(name, tag)
  const wasOpen = element.querySelector('details')?.open ?? false
  element.innerHTML = text
  const details = element.querySelector('details')
  if (details) details.open = wasOpen
  localizeTimes(element)
}
