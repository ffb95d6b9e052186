import { button, make, setNotice, setText, wordTime } from '../../../http/browser/dom.ts'
import { offerChoice } from './answer-choice.ts'
import { showStream } from './devices.ts'
import { explainFailure, obstacleToRecord } from './failures.ts'
import { type KeptAttempt, keepAttempt } from './kept-attempt.ts'
import { measureLevel } from './meter.ts'
import type { Player } from './player.ts'
import { type Recorder, startRecorder } from './recorder.ts'
import type { Recording } from './recording.ts'
import { Refusal, type TakeKind } from './session.ts'
import { tellStop } from './stops.ts'
import { wordFailure } from './wording.ts'

const BEGIN_WITHIN_MS = 20_000
const REFRESH_MS = 500

const LABELS: Record<TakeKind, string> = { audio: 'Record audio', video: 'Record video' }

/** Records an answer, as often as the organization allows. @param kinds what the candidate can choose from. */
export function offerRecording(player: Player, number: number, kinds: TakeKind[], place: HTMLElement) {
  const { session, outbox, devices, status, state } = player
  const question = state.question!
  const hasAnswered = question.takes.some(({ kind, state }) => kind !== 'text' && state === 'complete')
  const choice = offerChoice(player, number)
  const attempts = new Map(kinds.map((kind) => [kind, keepAttempt(`take ${session.base} ${number} ${kind}`)]))
  /** Granted, perhaps, and nothing recorded yet. */
  const isPending = () => [...attempts.values()].some((attempt) => attempt.isPending())
  let takesLeft = question.takesLeft
  let recorder: Recorder | null = null
  let last: Recording | null = null
  let isOpening = false
  let telling: Promise<void> = Promise.resolve()
  let stopMeter = () => {}

  const preview = make('video', { class: 'preview', hidden: true, 'aria-label': 'What your camera sees' })
  const level = make('meter', { hidden: true, min: '0', max: '1', 'aria-label': 'How loud you are' })
  const line = make('p', { class: 'recording-state' })
  const mistake = make('p', { class: 'mistake', role: 'alert', hidden: true })
  const left = make('p', { class: 'facts' })
  const starters = kinds.map((kind) => button(LABELS[kind], () => begin(kind)))
  const stopper = button('Stop recording', stop, 'danger')
  const goOn = place.parentElement!.querySelector('form button.plain')
  place.replaceChildren(
    preview,
    level,
    line,
    mistake,
    make('div', { class: 'actions' }, ...starters, stopper),
    left,
    choice.element,
  )

  function show(): void {
    const isRecording = recorder !== null
    const isRunning = recorder?.isRunning() ?? false
    const isAnswered = last ? last.state !== 'failed' : hasAnswered
    for (const [i, starter] of starters.entries()) {
      starter.hidden = isRecording || isOpening || (takesLeft === 0 && !attempts.get(kinds[i]!)!.isPending())
      starter.classList.toggle('plain', isAnswered)
      setText(starter, `${LABELS[kinds[i]!]}${isAnswered ? ' again' : ''}`)
    }
    goOn?.classList.toggle('plain', !isAnswered || isRecording)
    stopper.hidden = !isRecording
    preview.hidden = !isRecording || preview.srcObject === null
    level.hidden = !isRecording
    line.classList.toggle('live', isRunning)
    setText(line, wordState())
    setText(left, isRecording ? '' : wordLeft())
  }

  function wordState(): string {
    if (isOpening) return 'Opening your devices…'
    if (recorder) return wordRecorder(recorder)
    if (last) return wordEnded(last)
    return hasAnswered ? 'Your answer is saved.' : ''
  }

  function wordLeft(): string {
    if (takesLeft === 0) return isPending() ? 'You can record your answer once.' : 'You can’t record this answer again.'
    const times = takesLeft === 1 ? 'once' : `${takesLeft} times`
    return last || question.takes.length > 0
      ? `You can record it again ${times}: the new recording counts when you have stopped it, unless you choose another.`
      : `You can record your answer ${times}.`
  }

  async function begin(kind: TakeKind): Promise<void> {
    setNotice(mistake, '')
    isOpening = true
    show()
    try {
      await record(kind)
    } finally {
      isOpening = false
      show()
    }
    if (recorder) stopper.focus()
  }

  async function record(kind: TakeKind): Promise<void> {
    const device = kind === 'video' ? 'camera and microphone' : 'microphone'
    const impossible = obstacleToRecord(device)
    if (impossible) return setNotice(mistake, impossible)
    try {
      const stream = await openFor(kind)
      await beginTake(kind, stream)
      await watch(kind, stream)
      status.say('Recording has begun')
    } catch (error) {
      setNotice(mistake, error instanceof Refusal ? wordFailure(error.code) : await explainFailure(error, device))
    }
  }

  /** An attempt counts from here on; of one in which nothing was recorded, the next goes on with it. */
  async function beginTake(kind: TakeKind, stream: MediaStream): Promise<void> {
    const attempt = attempts.get(kind)!
    const taken = await askForTake(kind, attempt)
    takesLeft = taken.takesLeft
    last = outbox.begin(taken.mediaId, kind, question.closesAt)
    try {
      const on = { lost: (track: MediaStreamTrack) => replace(kind, track), ended: interrupted, written: attempt.done }
      recorder = startRecorder(kind, stream, outbox, last, on)
    } catch (error) {
      outbox.fail(last, 'empty')
      throw error
    }
  }

  async function askForTake(kind: TakeKind, attempt: KeptAttempt): Promise<{ mediaId: string; takesLeft: number }> {
    const sending = { json: { kind }, until: performance.now() + BEGIN_WITHIN_MS, attempt: attempt.id() }
    try {
      return (await session.send('POST', `/questions/${number}/takes`, sending)) as { mediaId: string; takesLeft: number }
    } catch (error) {
      const isPerhapsGranted = error instanceof Refusal && ['unreachable', 'taken_over'].includes(error.code)
      if (!isPerhapsGranted) attempt.done()
      throw error
    }
  }

  const openFor = (kind: TakeKind) => devices.open({ audio: true, video: kind === 'video' })

  async function watch(kind: TakeKind, stream: MediaStream): Promise<void> {
    stopMeter()
    if (kind === 'video') await showStream(preview, stream)
    stopMeter = measureLevel(stream, {
      level: (value) => {
        level.value = value
      },
      silent: (is) => setNotice(mistake, is ? 'Nothing is heard. Is your microphone on, and is it the right one?' : ''),
    })
  }

  /** A device is gone: perhaps there is another. */
  async function replace(kind: TakeKind, track: MediaStreamTrack): Promise<MediaStream | null> {
    player.notes.note(track.kind === 'video' ? 'camera_lost' : 'microphone_lost')
    const stream = await openFor(kind).catch(() => null)
    if (stream) await watch(kind, stream)
    return stream
  }

  function interrupted(): void {
    recorder = null
    // Also where nothing has arrived of it: the next recording is another, and goes nowhere into this one, which is given up.
    for (const attempt of attempts.values()) attempt.done()
    tidy()
    void showSaved(last!)
    const outcome =
      choice.list().length > 0
        ? 'What was recorded until then is saved; choose below if it is to be your answer.'
        : 'What was recorded until then is your answer.'
    setNotice(mistake, `Your microphone or camera was disconnected, and the recording ended there. ${outcome}`)
    show()
  }

  /** When the service has it, it can be chosen. */
  async function showSaved(recording: Recording): Promise<void> {
    await Promise.all([outbox.finish(recording), telling])
    await choice.refresh()
  }

  function tidy(): void {
    stopMeter()
    stopMeter = () => {}
    preview.srcObject = null
  }

  /** The candidate has done with it: it counts. */
  async function stop(): Promise<void> {
    if (!recorder) return
    const { mediaId, until } = recorder.recording
    telling = tellStop(session, mediaId, until, () => void choice.refresh())
    await end()
  }

  /** It ends, as by the clock, which takes the place of nothing. */
  async function end(): Promise<void> {
    const ending = recorder
    if (!ending) return
    recorder = null
    await ending.stop()
    for (const attempt of attempts.values()) attempt.done()
    tidy()
    setNotice(mistake, '')
    show()
    status.say('Recording has stopped')
    void showSaved(ending.recording)
    starters.find(({ hidden }) => !hidden)?.focus()
  }

  const timer = setInterval(show, REFRESH_MS)
  show()

  return {
    end,
    /** Shows what could be the answer by now. */
    refresh: choice.refresh,
    /** An earlier page has left it behind. */
    adopt(recording: Recording): void {
      last = recording
      void showSaved(recording)
    },
    /** @returns when all that was recorded is saved. @throws Refusal of what could not be saved. */
    async finish(): Promise<void> {
      await stop()
      await choice.settled()
      if (!last || last.state === 'failed') return
      await Promise.all([outbox.finish(last), telling])
    },
    failure: (): string => (last?.state === 'failed' ? wordFailure(last.failure) : ''),
    isBusy: () => recorder !== null || last?.state === 'sending' || last?.state === 'completing',
    close(): void {
      clearInterval(timer)
      choice.close()
      tidy()
    },
  }
}

function wordRecorder(recorder: Recorder): string {
  const elapsed = recorder.elapsed()
  if (recorder.isRunning()) return `Recording: ${wordTime(elapsed)}${wordSaved(recorder.recording)}`
  return elapsed === 0 ? 'Opening your devices…' : `The recording waits for your device, at ${wordTime(elapsed)}`
}

const wordSaved = ({ saved }: Recording): string => (saved > 0 ? `, saved up to ${wordTime(saved)}` : '')

function wordEnded(recording: Recording): string {
  const { state, saved, recorded, failure } = recording
  if (state === 'failed') return saved > 0 ? `Saved up to ${wordTime(saved)}, no further.` : 'Not saved.'
  if (state !== 'saved') return `Sending your answer${wordSaved(recording)}`
  if (failure) return 'Saved, but a part of it was lost on the way.'
  return recorded > 0 ? `Saved: ${wordTime(recorded)}.` : 'What you had recorded before is saved.'
}
