import { createDraftStore } from '../../../http/browser/draft-store.ts'
import { createPointKeys } from './point-keys.ts'
import type { setUpPlayers } from './sheet-players.ts'
import { walkQuestions } from './sheet-questions.ts'

const SKIPPED_SECONDS = 10
type Options = { tools: HTMLElement; players: ReturnType<typeof setUpPlayers>; say: (text: string) => void }

/** Single-key shortcuts. They can be switched off, because speech input would trigger them by accident. */
export function listenToKeys(sheet: HTMLElement, { tools, players, say }: Options): void {
  const { here, go, mark } = walkQuestions(sheet)
  const box = tools.querySelector<HTMLInputElement>('[data-keys]')!
  const kept = createDraftStore<boolean>('single keys')
  box.checked = kept.read() ?? true
  box.addEventListener('change', () => kept.write(box.checked))
  const points = createPointKeys({ sheet, tools, here, say })
  const walk = (by: 1 | -1) => {
    points.leave()
    go(by)
  }

  const actions: Record<string, () => void> = {
    j: () => walk(1),
    k: () => walk(-1),
    e: points.openGraded,
    z: points.takeBack,
    Z: points.takeBack,
    p: () => players.toggle(here()),
    b: () => players.skip(here(), -SKIPPED_SECONDS),
    f: () => players.skip(here(), SKIPPED_SECONDS),
    '+': () => points.add(0.5),
    '-': () => points.add(-0.5),
    c: () => here()?.querySelector<HTMLTextAreaElement>('[name=comment]')?.focus(),
    n: () => document.querySelector<HTMLElement>('[data-go=next]')?.click(),
    N: () => document.querySelector<HTMLElement>('[data-go=previous]')?.click(),
  }

  sheet.addEventListener('focusin', mark)
  document.addEventListener('keydown', (event) => {
    if (!box.checked || event.ctrlKey || event.altKey || event.metaKey) return
    if (isTyping(event.target)) return event.key === 'Escape' ? focusQuestion(event.target) : undefined
    if (/^\d$/.test(event.key)) return points.typeDigit(Number(event.key), event.timeStamp)
    points.endNumber()
    const act = Object.hasOwn(actions, event.key) ? actions[event.key] : undefined
    if (!act) return
    event.preventDefault()
    act()
  })
}

/** Moves the focus from a field to its question, where the shortcuts work. */
function focusQuestion(field: EventTarget | null): void {
  const heading = (field as HTMLElement).closest('[data-question]')?.querySelector('h2')
  if (!heading) return
  heading.tabIndex = -1
  heading.focus({ preventScroll: true })
}

const isTyping = (target: EventTarget | null): boolean =>
  target instanceof HTMLElement && (target.isContentEditable || target.matches('input:not([type=checkbox]), textarea, select'))
