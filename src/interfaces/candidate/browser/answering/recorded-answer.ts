import { createButton, createElement, setNotice, setText } from '../../../../http/browser/dom.ts'
import type { BrowserTexts } from '../../../../locales/texts.ts'
import type { DeviceKind } from '../devices/device-words.ts'
import { createMonitor } from '../devices/monitor.ts'
import { explainFailure, obstacleToRecord } from '../session/failures.ts'
import type { Player } from '../session/player.ts'
import type { Recording } from '../session/recording.ts'
import type { AnswerAttemptKind, Question } from '../session/session.ts'
import { createPlayer, offerChoice } from './answer-choice.ts'
import { type ConfirmStart, recordAttempts, type StartMode } from './attempts.ts'
import { createCountIn } from './count-in.ts'
import {
  formatElapsed,
  formatLastFailure,
  formatRemaining,
  formatRule,
  formatState,
  isAnswered,
  isBusy,
  type RecordingStatus,
} from './recorded-words.ts'
import type { Simultaneous } from './simultaneous.ts'

const REFRESH_MS = 500
const COUNTED_IN = 3
const TIME_TO_COUNT_MS = 20_000

/**
 * Records an answer, as often as the organization allows.
 *
 * @param kinds kinds of recording to choose from. @param simultaneous plays the prompt during the recording.
 */
export function offerRecording(
  player: Player,
  number: number,
  kinds: AnswerAttemptKind[],
  place: HTMLElement,
  simultaneous?: Simultaneous,
) {
  const { t } = player
  const before = describeBefore(player.state.question!, place)
  const askForMore = place.parentElement!.querySelector<HTMLElement>('[data-ask]')
  const choice = offerChoice(player, number, () => playback.leaveTo(choice.isShown()))
  const monitor = createMonitor(t, (isSilent) => panel.say(isSilent && attempts.now().running ? t.text('attempt.silent') : ''))
  const attempts = recordAttempts(
    player,
    { number, kinds, monitor },
    { interrupted, stopReportedLate: () => void choice.refresh(), segment: simultaneous },
  )
  const tasks = { begin, skip: () => countIn.skip(), stop: async () => void (await end(true)), keep: async () => void keep(true) }
  const panel = createPanel(t, place, kinds, tasks, monitor.elements, simultaneous?.beginText)
  const playback = createPlayback(t)
  place.append(playback.element, choice.element)
  choice.show()
  const countIn = createCountIn(show)
  let isOpening = false

  function show(): void {
    const now = attempts.now()
    monitor.show(now.running !== null || countIn.left() > 0)
    const answering = { ...now, ...before, isOpening, countIn: countIn.left() }
    panel.show(answering)
    simultaneous?.show(answering, isAnswered(answering))
    if (askForMore) askForMore.hidden = !(before.hadInterruption || now.interrupted || now.last?.state === 'failed')
  }

  const countDown: ConfirmStart = async (granted, mode, recorded) => {
    await simultaneous?.load(granted, mode, recorded)
    return beginCounting(player, countIn, panel.focus)
  }

  async function begin(kind: AnswerAttemptKind, mode: StartMode): Promise<void> {
    const device = kind === 'video' ? 'both' : 'microphone'
    const obstacle = findObstacle(t, device, mode, simultaneous)
    panel.say(obstacle)
    if (obstacle) return
    isOpening = true
    playback.clear()
    show()
    try {
      await attempts.begin(kind, mode, countDown)
      if (attempts.now().running) player.status.say(t.text('attempt.begun'))
    } catch (error) {
      panel.say(await explainFailure(t, error, device))
    } finally {
      countIn.cancel()
      isOpening = false
      show()
    }
    if (attempts.now().running) panel.focus()
  }

  function interrupted(): void {
    if (simultaneous?.isContinued()) return void keep(true)
    panel.say(t.text('attempt.interrupted'))
    show()
    panel.focus()
  }

  const { end, keep, showSaved, finish } = createEndings(player, { attempts, choice, panel, playback, countIn, show })

  simultaneous?.connect({ end: () => void end(true), interrupt: attempts.interrupt, say: panel.say })
  const timer = setInterval(show, REFRESH_MS)
  const { last: earlierRecording, interrupted: isInterrupted } = attempts.now()
  if (earlierRecording && !isInterrupted) void showSaved(earlierRecording)
  show()

  return {
    /** @returns the recording that the clock ended, or null. */
    endByClock: async () => (await end(false)) ?? keep(false),
    describeStatus: choice.describeStatus,
    /** Shows the attempts that can be the answer. */
    refresh: choice.refresh,
    /** Resolves when the latest choice is saved, or has failed. */
    waitForUploads: choice.waitForChoice,
    finish,
    failure: () => formatLastFailure(t, attempts.now()),
    isBusy: () => isBusy(attempts.now()),
    isRunning: () => attempts.now().running !== null,
    isInterrupted: () => attempts.now().interrupted !== null,
    isAnswered: () => choice.hasAnswers() || isAnswered({ ...attempts.now(), ...before }),
    close(): void {
      clearInterval(timer)
      countIn.cancel()
      choice.close()
      simultaneous?.close()
      playback.clear()
      monitor.close()
    },
  }
}

/** Reason why recording can't begin; empty if it can. */
const findObstacle = (t: BrowserTexts, device: DeviceKind, mode: StartMode, simultaneous?: Simultaneous): string =>
  obstacleToRecord(t, device) || (simultaneous?.findObstacle(mode) ?? '')

/** State of the question before this page records anything. */
function describeBefore({ attempts, answers, hadInterruption, closesAt }: Question, place: HTMLElement) {
  const recordings = attempts.filter(({ kind }) => kind !== 'text')
  return {
    hasAttempts: attempts.length > 0,
    hasAnswered: recordings.some(({ state }) => state === 'complete'),
    isAnswerInterrupted: answers.some(({ wasInterrupted, counts }) => wasInterrupted && counts),
    limit: Number(place.closest<HTMLElement>('[data-record-limit]')!.dataset.recordLimit),
    isTimed: closesAt !== null,
    hadInterruption,
  }
}

type EndingParts = {
  attempts: ReturnType<typeof recordAttempts>
  choice: ReturnType<typeof offerChoice>
  panel: ReturnType<typeof createPanel>
  playback: ReturnType<typeof createPlayback>
  countIn: ReturnType<typeof createCountIn>
  show: () => void
}

/** Functions that end a recording. */
function createEndings({ t, status }: Player, { attempts, choice, panel, playback, countIn, show }: EndingParts) {
  /** Refreshes the choice once the service has the recording. */
  const showSaved = (recording: Recording) => attempts.settled(recording).then(choice.refresh)

  /** @param isStopped true if the candidate stopped it, so that it counts. A recording that the clock ends replaces no earlier answer. */
  async function end(isStopped: boolean): Promise<Recording | null> {
    countIn.cancel()
    const ended = await attempts.end(isStopped)
    if (!ended) return null
    const { recording, recorded } = ended
    panel.say('')
    choice.keep(recording.mediaId, recorded)
    playback.show(recorded)
    show()
    status.say(t.text('attempt.stopped'))
    void showSaved(recording)
    panel.focus()
    return recording
  }

  /** Ends an interrupted attempt with what is recorded. @param isStopped true if it counts. */
  function keep(isStopped: boolean): Recording | null {
    const recording = attempts.endInterrupted(isStopped)
    if (recording) void showSaved(recording)
    panel.say('')
    show()
    return recording
  }

  /** Resolves when all recordings are saved, or have failed. */
  async function finish(): Promise<void> {
    await end(true)
    keep(false)
    await choice.waitForChoice()
    const { last } = attempts.now()
    if (last && last.state !== 'failed') await attempts.settled(last)
  }

  return { end, keep, showSaved, finish }
}

/**
 * Counts down to the beginning of a recording. Begins at once if little time is left for the question, because its clock keeps running.
 *
 * @returns false if the countdown was canceled.
 */
function beginCounting(
  { t, session, state, status }: Player,
  countIn: ReturnType<typeof createCountIn>,
  focus: () => void,
): Promise<boolean> {
  const { closesAt } = state.question!
  const isShort = closesAt !== null && session.momentOf(closesAt) - performance.now() < TIME_TO_COUNT_MS
  if (!isShort) status.say(t.text('attempt.begins.said', { seconds: COUNTED_IN }))
  const countdown = countIn.begin(isShort ? 0 : COUNTED_IN)
  focus()
  return countdown
}

/** Player for the newest attempt of this page. */
function createPlayback(t: BrowserTexts) {
  const element = createElement('div', { class: 'mt-4 flex flex-col items-center gap-2' })
  const clear = () => {
    for (const player of element.querySelectorAll('video')) URL.revokeObjectURL(player.src)
    element.replaceChildren()
  }
  return {
    element,
    clear,
    /** Removes this player if the list of attempts has one, unless it is playing. */
    leaveTo(isShownElsewhere: boolean): void {
      const isPlaying = [...element.querySelectorAll('video')].some(({ paused }) => !paused)
      if (isShownElsewhere && !isPlaying) clear()
    },
    /** @param recorded a file per segment: several if a device was disconnected for a while. */
    show(recorded: Blob[]): void {
      clear()
      const players = recorded.map((file, i) => {
        const name = recorded.length > 1 ? t.text('playback.part', { number: i + 1 }) : t.text('playback.name')
        return createPlayer(file.type.startsWith('audio') ? 'audio' : 'video', URL.createObjectURL(file), name)
      })
      if (players.length > 0) element.append(createElement('p', { class: 'hint' }, t.text('playback.heading')), ...players)
    },
  }
}

/** Style of the status line during a recording: red, with a dot. */
const LIVE = ['text-error', 'before:size-2.5', 'before:rounded-full', 'before:bg-error']

function createPanel(
  t: BrowserTexts,
  place: HTMLElement,
  kinds: AnswerAttemptKind[],
  actions: {
    begin: (kind: AnswerAttemptKind, mode: StartMode) => Promise<void>
    skip: () => void
    stop: () => Promise<void>
    keep: () => Promise<void>
  },
  monitor: Element[],
  beginText?: string,
) {
  const line = createElement('p', { class: 'recording-state flex items-center gap-2 font-medium empty:hidden' })
  const elapsed = createElement('p', { class: 'text-4xl font-semibold tracking-tight tabular-nums', hidden: true })
  const mistake = createElement('p', { class: 'mistake', role: 'alert', hidden: true })
  const remaining = createElement('p', { class: 'hint' })
  const rule = createElement('p', { class: 'hint', 'data-rule': true })
  let shown: RecordingStatus | null = null
  const starters = kinds.map((kind) => {
    const mayRestart = () => shown?.interrupted?.kind === kind && shown.interrupted.mayRestart
    const begin = () => actions.begin(kind, mayRestart() ? 'restart' : 'new')
    const goOn = createButton(
      t.text('attempt.continue', { kind }),
      () => actions.begin(kind, 'continue'),
      'btn btn-primary btn-lg',
    )
    return { kind, goOn, starter: createButton(t.text('attempt.record', { kind }), begin, 'btn btn-primary btn-lg') }
  })
  const keeper = createButton(t.text('attempt.keep'), actions.keep, 'btn btn-lg')
  const skipper = createButton(t.text('attempt.begin'), actions.skip, 'btn btn-primary btn-lg')
  const stopper = createButton(t.text('attempt.stop'), actions.stop, 'btn btn-error btn-lg')
  const buttons = [...starters.flatMap(({ goOn, starter }) => [goOn, starter]), keeper, skipper, stopper]
  const goOn = place.parentElement!.querySelector('[data-leave]')
  const actionRow = createElement('div', { class: 'flex flex-wrap justify-center gap-3' }, ...buttons)
  place.replaceChildren(
    createElement(
      'div',
      { class: 'panel mt-6 flex min-h-56 flex-col items-center justify-center gap-4 py-8 text-center' },
      ...[line, elapsed, ...monitor, mistake, actionRow, remaining, rule],
    ),
  )

  return {
    show(answering: RecordingStatus): void {
      shown = answering
      const { isOpening, countIn, running, interrupted } = answering
      const hasAnswer = isAnswered(answering)
      const isIdle = running === null && !isOpening
      for (const starter of starters) showStarter(t, starter, answering, beginText)
      keeper.hidden = !isIdle || !interrupted
      goOn?.classList.toggle('btn-primary', hasAnswer && running === null)
      skipper.hidden = countIn === 0
      stopper.hidden = running === null
      for (const name of LIVE) line.classList.toggle(name, running?.isRunning ?? false)
      setText(line, formatState(t, answering))
      setNotice(elapsed, countIn > 0 ? String(countIn) : formatElapsed(answering))
      setText(remaining, formatRemaining(t, answering))
      setText(rule, formatRule(t, answering))
    },
    /** Shows why recording failed; empty: no error. */
    say: (text: string) => setNotice(mistake, text),
    /** Focuses the first visible button. */
    focus: () => buttons.find(({ hidden }) => !hidden)?.focus(),
  }
}

type Starter = { kind: AnswerAttemptKind; goOn: HTMLElement; starter: HTMLElement }

/** The buttons that begin and continue a recording of a kind. */
function showStarter(t: BrowserTexts, { kind, goOn, starter }: Starter, answering: RecordingStatus, beginText?: string): void {
  const { isOpening, running, attemptsLeft, pending, interrupted } = answering
  const isIdle = running === null && !isOpening
  const isAgain = isAnswered(answering) || interrupted !== null
  const mayRestart = interrupted?.kind === kind && interrupted.mayRestart
  goOn.hidden = !isIdle || interrupted?.kind !== kind
  starter.hidden = !isIdle || (attemptsLeft === 0 && !pending.includes(kind) && !mayRestart)
  starter.classList.toggle('btn-primary', !isAgain)
  const recordAgainText = t.text(isAgain ? 'attempt.record.again' : 'attempt.record', { kind })
  setText(starter, mayRestart ? t.text('attempt.restart') : (beginText ?? recordAgainText))
}
