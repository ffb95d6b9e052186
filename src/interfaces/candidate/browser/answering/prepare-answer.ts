import { setText, wait } from '../../../../http/browser/dom.ts'
import type { PageControl, Player } from '../session/player.ts'
import type { SessionState } from '../session/session.ts'
import { countDown } from './countdown.ts'

/** Without an answer of the service for so long, the page's own clock decides: the candidate can write, and it is saved later. */
const ASK_MS = 2_000

/**
 * The preparation time of a question: counted down until answering begins, or until the candidate presses "Answer now".
 *
 * @param begin called once the answer can be given, and is shown.
 */
export function prepareAnswer(player: Player, section: HTMLElement, begin: () => void): PageControl {
  const { t, session, state, status } = player
  const number = Number(section.dataset.number)
  const panel = section.querySelector<HTMLElement>('[data-preparation]')!
  const clock = document.querySelector<HTMLElement>('[data-clock=preparation]')!
  const whole = document.querySelector<HTMLElement>('[data-clock=whole]')
  const digits = panel.querySelector<HTMLElement>('[data-left]')!
  let isClosed = false
  const counted = { say: status.say, soon: () => {} }
  const stopWhole = whole ? countWhole(whole) : () => {}
  let stopClock = countPreparation()

  function countWhole(element: HTMLElement): () => void {
    element.setAttribute('role', 'timer')
    return countDown(t, element, 'clock.whole', () => momentOf('closesAt'), { ...counted, over: () => void player.refresh() })
  }

  function countPreparation(): () => void {
    clock.setAttribute('role', 'timer')
    const on = { ...counted, show: (left: string) => setText(digits, left), over: () => void endByClock() }
    return countDown(t, clock, 'clock.preparation', () => momentOf('answersAt'), on)
  }

  /** Without an end, what the page shows is over already: the service says what stands. */
  function momentOf(end: 'answersAt' | 'closesAt'): number {
    const time = state.question?.[end]
    return time ? session.momentOf(time) : 0
  }

  /** The service's clock decides: this page has only counted along. */
  async function endByClock(): Promise<void> {
    await follow((await Promise.race([session.read().catch(() => null), wait(ASK_MS)])) ?? null)
  }

  /** @param read null: the service does not answer. */
  async function follow(read: SessionState | null): Promise<void> {
    if (isClosed) return
    if (read && read.question?.number !== number) return player.refresh()
    if (read) Object.assign(state, read)
    stopClock()
    if (read?.question?.answersAt) stopClock = countPreparation()
    else showAnswer()
  }

  function showAnswer(): void {
    const hadFocus = panel.contains(document.activeElement)
    const answering = section.querySelector<HTMLElement>('[data-answering]')!
    panel.remove()
    clock.remove()
    document.querySelector<HTMLElement>('[data-clock]')?.removeAttribute('hidden')
    answering.hidden = false
    begin()
    status.say(t.text('answer.begins'))
    if (hadFocus)
      answering
        .querySelector<HTMLElement>('textarea:not([hidden]), input:not([type=hidden]), select, button:not([hidden])')
        ?.focus()
  }

  /** @returns false: the form need not be sent. */
  async function answerNow(): Promise<boolean> {
    try {
      await session.post(`/questions/${number}/answering`)
      await follow(await session.read())
      return false
    } catch (error) {
      if (session.isTakenOver()) throw error
      return true // the page that answers the form shows what stands
    }
  }

  return {
    beforeSending: async (form) => !form.action.endsWith('/begin') || answerNow(),
    close() {
      isClosed = true
      stopClock()
      stopWhole()
    },
  }
}
