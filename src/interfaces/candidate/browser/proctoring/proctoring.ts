import { createButton, createElement } from '../../../../http/browser/dom.ts'
import type { BrowserTexts } from '../../../../locales/texts.ts'
import { explainFailure, obstacle } from '../session/failures.ts'
import type { Player } from '../session/player.ts'
import { Refusal } from '../session/session.ts'
import { formatFailure } from '../session/wording.ts'
import { captureScreen, captureWebcam } from './capture.ts'

/** Milliseconds between checks for a waiver by the organization. */
const ASK_FOR_WAIVER_MS = 10_000

const MISSING = {
  screen: { text: 'watch.screen', label: 'watch.screen.share' },
  camera: { text: 'watch.camera', label: 'watch.camera.open' },
} as const
type Device = keyof typeof MISSING

/**
 * Records the screen and the webcam, as the organization requires, from the start to the end of the assessment.
 *
 * @param onScreenBack called when the candidate can go on, because the screen is recorded or waived.
 */
export function watchSession(player: Omit<Player, 'state' | 'refresh'>, onScreenBack: () => void) {
  const { t, session, devices, notes, status } = player
  const captures = { screen: captureScreen(player, askForMissing), camera: captureWebcam(player, askForMissing) }
  let watch = { isOn: false, screen: false, camera: false, webcamMode: '' }
  /** The first try to record the screen. Resolves to the failure as text; empty on success. */
  let beginning = Promise.resolve('')
  let waiting: ReturnType<typeof setInterval> | undefined

  const lacks = (device: Device): boolean => watch.isOn && watch[device] && !captures[device].isRunning()

  async function beginAll(capture: string[], webcamMode: string, deadlineAt: string | null): Promise<void> {
    watch = { isOn: true, screen: capture.includes('screen'), camera: capture.includes('webcam'), webcamMode }
    notes.begin()
    void devices.stayAwake()
    if (watch.screen && devices.sharedScreen()) beginning = attempt('screen', deadlineAt)
    const screenFailure = await beginning
    const cameraFailure = watch.camera ? await attempt('camera', deadlineAt) : ''
    askForMissing(deadlineAt, screenFailure || cameraFailure)
  }

  /** @returns the failure as text; empty on success. */
  const attempt = (device: Device, deadlineAt: string | null): Promise<string> =>
    captures[device].begin(deadlineAt, watch.webcamMode).then(
      () => '',
      (error) => explain(t, error, device),
    )

  /** Shows a button for a missing device, because browsers start sharing only on a click, and after a reload also the camera. */
  function askForMissing(deadlineAt: string | null, failure = ''): void {
    status.ask()
    clearInterval(waiting)
    if (lacks('screen')) waiting = setInterval(() => void askForWaiver(deadlineAt), ASK_FOR_WAIVER_MS)
    else onScreenBack()
    const device = (['screen', 'camera'] as const).find(lacks)
    if (!device) return
    showMissing({ t, status }, device, failure, async () => {
      const failedAgain = await attempt(device, deadlineAt)
      if (failedAgain === '') askForMissing(deadlineAt)
      return failedAgain
    })
  }

  async function askForWaiver(deadlineAt: string | null): Promise<void> {
    const read = await session.read().catch(() => null) // the interval retries
    if (read?.checks.waived.includes('screen')) waiveScreen(deadlineAt)
  }

  /** Recordings in progress continue. */
  function waiveScreen(deadlineAt: string | null): void {
    const wasLacking = lacks('screen')
    watch = { ...watch, screen: false }
    if (wasLacking) askForMissing(deadlineAt)
  }

  return {
    /** @param capture captured devices: screen, webcam. @param webcamMode stills or video. */
    begin(capture: string[], webcamMode: string, deadlineAt: string | null): void {
      if (!watch.isOn) void beginAll(capture, webcamMode, deadlineAt)
      else if (!capture.includes('screen')) waiveScreen(deadlineAt)
    },
    /** False while the screen must be recorded but isn't. */
    async mayGoOn(deadlineAt: string | null): Promise<boolean> {
      await beginning
      if (lacks('screen')) await askForWaiver(deadlineAt)
      return !lacks('screen')
    },
    /** Stops all recordings. Resolves when the last parts are in the outbox. */
    async end(): Promise<void> {
      watch = { ...watch, isOn: false }
      clearInterval(waiting)
      status.ask()
      await Promise.all([captures.screen.stop(), captures.camera.stop()])
      await notes.send()
      notes.end()
      devices.closeAll()
    },
  }
}

export type Proctoring = ReturnType<typeof watchSession>

/** @param tryAgain returns the failure as text; empty on success. */
function showMissing(
  { t, status }: Pick<Player, 't' | 'status'>,
  device: Device,
  failure: string,
  tryAgain: () => Promise<string>,
): void {
  const text = t.text(MISSING[device].text)
  const mistake = createElement('p', { class: 'mistake' }, failure)
  const retryButton = createButton(t.text(MISSING[device].label), async () => {
    mistake.textContent = await tryAgain()
  })
  status.ask(
    createElement(
      'div',
      { class: 'notice alert alert-soft alert-error mt-3 flex flex-col items-start' },
      createElement('p', {}, text),
      mistake,
      retryButton,
    ),
  )
  status.say(text)
}

const explain = async (t: BrowserTexts, error: unknown, device: Device): Promise<string> =>
  error instanceof Refusal ? formatFailure(t, error.code) : obstacle(t, device) || (await explainFailure(t, error, device))
