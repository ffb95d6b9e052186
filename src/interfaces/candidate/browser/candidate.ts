// What the candidates' pages gain where scripts run: devices are checked, answers recorded, texts saved as they are typed. One document
// for the whole session, see pages.ts.

import { button, make, setNotice, wait } from '../../../http/browser/dom.ts'
import { countDown } from './answering/countdown.ts'
import { answerQuestion } from './answering/question.ts'
import { sendLeftTexts } from './answering/text-drafts.ts'
import { useDevices } from './devices/devices.ts'
import { fieldsOf, reloadPage, sendForm } from './pages.ts'
import { prepare } from './preparing/prepare.ts'
import { watchSession } from './proctoring/proctoring.ts'
import { keepNotes } from './session/notes.ts'
import { type Outbox, openOutbox } from './session/outbox.ts'
import { openPartDatabase } from './session/part-database.ts'
import { openPartStore, type PartStore } from './session/part-store.ts'
import type { PageControl, Player } from './session/player.ts'
import { openSession, Refusal } from './session/session.ts'
import { showStatus } from './session/status.ts'
import { tellLeftStops } from './session/stops.ts'

const SYNCHRONIZE_EVERY_MS = 60_000
const LOOK_FOR_SLEEP_MS = 1_000
/** How far the device's two clocks come apart only where it has slept, or one has been set. */
const SLEPT_MS = 2_000
const RELOAD_AGAIN_MS = 1_000
const SEND_AGAIN_MS = 1_000
const SEND_AGAIN_AT_LAST_MS = 8_000
const NOT_SENT = 'The service could not be reached. Nothing is lost: it is tried again by itself.'
/** The forms by which a candidate goes on to what they have not seen. */
const GOING_ON = /\/(open|answer|next)$/
const NO_CONTROL: PageControl = { beforeSending: async () => true, close: () => {} }

const found = document.querySelector<HTMLElement>('[data-session]')
if (found) await take(found.dataset.session!).catch(showFailure)

async function take(base: string): Promise<void> {
  const status = showStatus()
  const devices = useDevices()
  const session = openSession(base, { takenOver: () => void giveUp(), reachable: (is) => reachable(is) })
  const database = await openPartDatabase(base, () => store.refuse()).catch(() => null)
  const store: PartStore = openPartStore(database, () => status.uploads(outbox))
  const outbox: Outbox = openOutbox(session, store, () => status.uploads(outbox))
  const notes = keepNotes(session)
  const proctoring = watchSession({ session, outbox, devices, notes, status }, () => clearNotSent())
  const connectionBack = makeBell()
  let control = NO_CONTROL
  let stopClock = () => {}
  /** The page that is shown knows what it has to do: until then nobody can say whether the candidate may go on from it. */
  let entered: Promise<void> = Promise.resolve()

  await session.claim()
  const state = await session.read()
  const player: Player = { session, outbox, devices, notes, status, state, refresh }
  await outbox.resume(state.uploads, state.question?.closesAt ?? state.deadlineAt, state.deadlineAt)
  enter()
  void sendLeftTexts(player)
  tellLeftStops(session)

  /** What the page before had to do ends. */
  function leave(): void {
    control.close()
    stopClock()
    control = NO_CONTROL
    stopClock = () => {}
  }

  /** What the page that is shown now has to do. */
  function enter(): void {
    const { deadlineAt } = player.state
    const taking = document.querySelector<HTMLElement>('[data-taking]')
    if (taking) {
      const { capture = '', webcam = 'stills' } = taking.dataset
      proctoring.begin(capture.split(' '), webcam, deadlineAt)
      if (deadlineAt && deadlineAt !== player.state.question?.closesAt) countWhole(taking, deadlineAt)
    } else if (!document.querySelector('[data-prepare]')) void proctoring.end()
    control = controlOf()
  }

  function controlOf(): PageControl {
    const question = document.querySelector<HTMLElement>('[data-question]')
    if (question) return answerQuestion(player, question)
    const preparing = document.querySelector<HTMLElement>('[data-prepare]')
    if (preparing) return prepare(player, preparing)
    return document.querySelector('[data-end]') ? { ...NO_CONTROL, beforeSending: beforeFinish } : NO_CONTROL
  }

  function countWhole(taking: HTMLElement, deadlineAt: string): void {
    const clock = make('p', { class: 'facts clock', role: 'timer' })
    taking.querySelector('[data-whole]')?.remove() // it does not count
    taking.prepend(clock)
    stopClock = countDown(clock, 'Time left for the whole assessment', () => session.momentOf(deadlineAt), {
      say: status.say,
      soon: () => {},
      over: () => void refresh(),
    })
  }

  async function beforeFinish(form: HTMLFormElement): Promise<boolean> {
    const line = make('p', { class: 'hint', role: 'status' }, 'Sending the rest of what was recorded…')
    form.append(line)
    await proctoring.end()
    await outbox.flush()
    line.remove()
    return true
  }

  /** Until the page is there: where a time is over, nothing else can be done. */
  async function refresh(): Promise<void> {
    while (!session.isTakenOver()) {
      const isShown = await reloadPage().then(
        () => true,
        () => false,
      )
      if (isShown) return readAndEnter()
      await wait(RELOAD_AGAIN_MS)
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
    if (document.querySelector('main') === shown) enter()
  }

  document.addEventListener('submit', (event) => {
    const form = event.target as HTMLFormElement
    event.preventDefault()
    if (form.ariaBusy !== 'true') void submit(form, event.submitter)
  })

  async function submit(form: HTMLFormElement, submitter: HTMLElement | null): Promise<void> {
    form.ariaBusy = 'true'
    clearNotSent()
    try {
      await entered
      if (GOING_ON.test(form.action) && !(await proctoring.mayGoOn(player.state.deadlineAt)))
        return sayNotSent(form, 'You can go on when your screen is shared again: see above.')
      await sendUntilShown(form, submitter)
    } catch (error) {
      if (!(error instanceof Refusal && error.code === 'taken_over')) sayNotSent(form, NOT_SENT)
    } finally {
      form.ariaBusy = null
    }
  }

  /** Each of the forms changes nothing when it is sent once more; meanwhile the clock, or another tab, may have taken its page away. */
  async function sendUntilShown(form: HTMLFormElement, submitter: HTMLElement | null): Promise<void> {
    for (
      let pause = SEND_AGAIN_MS;
      form.isConnected && !session.isTakenOver();
      pause = Math.min(pause * 2, SEND_AGAIN_AT_LAST_MS)
    ) {
      if (!(await control.beforeSending(form, submitter)) || !form.isConnected) return
      const isShown = await sendForm(form.action, fieldsOf(form, submitter)).then(
        () => true,
        () => false,
      )
      session.noteReached(isShown)
      if (isShown) return readAndEnter()
      sayNotSent(form, NOT_SENT)
      await Promise.race([wait(pause), connectionBack.next()])
      clearNotSent()
    }
  }

  function sayNotSent(form: HTMLFormElement, text: string): void {
    const line =
      form.querySelector<HTMLElement>('[data-not-sent]') ?? make('p', { class: 'mistake', role: 'alert', 'data-not-sent': true })
    form.append(line)
    setNotice(line, text)
  }

  function clearNotSent(): void {
    for (const line of document.querySelectorAll<HTMLElement>('[data-not-sent]')) setNotice(line, '')
  }

  function reachable(is: boolean): void {
    status.connection(is, outbox)
    notes.note(is ? 'online' : 'offline')
    control.connectionChanged?.()
    if (!is) return
    connectionBack.ring()
    void notes.send()
  }

  async function giveUp(): Promise<void> {
    leave()
    await proctoring.end()
    const heading = make('h1', { tabindex: '-1' }, 'This assessment is open in another tab')
    const text = make(
      'p',
      {},
      'You have opened it in another tab or window, or on another device. Go on there: nothing is recorded or saved here any more.',
    )
    document.querySelector('main')!.replaceChildren(
      heading,
      text,
      button('Go on here instead', () => location.reload()),
    )
    status.remove()
    heading.focus()
  }

  // The clock that the page counts by may stand still while the device sleeps.
  const synchronize = async () => {
    if (document.hidden || session.isTakenOver() || !document.querySelector('[data-taking]')) return
    const state = await session.read().then(
      (read) => read.state,
      () => null,
    )
    // Handed in elsewhere or by the clock, withdrawn, or its link replaced: the page says so.
    if (state !== player.state.state) await refresh()
  }
  setInterval(synchronize, SYNCHRONIZE_EVERY_MS)
  let apart = Date.now() - performance.now()
  setInterval(() => {
    const before = apart
    apart = Date.now() - performance.now()
    if (Math.abs(apart - before) > SLEPT_MS) void synchronize()
  }, LOOK_FOR_SLEEP_MS)
  document.addEventListener('visibilitychange', synchronize)
  window.addEventListener('beforeunload', (event) => {
    if (!session.isTakenOver() && (!outbox.isEmpty() || control.hasUnsaved?.())) event.preventDefault()
  })
}

/** Without an answer the page stays as it works without scripts. */
function showFailure(error: unknown): void {
  if (error instanceof Refusal && error.code === 'taken_over') return
  throw error
}

/** Something that is waited for, again and again. */
function makeBell() {
  let waiting: (() => void)[] = []
  return {
    next: () => new Promise<void>((resolve) => void waiting.push(resolve)),
    ring(): void {
      for (const resolve of waiting) resolve()
      waiting = []
    },
  }
}
