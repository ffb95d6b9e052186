import { createDraftStore } from '../../../http/browser/draft-store.ts'
import type { setUpNotes } from './notes.ts'
import { createPointKeys } from './point-keys.ts'
import { createRubricKeys } from './rubric-keys.ts'
import type { setUpPlayers } from './sheet-players.ts'
import { walkQuestions } from './sheet-questions.ts'

const SKIPPED_SECONDS = 10
type Options = {
  tools: HTMLElement
  players: ReturnType<typeof setUpPlayers>
  notes: ReturnType<typeof setUpNotes>
  say: (text: string) => void
}

/** Single-key shortcuts. They can be switched off, because speech input would trigger them by accident. */
export function listenToKeys(sheet: HTMLElement, { tools, players, notes, say }: Options): void {
  const { currentQuestion, go, mark } = walkQuestions(sheet)
  const box = tools.querySelector<HTMLInputElement>('[data-keys]')!
  const storedSwitch = createDraftStore<boolean>('single keys')
  box.checked = storedSwitch.read() ?? true
  box.addEventListener('change', () => storedSwitch.write(box.checked))
  const points = createPointKeys({ sheet, tools, currentQuestion, say })
  const rubric = createRubricKeys({ currentQuestion, say })
  const walk = (step: 1 | -1) => {
    points.leave()
    // One question: its criteria are walked instead.
    if (!(sheet.dataset.next && rubric.walk(step))) go(step)
  }

  const takeBack = () => {
    if (!rubric.undo()) points.takeBack()
  }

  const pressDigit = (digit: number, at: number) => {
    if (!rubric.pick(digit)) points.typeDigit(digit, at)
  }

  const actions: Record<string, () => void> = {
    j: () => walk(1),
    k: () => walk(-1),
    e: points.openGraded,
    z: takeBack,
    Z: takeBack,
    Backspace: () => rubric.walk(-1),
    p: () => players.toggle(currentQuestion()),
    b: () => players.skip(currentQuestion(), -SKIPPED_SECONDS),
    f: () => players.skip(currentQuestion(), SKIPPED_SECONDS),
    '<': () => say(players.changeSpeed(-1)),
    '>': () => say(players.changeSpeed(1)),
    s: () => say(players.toggleSilence()),
    '?': () => showShortcuts(tools),
    '+': () => points.add(0.5),
    '-': () => points.add(-0.5),
    m: () => notes.begin(currentQuestion()),
    M: () => notes.end(currentQuestion()),
    c: () => currentQuestion()?.querySelector<HTMLTextAreaElement>('[name=comment]')?.focus(),
    n: () => document.querySelector<HTMLElement>('[data-go=next]')?.click(),
    N: () => document.querySelector<HTMLElement>('[data-go=previous]')?.click(),
  }

  if (sheet.dataset.next) rubric.showCurrent()
  sheet.addEventListener('focusin', mark)
  document.addEventListener('keydown', (event) => {
    if (!box.checked || event.ctrlKey || event.altKey || event.metaKey) return
    if (isTyping(event.target)) return event.key === 'Escape' ? focusQuestion(event.target) : undefined
    if (/^\d$/.test(event.key)) return pressDigit(Number(event.key), event.timeStamp)
    points.endNumber()
    const act = Object.hasOwn(actions, event.key) ? actions[event.key] : undefined
    if (!act) return
    event.preventDefault()
    act()
  })
}

/** A floating list: the focus stays where it is. */
function showShortcuts(tools: HTMLElement): void {
  const shortcuts = tools.querySelector<HTMLDetailsElement>('[data-shortcuts]')!
  shortcuts.open = !shortcuts.open
}

/** Moves the focus from a field to its question, where the shortcuts work. */
function focusQuestion(field: EventTarget | null): void {
  const heading = (field as HTMLElement).closest('[data-question]')?.querySelector('h2')
  if (!heading) return
  heading.tabIndex = -1
  heading.focus({ preventScroll: true })
}

const isTyping = (target: EventTarget | null): boolean =>
  target instanceof HTMLElement &&
  (target.isContentEditable || target.matches('input:not([type=checkbox], [type=radio]), textarea, select'))
