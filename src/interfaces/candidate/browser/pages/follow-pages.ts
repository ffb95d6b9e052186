import { createElement, sleep } from '../../../../http/browser/dom.ts'
import { countDown } from '../answering/countdown.ts'
import { prepareAnswer } from '../answering/prepare-answer.ts'
import { offerPrompt } from '../answering/prompt.ts'
import { answerQuestion } from '../answering/question.ts'
import type { Proctoring } from '../proctoring/proctoring.ts'
import type { PageControl, Player } from '../session/player.ts'
import { localizeTimes } from './localize-times.ts'
import { reloadPage } from './show-page.ts'
import { fillZone } from './zone.ts'

const RELOAD_AGAIN_MS = 1_000
const NO_CONTROL: PageControl = { beforeSending: async () => true, close: () => {} }

export type Pages = ReturnType<typeof followPages>

/** Runs the controls of the shown page until another page replaces it. */
export function followPages(
  lasting: Omit<Player, 'refresh'>,
  proctoring: Proctoring,
  prepare: ((player: Player, section: HTMLElement) => PageControl) | null,
) {
  const player: Player = { ...lasting, refresh }
  const { session } = player
  let stopPrompt = () => {}
  let control = enterShown()
  /** Resolves once the shown page has its controls. Forms wait for it, because the controls decide if the candidate may go on. */
  let entered: Promise<void> = Promise.resolve()

  function enterShown(): PageControl {
    const prompt = document.querySelector<HTMLElement>('[data-prompt]')
    const { question } = player.state
    stopPrompt = prompt && question ? offerPrompt(player, question.number, prompt) : () => {}
    return enter()
  }

  /** Replaces the controls of the shown page. Its prompt keeps playing. */
  function enterAgain(): void {
    control.close()
    control = enter()
  }

  function enter(): PageControl {
    localizeTimes()
    fillZone()
    const { deadlineAt, isDeadlineOfQuestion, question } = player.state
    const taking = document.querySelector<HTMLElement>('[data-taking]')
    if (taking) {
      const { capture = '', webcam = 'stills' } = taking.dataset
      proctoring.begin(capture.split(' '), webcam, deadlineAt)
    } else if (!document.querySelector('[data-prepare]')) void proctoring.end()
    const isAlsoOfQuestion = deadlineAt === question?.closesAt && !question?.answersAt
    const isCounted = taking && deadlineAt && !isDeadlineOfQuestion && !isAlsoOfQuestion
    const stopClock = isCounted ? countWhole(player, taking) : () => {}
    const pageControl = controlOf()
    return {
      ...pageControl,
      close() {
        pageControl.close()
        stopClock()
      },
    }
  }

  function controlOf(): PageControl {
    const question = document.querySelector<HTMLElement>('[data-question]')
    if (question?.querySelector('[data-preparation]')) return prepareAnswer(player, question, enterAgain)
    if (question) return answerQuestion(player, question)
    const overview = document.querySelector<HTMLElement>('[data-overview]')
    if (overview?.dataset.closesAt) return { ...NO_CONTROL, close: countSection(player, overview) }
    const preparing = document.querySelector<HTMLElement>('[data-prepare]')
    if (preparing && prepare) return prepare(player, preparing)
    const beforeSending = (form: HTMLFormElement) => finish(player, proctoring, form)
    return document.querySelector('[data-end]') ? { ...NO_CONTROL, beforeSending } : NO_CONTROL
  }

  function leave(): void {
    control.close()
    stopPrompt()
    control = NO_CONTROL
  }

  /** Retries until the page is loaded, because nothing else can be done once a time is over. */
  async function refresh(): Promise<void> {
    while (!session.isTakenOver()) {
      if (await reloadPage()) return readAndEnter()
      await sleep(RELOAD_AGAIN_MS)
    }
  }

  function readAndEnter(): Promise<void> {
    leave()
    const entering = readAndEnterShown(document.querySelector('main'))
    entered = entering.catch(() => {}) // the caller gets the error
    return entering
  }

  async function readAndEnterShown(shownMain: Element | null): Promise<void> {
    if (document.querySelector('[data-session]')) player.state = await session.read()
    if (document.querySelector('main') === shownMain) control = enterShown()
  }

  return { player, leave, readAndEnter, control: () => control, entered: () => entered }
}

/** @returns a function that stops the countdown. */
function countSection({ t, session, status, refresh }: Player, overview: HTMLElement): () => void {
  const clock = document.querySelector<HTMLElement>('[data-clock]')!
  clock.setAttribute('role', 'timer')
  const over = () => void refresh()
  return countDown(t, clock, 'clock.section', () => session.momentOf(overview.dataset.closesAt!), { say: status.say, over })
}

/** @returns a function that stops the countdown. */
function countWhole({ t, session, state, status, refresh }: Player, taking: HTMLElement): () => void {
  const clock = createElement('p', {
    class: 'clock',
    role: 'timer',
  })
  taking.querySelector('[data-whole]')?.remove() // text that the countdown replaces
  document.querySelector('[data-clocks]')!.append(clock)
  const stop = countDown(t, clock, 'clock.whole', () => session.momentOf(state.deadlineAt!), {
    say: status.say,
    over: () => void refresh(),
  })
  return () => {
    stop()
    clock.remove()
  }
}

async function finish({ t, outbox }: Player, proctoring: Proctoring, form: HTMLFormElement): Promise<boolean> {
  const line = createElement('p', { class: 'hint', role: 'status' }, t.text('finish.sending'))
  form.append(line)
  await proctoring.end()
  await outbox.flush()
  line.remove()
  return true
}
