import { SIMULTANEOUS_ENDING_SECONDS, SIMULTANEOUS_REWIND_MS } from '../../../../domain/limits.ts'
import { createButton, createElement, setNotice, setText } from '../../../../http/browser/dom.ts'
import { createDraftStore } from '../../../../http/browser/draft-store.ts'
import { playOnChosen } from '../devices/chosen-devices.ts'
import { explainFailure } from '../session/failures.ts'
import type { Player } from '../session/player.ts'
import type { Recording } from '../session/recording.ts'
import { Refusal } from '../session/session.ts'
import type { StartMode } from './attempts.ts'
import { checkHeadphones, type HeadphoneCheck } from './check-headphones.ts'
import { measurePlaying } from './measure-playing.ts'
import type { RecordingStatus } from './recorded-words.ts'

// The prompt of a simultaneous question plays once, without a pause, while the answer is recorded.

/** Functions by which the prompt controls the recording. */
type Controls = { end: () => void; interrupt: () => void; say: (mistake: string) => void }

/** @property startedAt of the recorder, in `performance.now()`. */
type Segment = { recording: Recording; number: number; startedAt: number }

export type Simultaneous = ReturnType<typeof openSimultaneous>

/**
 * Plays the prompt during a recording. The recorder starts first, so that no word is lost, and the prompt begins at the recorder's start
 * event. The position of the prompt's time 0 in the recording is measured and reported, so that graders hear both in sync.
 *
 * @param panel the prompt's part of the page, rendered by the server with all texts.
 */
export function openSimultaneous(player: Player, number: number, panel: HTMLElement) {
  const { session } = player
  const part = (name: string) => panel.querySelector<HTMLElement>(`[data-${name}]`)!
  const headphones = askForHeadphones(player, part('headphones'), () => controls.say(''))
  const prompt = loadPrompt(player, number, panel)
  const { media } = prompt
  /** Played seconds of the prompt, stored for a reload of the page. */
  const position = createDraftStore<number>(`prompt ${session.base} ${number}`)
  let controls: Controls = { end: () => {}, interrupt: () => {}, say: () => {} }
  let measured: ReturnType<typeof measurePlaying> | null = null
  let ending: ReturnType<typeof setTimeout> | undefined
  /** The segment that is being recorded. */
  let segment: Segment | null = null
  let segments = 0

  media.addEventListener('timeupdate', () => {
    if (!segment) return
    position.write(media.currentTime)
    panel.querySelector('progress')!.value = media.currentTime / media.duration || 0
    setText(part('time'), `${formatTime(media.currentTime)} / ${formatTime(media.duration)}`)
  })
  media.addEventListener('ended', () => {
    position.clear()
    part('ended').hidden = false
    ending = setTimeout(() => controls.end(), SIMULTANEOUS_ENDING_SECONDS * 1_000)
  })
  // Unplugging the headphones pauses the prompt. An answer without the prompt can't be graded.
  media.addEventListener('pause', () => segment && !media.ended && controls.interrupt())
  media.addEventListener('error', () => segment && controls.interrupt())

  function report({ recording, number, startedAt }: Segment, elapsed: number | null): void {
    const playedAt = measured?.median() ?? null
    if (playedAt === null) return
    const timing = { zero: playedAt - startedAt, from: prompt.from() * 1_000, elapsed, headphones: headphones.result() }
    const json = { segment: number, ...timing }
    // If it never arrives, graders hear both without this measurement.
    session.post(`/media/${recording.mediaId}/prompt-timing`, json, () => recording.until).catch(() => {})
  }

  return {
    beginText: panel.dataset.begin!,
    connect(newControls: Controls): void {
      controls = newControls
      panel.hidden = false
    },
    /** Reason why recording can't begin yet; empty if it can. */
    findObstacle: (mode: StartMode): string => (mode === 'continue' || headphones.accept() ? '' : panel.dataset.missing!),
    /**
     * Loads the prompt.
     *
     * @param granted resolves once the attempt is granted. @param recorded milliseconds recorded so far. @throws Refusal.
     */
    async load(granted: Promise<unknown>, mode: StartMode, recorded: number): Promise<void> {
      await granted
      const stoppedAt = position.read() ?? recorded / 1_000
      const isContinued = mode === 'continue' && recorded > 0
      await prompt.load(isContinued ? Math.max(0, stoppedAt - SIMULTANEOUS_REWIND_MS / 1_000) : 0)
    },
    /** The recorder has started a segment. */
    started(recording: Recording, number: number, startedAt: number): void {
      const started = { recording, number, startedAt }
      segment = started
      segments = number + 1
      measured = measurePlaying(media, prompt.from(), () => report(started, null))
      media.play().catch(() => segment === started && controls.interrupt())
    },
    /** The recorder has stopped, or is about to. */
    stopped(stoppedAt: number): void {
      const stopped = segment
      segment = null
      clearTimeout(ending)
      media.pause()
      measured?.stop()
      if (stopped) report(stopped, stoppedAt - stopped.startedAt)
    },
    /** True once the recording was continued. It can't be continued a second time. */
    isContinued: () => segments > 1,
    show({ running, isOpening, interrupted }: RecordingStatus, isAnswered: boolean): void {
      part('headphones').hidden = Boolean(headphones.isKnown() || running || isOpening || interrupted || isAnswered)
      part('playing').hidden = !running
      media.hidden = !running || panel.dataset.simultaneous === 'audio'
      part('rewind').hidden = !interrupted || isOpening
    },
    close(): void {
      segment = null
      clearTimeout(ending)
      measured?.stop()
      prompt.close()
    },
  }
}

/** "1:05". @param seconds may be unknown. */
const formatTime = (seconds: number): string =>
  Number.isFinite(seconds)
    ? new Date(seconds * 1_000)
        .toISOString()
        .slice(seconds < 3_600 ? 14 : 11, 19)
        .replace(/^0/, '')
    : '…'

/** Media actions that are blocked, because media keys would pause the prompt. */
const MEDIA_ACTIONS = ['pause', 'stop', 'seekbackward', 'seekforward', 'seekto'] as const
const LOAD_WITHIN_MS = 20_000

/** Loads the prompt completely, so that it plays without a break. */
function loadPrompt({ session }: Player, number: number, panel: HTMLElement) {
  const kind = panel.dataset.simultaneous === 'video' ? 'video' : 'audio'
  const look = kind === 'video' ? 'mt-4 w-full max-w-xl rounded-box video-ground' : ''
  const media = createElement(kind, { class: look, hidden: true, playsinline: true, disablepictureinpicture: true })
  panel.prepend(media)
  let from = 0
  const setKeys = (act: (() => void) | null) => {
    for (const action of MEDIA_ACTIONS) navigator.mediaSession?.setActionHandler(action, act)
  }
  setKeys(() => {})

  async function fetchPrompt(): Promise<string> {
    const until = performance.now() + LOAD_WITHIN_MS
    const { link } = (await session.send('POST', `/questions/${number}/plays`, { until })) as { link?: string }
    const answer = await fetch(panel.dataset.address || `${session.base}/plays/${link}/${kind}`).catch(refuseUnreachable)
    if (!answer.ok) throw new Refusal('not_granted')
    return URL.createObjectURL(await answer.blob().catch(refuseUnreachable))
  }

  const waitFor = (event: 'loadedmetadata' | 'seeked') =>
    new Promise<void>((resolve, reject) => {
      const refuse = () => reject(new Refusal('unplayable'))
      media.addEventListener(event, () => resolve(), { once: true })
      media.addEventListener('error', refuse, { once: true })
      setTimeout(refuse, LOAD_WITHIN_MS)
    })

  return {
    media,
    /** Start position in seconds. */
    from: () => from,
    /** @param start seconds. @throws Refusal if it can't be played. */
    async load(start: number): Promise<void> {
      from = start
      if (!media.src) media.src = await fetchPrompt()
      await playOnChosen(media)
      if (media.readyState < HTMLMediaElement.HAVE_METADATA) await waitFor('loadedmetadata')
      if (media.currentTime === start) return
      media.currentTime = start
      await waitFor('seeked')
    },
    close(): void {
      media.pause()
      URL.revokeObjectURL(media.src)
      setKeys(null)
    },
  }
}

function refuseUnreachable(): never {
  throw new Refusal('unreachable')
}

/** After this many tries the candidate may go on, even if the microphone hears the tone. The grader sees the result. */
const MOST_TRIES = 2
/** Result from an earlier question, so that the check is done once. */
let knownResult: HeadphoneCheck | null = null

/** @param tried called after the tone was played. */
function askForHeadphones({ t, devices }: Player, section: HTMLElement, tried: () => void) {
  const box = section.querySelector('input')!
  const before = section.querySelector('button')!
  const mistake = createElement('p', { class: 'mistake', role: 'alert', hidden: true })
  const button = createButton(before.textContent, tryTone, before.className)
  before.replaceWith(button)
  button.after(mistake)
  let result = knownResult
  let isDone = false
  let tries = 0

  async function tryTone(): Promise<void> {
    show(null)
    devices.close({ audio: true, video: false }) // Safari mutes the first of two captures
    try {
      result = await checkHeadphones()
      tries++
      isDone = result !== 'heard' || tries >= MOST_TRIES
      show(result)
      tried()
    } catch (error) {
      setNotice(mistake, await explainFailure(t, error, 'microphone'))
    }
  }

  function show(shownResult: HeadphoneCheck | null): void {
    setNotice(mistake, '')
    for (const line of section.querySelectorAll<HTMLElement>('[data-tone]')) line.hidden = line.dataset.tone !== shownResult
  }

  return {
    result: (): HeadphoneCheck => result ?? 'unknown',
    isKnown: () => knownResult !== null,
    /** @returns false until the candidate has played the tone and confirmed wearing headphones. */
    accept(): boolean {
      if (isDone && box.checked) knownResult = result
      return knownResult !== null
    },
  }
}
