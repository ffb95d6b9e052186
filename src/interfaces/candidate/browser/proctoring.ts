import { button, make } from '../../../http/browser/dom.ts'
import { showStream, takeStill } from './devices.ts'
import { type DeviceKind, explainFailure, obstacle } from './failures.ts'
import type { Player } from './player.ts'
import { type Recorder, startRecorder } from './recorder.ts'
import { Refusal } from './session.ts'
import { wordFailure } from './wording.ts'

const STILL_EVERY_MS = 30_000
const STILL_QUALITY = 0.7

/** Records what the organization asked for, from the start to the end, across all questions: the screen, and the webcam. */
export function watchSession({ session, outbox, devices, notes, status }: Omit<Player, 'state' | 'refresh'>) {
  let screen: Recorder | null = null
  let webcam: Recorder | null = null
  let stills: ReturnType<typeof setInterval> | undefined
  let isOn = false
  const wanted = { screen: false, webcam: '' }

  /** @param capture what is recorded: screen, webcam. @param as how the webcam is: stills or video. */
  async function begin(capture: string[], as: string, deadlineAt: string | null): Promise<void> {
    if (isOn) return
    isOn = true
    wanted.screen = capture.includes('screen')
    wanted.webcam = capture.includes('webcam') ? as : ''
    notes.begin()
    void devices.stayAwake()
    const screenFailure = wanted.screen && devices.sharedScreen() ? await attempt('screen', recordScreen(deadlineAt)) : ''
    const webcamFailure = wanted.webcam ? await attempt('camera', useWebcam(deadlineAt)) : ''
    askForMissing(deadlineAt, screenFailure || webcamFailure)
  }

  /** @returns what went wrong, in sentences; empty when nothing did. */
  const attempt = (device: DeviceKind, work: Promise<void>): Promise<string> =>
    work.then(
      () => '',
      (error) => (error instanceof Refusal ? wordFailure(error.code) : obstacle(device) || explainFailure(error, device)),
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
    const lacksScreen = isOn && wanted.screen && !screen
    const lacksCamera = isOn && wanted.webcam !== '' && !webcam && stills === undefined
    status.ask()
    if (!lacksScreen && !lacksCamera) return
    const device = lacksScreen ? 'screen' : 'camera'
    const text = lacksScreen
      ? 'Your screen is not being recorded. This assessment asks for it.'
      : 'Your webcam is not on. This assessment asks for it.'
    const mistake = make('p', { class: 'mistake' }, failure)
    const again = button(lacksScreen ? 'Share my screen' : 'Turn my webcam on', async () => {
      mistake.textContent = await attempt(device, lacksScreen ? recordScreen(deadlineAt) : useWebcam(deadlineAt))
      if (mistake.textContent === '') askForMissing(deadlineAt)
    })
    status.ask(make('div', { class: 'notice bad' }, make('p', {}, text), mistake, again))
    status.say(text)
  }

  return {
    begin,
    /** Stops everything. @returns when the last parts are in the outbox. */
    async end(): Promise<void> {
      isOn = false
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
