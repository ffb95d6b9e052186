import { button, make } from '../../../http/browser/dom.ts'
import type { DeviceKind } from './devices/device-words.ts'
import { showStream, takeStill } from './devices/devices.ts'
import { explainFailure, obstacle } from './session/failures.ts'
import type { Player } from './session/player.ts'
import { type Recorder, startRecorder } from './session/recorder.ts'
import { Refusal } from './session/session.ts'
import { wordFailure } from './session/wording.ts'

const STILL_EVERY_MS = 30_000
const STILL_QUALITY = 0.7
/** How often it is asked whether the organization has waived what is missing. */
const ASK_FOR_WAIVER_MS = 10_000

const NO_SCREEN =
  'Your screen is not being recorded. This assessment asks for it: you can go on when you share it again. What you write is saved meanwhile, and your time runs. If you can’t share it, tell whoever invited you: they can let you go on without it.'
const NO_CAMERA = 'Your webcam is not on. This assessment asks for it.'

/**
 * Records what the organization asked for, from the start to the end, across all questions: the screen, and the webcam.
 *
 * @param onScreenBack the candidate, who could not go on without it, can.
 */
export function watchSession(
  { session, outbox, devices, notes, status }: Omit<Player, 'state' | 'refresh'>,
  onScreenBack: () => void,
) {
  let screen: Recorder | null = null
  let webcam: Recorder | null = null
  let stills: ReturnType<typeof setInterval> | undefined
  let isOn = false
  /** The first try to record the screen. */
  let beginning: Promise<string> = Promise.resolve('')
  let waiting: ReturnType<typeof setInterval> | undefined
  const wanted = { screen: false, webcam: '' }

  /** @param capture what is recorded: screen, webcam. @param as how the webcam is: stills or video. */
  function begin(capture: string[], as: string, deadlineAt: string | null): void {
    if (!isOn) void beginAll(capture, as, deadlineAt)
    else if (!capture.includes('screen')) waiveScreen(deadlineAt)
  }

  async function beginAll(capture: string[], as: string, deadlineAt: string | null): Promise<void> {
    isOn = true
    wanted.screen = capture.includes('screen')
    wanted.webcam = capture.includes('webcam') ? as : ''
    notes.begin()
    void devices.stayAwake()
    if (wanted.screen && devices.sharedScreen()) beginning = attempt('screen', recordScreen(deadlineAt))
    const screenFailure = await beginning
    const webcamFailure = wanted.webcam ? await attempt('camera', useWebcam(deadlineAt)) : ''
    askForMissing(deadlineAt, screenFailure || webcamFailure)
  }

  /** @returns what went wrong, in sentences; empty when nothing did. */
  const attempt = (device: DeviceKind, work: Promise<void>): Promise<string> =>
    work.then(
      () => '',
      async (error) =>
        error instanceof Refusal ? wordFailure(error.code) : obstacle(device) || (await explainFailure(error, device)),
    )

  async function recordScreen(deadlineAt: string | null): Promise<void> {
    const stream = await devices.shareScreen()
    const { mediaId } = (await session.post('/media', { kind: 'screen' })) as { mediaId: string }
    const recording = outbox.begin(mediaId, 'screen', deadlineAt)
    screen = startRecorder('screen', stream, outbox, recording, {
      lost: async () => null,
      ended: () => {
        screen = null
        notes.note('sharing_ended')
        askForMissing(deadlineAt)
      },
    })
    notes.note('sharing_begun')
  }

  async function useWebcam(deadlineAt: string | null): Promise<void> {
    const stream = await devices.open({ audio: false, video: true })
    if (wanted.webcam === 'stills') return takeStills(stream, deadlineAt)
    const { mediaId } = (await session.post('/media', { kind: 'webcam' })) as { mediaId: string }
    const recording = outbox.begin(mediaId, 'webcam', deadlineAt)
    webcam = startRecorder('webcam', stream, outbox, recording, {
      lost: () => reopenCamera(),
      ended: () => {
        webcam = null
        askForMissing(deadlineAt)
      },
    })
  }

  async function reopenCamera(): Promise<MediaStream | null> {
    notes.note('camera_lost')
    return devices.open({ audio: false, video: true }).catch(() => null)
  }

  async function takeStills(stream: MediaStream, deadlineAt: string | null): Promise<void> {
    const video = make('video')
    await showStream(video, stream)
    const send = async () => {
      if (!video.videoWidth) return
      const { jpeg } = await takeStill(video, STILL_QUALITY)
      // The next one comes anyway.
      const until = performance.now() + STILL_EVERY_MS
      await session.send('PUT', '/photos/webcam_still', { bytes: jpeg, type: 'image/jpeg', until }).catch(() => {})
    }
    stream.getVideoTracks()[0]!.addEventListener('ended', async () => {
      if (!isOn) return
      stopStills()
      notes.note('camera_lost')
      await useWebcam(deadlineAt).catch(() => {}) // perhaps there is another
      askForMissing(deadlineAt)
    })
    stills = setInterval(send, STILL_EVERY_MS)
    void send() // it may have to wait, and what else is missing is asked for meanwhile
  }

  function stopStills(): void {
    clearInterval(stills)
    stills = undefined
  }

  /** A share, and after a reload a camera, can only be had by a click of the candidate. */
  function askForMissing(deadlineAt: string | null, failure = ''): void {
    const lacksCamera = isOn && wanted.webcam !== '' && !webcam && stills === undefined
    status.ask()
    waitForWaiver(deadlineAt)
    if (!lacksScreen() && !lacksCamera) return
    const isScreen = lacksScreen()
    const device = isScreen ? 'screen' : 'camera'
    const text = isScreen ? NO_SCREEN : NO_CAMERA
    const mistake = make('p', { class: 'mistake' }, failure)
    const again = button(isScreen ? 'Share my screen' : 'Turn my webcam on', async () => {
      mistake.textContent = await attempt(device, isScreen ? recordScreen(deadlineAt) : useWebcam(deadlineAt))
      if (mistake.textContent === '') askForMissing(deadlineAt)
    })
    status.ask(make('div', { class: 'notice bad' }, make('p', {}, text), mistake, again))
    status.say(text)
  }

  const lacksScreen = (): boolean => isOn && wanted.screen && !screen

  function waitForWaiver(deadlineAt: string | null): void {
    clearInterval(waiting)
    if (lacksScreen()) waiting = setInterval(() => void askForWaiver(deadlineAt), ASK_FOR_WAIVER_MS)
    else onScreenBack()
  }

  async function askForWaiver(deadlineAt: string | null): Promise<void> {
    const waived = await session.read().then(
      ({ checks }) => checks.waived,
      (): string[] => [], // it is asked again
    )
    if (waived.includes('screen')) waiveScreen(deadlineAt)
  }

  /** What is being recorded goes on. */
  function waiveScreen(deadlineAt: string | null): void {
    const wasLacking = lacksScreen()
    wanted.screen = false
    if (wasLacking) askForMissing(deadlineAt)
  }

  return {
    begin,
    /** Whether the candidate may go on: not while the screen has to be recorded and is not. */
    async mayGoOn(deadlineAt: string | null): Promise<boolean> {
      await beginning
      if (lacksScreen()) await askForWaiver(deadlineAt)
      return !lacksScreen()
    },
    /** Stops everything. @returns when the last parts are in the outbox. */
    async end(): Promise<void> {
      isOn = false
      clearInterval(waiting)
      stopStills()
      status.ask()
      await Promise.all([screen?.stop(), webcam?.stop()])
      screen = webcam = null
      await notes.send()
      notes.end()
      devices.closeAll()
    },
  }
}
