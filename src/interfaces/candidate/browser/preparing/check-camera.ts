import { button, make, setNotice, wait } from '../../../../http/browser/dom.ts'
import type { DeviceKind } from '../devices/device-words.ts'
import type { Wanted } from '../devices/devices.ts'
import { measureRecording } from '../devices/meter.ts'
import { makeMonitor, PICTURE } from '../devices/monitor.ts'
import { isSound } from '../devices/silence.ts'
import { explainFailure, obstacleToRecord } from '../session/failures.ts'
import type { Player } from '../session/player.ts'
import { typeFor } from '../session/recorder.ts'
import { makeStep, type Report, type Step, wordUnsent } from './step.ts'

const SAMPLE_MS = 3_000
const SILENCE =
  'Nothing is heard. Say something; if the bar does not move, choose another microphone in the browser or in your device’s settings.'
const NOT_HEARD = 'Nothing was heard in what you recorded. Check your microphone, then record again.'
const CERTAIN = 'Done. Play it back: if you can’t see or hear yourself well, change what is needed and record again.'
const UNCERTAIN = 'Done, but this browser can’t tell whether you are heard. Play it back: go on only if you hear yourself.'

/** Camera and microphone, together or one of them: seen, heard, and three seconds recorded and played back. */
export function checkCameraAndMicrophone({ devices, state }: Player, wanted: Wanted, report: Report): Step {
  const device: DeviceKind = wanted.audio && wanted.video ? 'camera and microphone' : wanted.video ? 'camera' : 'microphone'
  const checks = [...(wanted.video ? ['camera'] : []), ...(wanted.audio ? ['microphone'] : [])]
  const silence = make('p', { class: 'mistake', role: 'status', hidden: true })
  const monitor = makeMonitor((is) => setNotice(silence, is ? SILENCE : ''))
  const playback = makePlayback(wanted)
  const tryIt = button(`Try your ${device}`, open)
  const sample = button('Record three seconds', recordSample)
  const actions = make('div', { class: 'mt-3 flex flex-wrap gap-3' }, tryIt, sample)
  sample.hidden = true
  const step = makeStep(
    device[0]!.toUpperCase() + device.slice(1),
    `Nothing of this is kept. The browser asks whether this page may use your ${device}: allow it.`,
    checks.every((check) => state.checks.passed.includes(check)),
    ...[...monitor.elements, silence, playback.element, actions],
  )
  let stream: MediaStream | null = null

  const impossible = obstacleToRecord(device)
  step.fail(impossible)

  async function open(): Promise<void> {
    step.fail(impossible)
    if (impossible) return
    try {
      stream = await devices.open(wanted)
    } catch (error) {
      return step.fail(await explainFailure(error, device))
    }
    await monitor.watch(stream, wanted)
    monitor.show(true)
    offer(sample, tryIt)
    sample.focus()
    for (const track of stream.getTracks()) track.onended = () => lost()
  }

  function lost(): void {
    step.fail(`Your ${device} was disconnected. Connect it, then try again.`)
    offer(tryIt, sample)
  }

  async function recordSample(): Promise<void> {
    if (!stream) return
    step.fail('')
    sample.textContent = 'Recording… say something'
    const recorded = await recordFor(stream, SAMPLE_MS).catch(async (error) => step.fail(await explainFailure(error, device)))
    sample.textContent = 'Record three seconds again'
    if (recorded) await judge(recorded, stream)
  }

  /** A meter that has run and heard nothing has heard silence; of one that did not run the sample decides. */
  async function loudnessOf(recorded: Blob): Promise<number | null> {
    if (!wanted.audio) return 1
    const hasHeard = monitor.hasHeard()
    return hasHeard === null ? measureRecording(recorded) : Number(hasHeard)
  }

  async function judge(recorded: Blob, of: MediaStream): Promise<void> {
    if (recorded.size === 0) return step.fail(wordNothing(of, device))
    playback.show(recorded)
    const loudness = await loudnessOf(recorded)
    if (loudness !== null && !isSound(loudness)) return step.fail(NOT_HEARD)
    await report(checks).then(
      () => step.setPassed(true, loudness === null ? UNCERTAIN : CERTAIN),
      (error) => step.fail(wordUnsent(error)),
    )
  }

  return {
    element: step.element,
    close() {
      monitor.close()
      playback.close()
    },
  }
}

function offer(offered: HTMLElement, instead: HTMLElement): void {
  offered.hidden = false
  instead.hidden = true
}

/** Why nothing may have come of what was recorded. */
const wordNothing = (of: MediaStream, device: DeviceKind): string =>
  of.getTracks().some(({ muted }) => muted)
    ? `Your ${device} is switched off or muted, by a switch on it or in your device’s settings. Switch it on, then record again.`
    : `Your ${device} works, but this browser recorded nothing of it. Record again; if it stays so, use another browser.`

/** Plays what was recorded. */
function makePlayback({ video }: Wanted) {
  const shown = { controls: true, hidden: true, playsinline: true, 'aria-label': 'What was recorded' }
  const element = make('video', { class: video ? PICTURE : 'h-14 w-80 max-w-full', ...shown })
  const close = () => URL.revokeObjectURL(element.src)
  return {
    element,
    show(recorded: Blob): void {
      close()
      element.src = URL.createObjectURL(recorded)
      element.hidden = false
      void element.play().catch(() => {}) // the candidate can press its button
    },
    close,
  }
}

async function recordFor(stream: MediaStream, milliseconds: number): Promise<Blob> {
  const mimeType = typeFor(stream.getVideoTracks().length > 0 ? 'video' : 'audio')
  const recorder = new MediaRecorder(stream, mimeType ? { mimeType } : {})
  const slices: Blob[] = []
  recorder.ondataavailable = ({ data }) => void slices.push(data)
  const stopped = new Promise((resolve) => recorder.addEventListener('stop', resolve, { once: true }))
  recorder.start()
  await wait(milliseconds)
  if (recorder.state !== 'inactive') recorder.stop()
  await stopped
  return new Blob(slices, { type: recorder.mimeType })
}
