import { sleep } from '../../../../http/browser/dom.ts'
import type { PageControl, Player } from '../session/player.ts'
import type { SessionState } from '../session/session.ts'
import { countDown } from './countdown.ts'

/** Longest wait for the service at the end of the preparation. After it, the page lets the candidate answer, and saves later. */
const ASK_MS = 2_000

/**
 * The preparation time of a question: counted down until answering begins, or until the candidate presses "Answer now".
 *
 * @param answer called once the answer is shown, to replace this control of the page.
 */
export function prepareAnswer(player: Player, section: HTMLElement, answer: () => void): PageControl {
  const { t, session, state, status } = player
  const number = Number(section.dataset.number)
  const panel = section.querySelector('[data-preparation]')!
  const clock = document.querySelector<HTMLElement>('[data-clock=preparation]')!
  let isClosed = false
  let stopClock = count()

  function count(): () => void {
    const events = {
      say: status.say,
      over: async () => follow((await Promise.race([session.read().catch(() => null), sleep(ASK_MS)])) ?? null),
    }
    return countDown(t, clock, 'clock.preparation', () => session.momentOf(state.question?.answersAt ?? state.now), events)
  }

  /** Follows the service's clock, not the page's. @param read state of the session; null if the service does not respond. */
  function follow(read: SessionState | null): void {
    if (isClosed) return
    if (read && read.question?.number !== number) return void player.refresh()
    if (read) Object.assign(state, read)
    stopClock()
    if (read?.question?.answersAt) stopClock = count()
    else showAnswer()
  }

  function showAnswer(): void {
    const hadFocus = panel.contains(document.activeElement)
    const answering = section.querySelector<HTMLElement>('[data-answering]')!
    panel.remove()
    clock.remove()
    answer()
    status.say(t.text('answer.begins'))
    if (hadFocus)
      answering.querySelector<HTMLElement>(':is(textarea, input, select, button):not([hidden], [type=hidden])')?.focus()
  }

  return {
    async beforeSending(form) {
      if (!form.action.endsWith('/begin')) return true
      try {
        await session.post(`/questions/${number}/answering`)
        follow(await session.read())
        return false
      } catch {
        return !session.isTakenOver() // sends the form; its response shows the current state
      }
    },
    close() {
      isClosed = true
      stopClock()
    },
  }
}
