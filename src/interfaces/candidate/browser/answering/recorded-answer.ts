import { button, make, setNotice, setText } from '../../../../http/browser/dom.ts'
import { makeMonitor, PICTURE } from '../devices/monitor.ts'
import { explainFailure, obstacleToRecord } from '../session/failures.ts'
import type { Player } from '../session/player.ts'
import type { Recording } from '../session/recording.ts'
import type { TakeKind } from '../session/session.ts'
import { offerChoice } from './answer-choice.ts'
import { type Answering, isAnswered, isBusy, wordFailed, wordInterrupted, wordLeft, wordState } from './recorded-words.ts'
import { recordTakes } from './takes.ts'

const REFRESH_MS = 500

const LABELS: Record<TakeKind, string> = { audio: 'Record audio', video: 'Record video' }
const SILENCE = 'Nothing is heard. Is your microphone on, and is it the right one?'

/** Records an answer, as often as the organization allows. @param kinds what the candidate can choose from. */
export function offerRecording(player: Player, number: number, kinds: TakeKind[], place: HTMLElement) {
  const earlier = player.state.question!.takes
  const hasAnswered = earlier.some(({ kind, state }) => kind !== 'text' && state === 'complete')
  const choice = offerChoice(player, number)
  const monitor = makeMonitor((is) => panel.say(is ? SILENCE : ''))
  const takes = recordTakes(player, { number, kinds, monitor }, { interrupted, toldLate: () => void choice.refresh() })
  const panel = makePanel(place, kinds, { begin, stop: () => end(true) }, monitor.elements)
  const playback = makePlayback()
  place.append(playback.element, choice.element)
  let isOpening = false

  function show(): void {
    const now = takes.now()
    monitor.show(now.running !== null)
    panel.show({ ...now, isOpening, hasTakes: earlier.length > 0, hasAnswered })
  }

  async function begin(kind: TakeKind): Promise<void> {
    const device = kind === 'video' ? 'camera and microphone' : 'microphone'
    panel.say(obstacleToRecord(device))
    if (obstacleToRecord(device)) return
    isOpening = true
    playback.clear()
    show()
    try {
      await takes.begin(kind)
      player.status.say('Recording has begun')
    } catch (error) {
      panel.say(await explainFailure(error, device))
    } finally {
      isOpening = false
      show()
    }
    if (takes.now().running) panel.focus()
  }

  function interrupted(recording: Recording): void {
    void showSaved(recording)
    panel.say(wordInterrupted(choice.list().length > 0))
    show()
  }

  /** When the service has it, it can be chosen. */
  const showSaved = (recording: Recording) => takes.settled(recording).then(choice.refresh)

  /** @param isStopped the candidate has done with it: it counts. What the clock ends takes the place of nothing. */
  async function end(isStopped: boolean): Promise<void> {
    const ended = await takes.end(isStopped)
    if (!ended) return
    panel.say('')
    playback.show(ended.recorded)
    show()
    player.status.say('Recording has stopped')
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
    failure: () => wordFailed(takes.now()),
    isBusy: () => isBusy(takes.now()),
    close(): void {
      clearInterval(timer)
      choice.close()
      playback.clear()
      monitor.close()
    },
  }
}

/** Plays to the candidate what they have recorded last, as this page has it. */
function makePlayback() {
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
        const name = recorded.length > 1 ? `What you have recorded, part ${i + 1}` : 'What you have recorded'
        const size = file.type.startsWith('audio') ? 'h-14 w-80 max-w-full' : PICTURE
        return make('video', {
          class: size,
          controls: true,
          playsinline: true,
          src: URL.createObjectURL(file),
          'aria-label': name,
        })
      })
      if (players.length > 0) element.append(make('p', { class: 'hint' }, 'Play it back before you continue:'), ...players)
    },
  }
}

/** What the candidate sees and presses. */
function makePanel(
  place: HTMLElement,
  kinds: TakeKind[],
  on: { begin: (kind: TakeKind) => Promise<void>; stop: () => Promise<void> },
  monitor: HTMLElement[],
) {
  const line = make('p', { class: 'recording-state text-lg font-semibold tabular-nums empty:hidden' })
  const mistake = make('p', { class: 'mistake', role: 'alert', hidden: true })
  const left = make('p', { class: 'hint' })
  const starters = kinds.map((kind) => ({ kind, starter: button(LABELS[kind], () => on.begin(kind), 'btn btn-primary btn-lg') }))
  const stopper = button('Stop recording', on.stop, 'btn btn-error btn-lg')
  const buttons = [...starters.map(({ starter }) => starter), stopper]
  const goOn = place.parentElement!.querySelector('[data-leave]')
  const actions = make('div', { class: 'flex flex-wrap justify-center gap-3' }, ...buttons)
  place.replaceChildren(
    make('div', { class: 'panel mt-6 flex flex-col items-center gap-4 py-8' }, line, ...monitor, mistake, actions, left),
  )

  return {
    show(answering: Answering): void {
      const { isOpening, running, takesLeft, pending } = answering
      const again = isAnswered(answering)
      for (const { kind, starter } of starters) {
        starter.hidden = running !== null || isOpening || (takesLeft === 0 && !pending.includes(kind))
        starter.classList.toggle('btn-primary', !again)
        setText(starter, `${LABELS[kind]}${again ? ' again' : ''}`)
      }
      goOn?.classList.toggle('btn-primary', again && running === null)
      stopper.hidden = running === null
      line.classList.toggle('live', running?.isRunning ?? false)
      line.classList.toggle('text-error', running?.isRunning ?? false)
      setText(line, wordState(answering))
      setText(left, wordLeft(answering))
    },
    /** Why it can't be recorded, or what is wrong with it; empty: nothing is. */
    say: (text: string) => setNotice(mistake, text),
    /** On what can be pressed next. */
    focus: () => buttons.find(({ hidden }) => !hidden)?.focus(),
  }
}
