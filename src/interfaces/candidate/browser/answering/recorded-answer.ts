import { button, make, setNotice, setText } from '../../../../http/browser/dom.ts'
import type { BrowserTexts } from '../../../../locales/texts.ts'
import { makeMonitor, PICTURE } from '../devices/monitor.ts'
import { explainFailure, obstacleToRecord } from '../session/failures.ts'
import type { Player } from '../session/player.ts'
import type { Recording } from '../session/recording.ts'
import type { AnswerAttemptKind } from '../session/session.ts'
import { offerChoice } from './answer-choice.ts'
import { makeCountIn } from './count-in.ts'
import {
  type Answering,
  isAnswered,
  isBusy,
  wordElapsed,
  wordFailed,
  wordInterrupted,
  wordLeft,
  wordState,
} from './recorded-words.ts'
import { recordTakes } from './takes.ts'

const REFRESH_MS = 500
const COUNTED_IN = 3
const TIME_TO_COUNT_MS = 20_000

/** Records an answer, as often as the organization allows. @param kinds what the candidate can choose from. */
export function offerRecording(player: Player, number: number, kinds: AnswerAttemptKind[], place: HTMLElement) {
  const { t } = player
  const earlier = player.state.question!.takes
  const hasAnswered = earlier.some(({ kind, state }) => kind !== 'text' && state === 'complete')
  const choice = offerChoice(player, number)
  const monitor = makeMonitor(t, (is) => panel.say(is && takes.now().running ? t.text('take.silent') : ''))
  const takes = recordTakes(player, { number, kinds, monitor }, { interrupted, toldLate: () => void choice.refresh() })
  const panel = makePanel(t, place, kinds, { begin, skip: () => countIn.skip(), stop: () => end(true) }, monitor.elements)
  const playback = makePlayback(t)
  place.append(playback.element, choice.element)
  const countIn = makeCountIn(show)
  let isOpening = false

  function show(): void {
    const now = takes.now()
    monitor.show(now.running !== null || countIn.left() > 0)
    panel.show({ ...now, isOpening, countIn: countIn.left(), hasTakes: earlier.length > 0, hasAnswered })
  }

  const countDown = () => beginCounting(player, countIn, panel.focus)

  async function begin(kind: AnswerAttemptKind): Promise<void> {
    const device = kind === 'video' ? 'both' : 'microphone'
    panel.say(obstacleToRecord(t, device))
    if (obstacleToRecord(t, device)) return
    isOpening = true
    playback.clear()
    show()
    try {
      await takes.begin(kind, countDown)
      if (takes.now().running) player.status.say(t.text('take.begun'))
    } catch (error) {
      panel.say(await explainFailure(t, error, device))
    } finally {
      countIn.cancel()
      isOpening = false
      show()
    }
    if (takes.now().running) panel.focus()
  }

  function interrupted(recording: Recording): void {
    void showSaved(recording)
    panel.say(wordInterrupted(t, choice.list().length > 0))
    show()
  }

  /** When the service has it, it can be chosen. */
  const showSaved = (recording: Recording) => takes.settled(recording).then(choice.refresh)

  /** @param isStopped the candidate has done with it: it counts. What the clock ends takes the place of nothing. */
  async function end(isStopped: boolean): Promise<void> {
    countIn.cancel()
    const ended = await takes.end(isStopped)
    if (!ended) return
    panel.say('')
    playback.show(ended.recorded)
    show()
    player.status.say(t.text('take.stopped'))
    void showSaved(ended.recording)
    panel.focus()
  }

  const timer = setInterval(show, REFRESH_MS)
  const { last: left } = takes.now()
  if (left) void showSaved(left)
  show()

  return {
    end: () => end(false),
    /** Shows what could be the answer by now. */
    refresh: choice.refresh,
    /** @returns when all that was recorded is saved, or can't be. */
    async finish(): Promise<void> {
      await end(true)
      await choice.settled()
      const { last } = takes.now()
      if (last && last.state !== 'failed') await takes.settled(last)
    },
    failure: () => wordFailed(t, takes.now()),
    isBusy: () => isBusy(takes.now()),
    close(): void {
      clearInterval(timer)
      countIn.cancel()
      choice.close()
      playback.clear()
      monitor.close()
    },
  }
}

/**
 * Counts to the beginning of a recording: not at all where the time for the question is nearly over, because it runs on meanwhile.
 *
 * @returns false where it was called off.
 */
function beginCounting(
  { t, session, state, status }: Player,
  countIn: ReturnType<typeof makeCountIn>,
  focus: () => void,
): Promise<boolean> {
  const { closesAt } = state.question!
  const isShort = closesAt !== null && session.momentOf(closesAt) - performance.now() < TIME_TO_COUNT_MS
  if (!isShort) status.say(t.text('take.begins.said', { seconds: COUNTED_IN }))
  const begun = countIn.begin(isShort ? 0 : COUNTED_IN)
  focus()
  return begun
}

/** Plays to the candidate what they have recorded last, as this page has it. */
function makePlayback(t: BrowserTexts) {
  const element = make('div', { class: 'mt-4 flex flex-col items-center gap-2' })
  const clear = () => {
    for (const player of element.querySelectorAll('video')) URL.revokeObjectURL(player.src)
    element.replaceChildren()
  }
  return {
    element,
    clear,
    /** @param recorded a file for each part: where a device was gone for a while there are several. */
    show(recorded: Blob[]): void {
      clear()
      const players = recorded.map((file, i) => {
        const name = recorded.length > 1 ? t.text('playback.part', { number: i + 1 }) : t.text('playback.name')
        const size = file.type.startsWith('audio') ? 'h-14 w-80 max-w-full' : PICTURE
        return make('video', {
          class: size,
          controls: true,
          playsinline: true,
          src: URL.createObjectURL(file),
          'aria-label': name,
        })
      })
      if (players.length > 0) element.append(make('p', { class: 'hint' }, t.text('playback.heading')), ...players)
    },
  }
}

/** How the line looks while something is recorded: red, behind a dot. */
const LIVE = ['text-error', 'before:size-2.5', 'before:rounded-full', 'before:bg-error']

/** What the candidate sees and presses. */
function makePanel(
  t: BrowserTexts,
  place: HTMLElement,
  kinds: AnswerAttemptKind[],
  on: { begin: (kind: AnswerAttemptKind) => Promise<void>; skip: () => void; stop: () => Promise<void> },
  monitor: Element[],
) {
  const line = make('p', { class: 'recording-state flex items-center gap-2 font-medium empty:hidden' })
  const elapsed = make('p', { class: 'text-4xl font-semibold tracking-tight tabular-nums', hidden: true })
  const mistake = make('p', { class: 'mistake', role: 'alert', hidden: true })
  const left = make('p', { class: 'hint' })
  const starters = kinds.map((kind) => ({
    kind,
    starter: button(t.text('take.record', { kind }), () => on.begin(kind), 'btn btn-primary btn-lg'),
  }))
  const skipper = button(t.text('take.begin'), on.skip, 'btn btn-primary btn-lg')
  const stopper = button(t.text('take.stop'), on.stop, 'btn btn-error btn-lg')
  const buttons = [...starters.map(({ starter }) => starter), skipper, stopper]
  const goOn = place.parentElement!.querySelector('[data-leave]')
  const actions = make('div', { class: 'flex flex-wrap justify-center gap-3' }, ...buttons)
  place.replaceChildren(
    make(
      'div',
      { class: 'panel mt-6 flex min-h-56 flex-col items-center justify-center gap-4 py-8 text-center' },
      ...[line, elapsed, ...monitor, mistake, actions, left],
    ),
  )

  return {
    show(answering: Answering): void {
      const { isOpening, countIn, running, takesLeft, pending } = answering
      const again = isAnswered(answering)
      for (const { kind, starter } of starters) {
        starter.hidden = running !== null || isOpening || (takesLeft === 0 && !pending.includes(kind))
        starter.classList.toggle('btn-primary', !again)
        setText(starter, t.text(again ? 'take.record.again' : 'take.record', { kind }))
      }
      goOn?.classList.toggle('btn-primary', again && running === null)
      skipper.hidden = countIn === 0
      stopper.hidden = running === null
      for (const name of LIVE) line.classList.toggle(name, running?.isRunning ?? false)
      setText(line, wordState(t, answering))
      setNotice(elapsed, countIn > 0 ? String(countIn) : wordElapsed(answering))
      setText(left, wordLeft(t, answering))
    },
    /** Why it can't be recorded, or what is wrong with it; empty: nothing is. */
    say: (text: string) => setNotice(mistake, text),
    /** On what can be pressed next. */
    focus: () => buttons.find(({ hidden }) => !hidden)?.focus(),
  }
}
