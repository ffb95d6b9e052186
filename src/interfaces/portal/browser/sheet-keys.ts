import { openDrafts } from '../../../http/browser/drafts.ts'
import type { setUpPlayers } from './sheet-players.ts'

const SKIPPED_SECONDS = 10

type Options = { tools: HTMLElement; players: ReturnType<typeof setUpPlayers>; say: (text: string) => void }

/** Single keys for what is done all the time. They can be switched off: who speaks to their computer would press them by accident. */
export function listenToKeys(sheet: HTMLElement, { tools, players, say }: Options): void {
  const questions = [...sheet.querySelectorAll<HTMLElement>('[data-question]')]
  const box = tools.querySelector<HTMLInputElement>('[data-keys]')!
  const kept = openDrafts<boolean>('single keys')
  box.checked = kept.read() ?? true
  box.addEventListener('change', () => kept.write(box.checked))
  let last = -1

  /** Where the grader is: in the question that has the focus, or was gone to last. */
  function current(): number {
    const focused = questions.findIndex((question) => question.contains(document.activeElement))
    return focused === -1 ? last : focused
  }

  function go(by: 1 | -1): void {
    last = Math.min(Math.max(current() + by, 0), questions.length - 1)
    const heading = questions[last]?.querySelector('h2')
    if (!heading) return
    heading.tabIndex = -1
    heading.focus()
    heading.scrollIntoView({ block: 'start' })
  }

  const here = () => questions[Math.max(current(), 0)]

  function addPoints(by: number): void {
    const form = here()?.querySelector<HTMLFormElement>('form[data-grade]')
    const field = form?.querySelector<HTMLInputElement>('[name=points]')
    if (!form || !field || field.readOnly) return
    const most = Number(form.dataset.most)
    const points = Number(field.value.replace(',', '.'))
    const next = field.value.trim() === '' ? (by > 0 ? 0 : most) : points + by
    if (Number.isNaN(next)) return
    field.value = String(Math.min(Math.max(next, 0), most))
    field.dispatchEvent(new Event('input', { bubbles: true }))
    say(`Question ${form.dataset.grade}: ${field.value} of ${most} points`)
  }

  const actions: Record<string, () => void> = {
    j: () => go(1),
    k: () => go(-1),
    p: () => players.toggle(here()),
    b: () => players.skip(here(), -SKIPPED_SECONDS),
    f: () => players.skip(here(), SKIPPED_SECONDS),
    '+': () => addPoints(0.5),
    '-': () => addPoints(-0.5),
  }

  document.addEventListener('keydown', (event) => {
    if (!box.checked || event.ctrlKey || event.altKey || event.metaKey || isTyping(event.target)) return
    const act = Object.hasOwn(actions, event.key) ? actions[event.key] : undefined
    if (!act) return
    event.preventDefault()
    act()
  })
}

const isTyping = (target: EventTarget | null): boolean =>
  target instanceof HTMLElement && (target.isContentEditable || target.matches('input:not([type=checkbox]), textarea, select'))
