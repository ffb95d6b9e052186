import { createElement, sleep } from '../../../../http/browser/dom.ts'
import { countDown } from '../answering/countdown.ts'
import { openQuestion } from '../answering/open-question.ts'
import type { Proctoring } from '../proctoring/proctoring.ts'
import type { PageControl, Player } from '../session/player.ts'
import { reloadPage } from './show-page.ts'
import { wordTimes } from './word-times.ts'
import { fillZone } from './zone.ts'

const RELOAD_AGAIN_MS = 1_000
const NO_CONTROL: PageControl = { beforeSending: async () => true, close: () => {} }

export type Pages = ReturnType<typeof followPages>

/** Does what the page that is shown has to do, until another takes its place. */
export function followPages(
  lasting: Omit<Player, 'refresh'>,
  proctoring: Proctoring,
  prepare: ((player: Player, section: HTMLElement) => PageControl) | null,
) {
  const player: Player = { ...lasting, refresh }
  const { session } = player
  let control = enter()
  /** The page that is shown knows what it has to do: until then nobody can say whether the candidate may go on from it. */
  let entered: Promise<void> = Promise.resolve()

  function enter(): PageControl {
    wordTimes()
    fillZone()
    const { deadlineAt, isDeadlineOfQuestion, question } = player.state
    const taking = document.querySelector<HTMLElement>('[data-taking]')
    if (taking) {
      const { capture = '', webcam = 'stills' } = taking.dataset
      proctoring.begin(capture.split(' '), webcam, deadlineAt)
    } else if (!document.querySelector('[data-prepare]')) void proctoring.end()
    const isCounted = taking && deadlineAt && !isDeadlineOfQuestion && deadlineAt !== question?.closesAt
    const stopClock = isCounted ? countWhole(player, taking) : () => {}
    const own = controlOf()
    return {
      ...own,
      close() {
        own.close()
        stopClock()
      },
    }
  }

  function controlOf(): PageControl {
    const question = document.querySelector<HTMLElement>('[data-question]')
    if (question) return openQuestion(player, question)
    const preparing = document.querySelector<HTMLElement>('[data-prepare]')
    if (preparing && prepare) return prepare(player, preparing)
    const beforeSending = (form: HTMLFormElement) => finish(player, proctoring, form)
    return document.querySelector('[data-end]') ? { ...NO_CONTROL, beforeSending } : NO_CONTROL
  }

  function leave(): void {
    control.close()
    control = NO_CONTROL
  }

  /** Until the page is there: where a time is over, nothing else can be done. */
  async function refresh(): Promise<void> {
    while (!session.isTakenOver()) {
      if (await reloadPage()) return readAndEnter()
      await sleep(RELOAD_AGAIN_MS)
    }
  }

  function readAndEnter(): Promise<void> {
    leave()
    const entering = readAndEnterShown(document.querySelector('main'))
    entered = entering.catch(() => {}) // who waits for it was told by whoever began it
    return entering
  }

  async function readAndEnterShown(shown: Element | null): Promise<void> {
    if (document.querySelector('[data-session]')) player.state = await session.read()
    if (document.querySelector('main') === shown) control = enter()
  }

  return { player, leave, readAndEnter, control: () => control, entered: () => entered }
}

/** @returns what ends it. */
function countWhole({ t, session, state, status, refresh }: Player, taking: HTMLElement): () => void {
  const clock = createElement('p', {
    class: 'clock',
    role: 'timer',
  })
  taking.querySelector('[data-whole]')?.remove() // it does not count
  document.querySelector('[data-clocks]')!.append(clock)
  return countDown(t, clock, 'clock.whole', () => session.momentOf(state.deadlineAt!), {
    say: status.say,
    soon: () => {},
    over: () => void refresh(),
  })
}

async function finish({ t, outbox }: Player, proctoring: Proctoring, form: HTMLFormElement): Promise<boolean> {
  const line = createElement('p', { class: 'hint', role: 'status' }, t.text('finish.sending'))
  form.append(line)
  await proctoring.end()
  await outbox.flush()
  line.remove()
  return true
}
