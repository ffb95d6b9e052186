import { openDrafts } from '../../../http/browser/drafts.ts'
import type { setUpPlayers } from './sheet-players.ts'
import { walkQuestions } from './sheet-questions.ts'
import { type TypedPoints, typePoints } from './type-points.ts'

const SKIPPED_SECONDS = 10
type Options = { tools: HTMLElement; players: ReturnType<typeof setUpPlayers>; say: (text: string) => void }

/** Single keys for what is done all the time. They can be switched off: who speaks to their computer would press them by accident. */
export function listenToKeys(sheet: HTMLElement, { tools, players, say }: Options): void {
  const { here, go, mark } = walkQuestions(sheet)
  const box = tools.querySelector<HTMLInputElement>('[data-keys]')!
  const kept = openDrafts<boolean>('single keys')
  box.checked = kept.read() ?? true
  box.addEventListener('change', () => kept.write(box.checked))
  let typed: TypedPoints = null

  /** The points of the question that one is at. @returns null where it gives none, or is released. */
  function findPoints() {
    const form = here()?.querySelector<HTMLFormElement>('form[data-grade]')
    const field = form?.querySelector<HTMLInputElement>('[name=points]')
    if (!form || !field || field.readOnly) return null
    const [question, most] = [Number(form.dataset.grade), Number(form.dataset.most)]
    const set = (points: number) => {
      field.value = String(points)
      field.dispatchEvent(new Event('input', { bubbles: true }))
      say(`Question ${question}: ${points} of ${most} points`)
    }
    return { question, most, typed: field.value.trim().replace(',', '.'), set }
  }

  function addPoints(by: number): void {
    const found = findPoints()
    if (!found) return
    const { most, set } = found
    const next = found.typed === '' ? (by > 0 ? 0 : most) : Number(found.typed) + by
    if (!Number.isNaN(next)) set(Math.min(Math.max(next, 0), most))
  }

  function typeDigit(digit: number, at: number): void {
    const found = findPoints()
    if (!found) return
    typed = typePoints(typed, { ...found, digit, at })
    if (typed) found.set(typed.points)
    else say(`Question ${found.question} has at most ${found.most} points`)
  }

  const actions: Record<string, () => void> = {
    j: () => go(1),
    k: () => go(-1),
    p: () => players.toggle(here()),
    b: () => players.skip(here(), -SKIPPED_SECONDS),
    f: () => players.skip(here(), SKIPPED_SECONDS),
    '+': () => addPoints(0.5),
    '-': () => addPoints(-0.5),
    c: () => here()?.querySelector<HTMLTextAreaElement>('[name=comment]')?.focus(),
    n: () => document.querySelector<HTMLElement>('[data-go=next]')?.click(),
    N: () => document.querySelector<HTMLElement>('[data-go=previous]')?.click(),
  }

  sheet.addEventListener('focusin', mark)
  document.addEventListener('keydown', (event) => {
    if (!box.checked || event.ctrlKey || event.altKey || event.metaKey) return
    if (isTyping(event.target)) return event.key === 'Escape' ? leave(event.target) : undefined
    if (/^\d$/.test(event.key)) return typeDigit(Number(event.key), event.timeStamp)
    typed = null
    const act = Object.hasOwn(actions, event.key) ? actions[event.key] : undefined
    if (!act) return
    event.preventDefault()
    act()
  })
}

/** Where the focus was, the keys work on: the question that the field is of is the one that one is at. */
function leave(field: EventTarget | null): void {
  const heading = (field as HTMLElement).closest('[data-question]')?.querySelector('h2')
  if (!heading) return
  heading.tabIndex = -1
  heading.focus({ preventScroll: true })
}

const isTyping = (target: EventTarget | null): boolean =>
  target instanceof HTMLElement && (target.isContentEditable || target.matches('input:not([type=checkbox]), textarea, select'))
