import { createButton, createElement, setNotice, sleep } from '../../../../http/browser/dom.ts'
import type { CheckTexts } from '../../../../locales/texts.ts'
import { playOnChosen } from '../devices/chosen-devices.ts'
import type { DeviceKind } from '../devices/device-words.ts'
import type { WantedDevices } from '../devices/devices.ts'
import { measureRecording } from '../devices/meter.ts'
import { createMonitor, type Monitor, PICTURE } from '../devices/monitor.ts'
import { isSound } from '../devices/silence.ts'
import { explainFailure, obstacleToRecord } from '../session/failures.ts'
import { typeFor } from '../session/recorder.ts'
import { createDeviceChooser } from './choose-devices.ts'
import { createStep, formatSendFailure, type Preparation, type Report, type Step } from './step.ts'

const SAMPLE_MS = 3_000

/** Checks the camera, the microphone, or both: shows the picture and the level, then records three seconds and plays them back. */
export function checkCameraAndMicrophone(preparing: Preparation, wanted: WantedDevices, report: Report): Step {
  const { t, devices, state } = preparing
  const device = wanted.audio && wanted.video ? 'both' : wanted.video ? 'camera' : 'microphone'
  const checks = [...(wanted.video ? ['camera'] : []), ...(wanted.audio ? ['microphone'] : [])]
  const silence = createElement('p', { class: 'mistake', role: 'status', hidden: true })
  const monitor = createMonitor(t, (isSilent) => setNotice(silence, isSilent ? t.text('check.silent') : ''))
  const playback = createPlayback(t, wanted)
  const chooser = createDeviceChooser(t, wanted, (kind) => void reopen(kind))
  const live = createElement('p', { class: 'hint mt-3', hidden: true }, t.text(wanted.video ? 'device.preview' : 'device.level'))
  const tryIt = createButton(t.text('check.try', { device }), open)
  const sample = createButton(t.text('check.record'), recordSample)
  const actions = createElement('div', { class: 'mt-3 flex flex-wrap gap-3' }, tryIt, sample)
  sample.hidden = true
  const step = createStep(
    preparing,
    {
      name: 'devices',
      title: t.text('check.title', { device }),
      text: t.text('check.text', { device }),
      isPassed: checks.every((check) => state.checks.passed.includes(check)),
    },
    ...[chooser.element, live, ...monitor.elements, silence, playback.element, actions],
  )
  let stream: MediaStream | null = null

  const impossible = obstacleToRecord(t, device)
  step.fail(impossible)

  async function open(): Promise<void> {
    step.fail(impossible)
    if (!impossible && (await openDevices())) sample.focus()
  }

  async function openDevices(): Promise<boolean> {
    try {
      stream = await devices.open(wanted)
    } catch (error) {
      step.fail(await explainFailure(t, error, device))
      return false
    }
    await watch(stream)
    offer(sample, tryIt)
    return true
  }

  async function watch(openStream: MediaStream): Promise<void> {
    await monitor.watch(openStream, wanted)
    monitor.show(true)
    live.hidden = false
    for (const track of openStream.getTracks()) track.onended = () => lost()
    await chooser.show(openStream.getTracks().map((track) => track.getSettings().deviceId))
  }

  /** A newly chosen device has to be tested again. */
  async function reopen(kind: MediaDeviceKind): Promise<void> {
    playback.clear()
    if (kind === 'audiooutput') return
    step.fail('')
    devices.close({ audio: kind === 'audioinput', video: kind === 'videoinput' })
    if (!(await openDevices())) offer(tryIt, sample)
  }

  function lost(): void {
    step.fail(t.text('check.lost', { device }))
    offer(tryIt, sample)
  }

  async function recordSample(): Promise<void> {
    if (!stream) return
    step.fail('')
    sample.textContent = t.text('check.recording')
    const recorded = await recordFor(stream, SAMPLE_MS).catch(async (error) => step.fail(await explainFailure(t, error, device)))
    sample.textContent = t.text('check.record.again')
    if (recorded) await judge(recorded, stream)
  }

  async function judge(recorded: Blob, stream: MediaStream): Promise<void> {
    if (recorded.size === 0) return step.fail(explainEmptyRecording(t, stream, device))
    await playback.show(recorded)
    const loudness = wanted.audio ? await loudnessOf(recorded, monitor) : 1
    if (loudness !== null && !isSound(loudness)) return step.fail(t.text('check.unheard'))
    await report(checks).then(
      () => step.setPassed(true, loudness === null ? t.text('check.uncertain') : t.text('check.certain', { device }), true),
      (error) => step.fail(formatSendFailure(t, error)),
    )
  }

  return {
    ...step.step,
    close() {
      monitor.close()
      playback.clear()
    },
  }
}

/** 0 or 1 by the meter; loudness of the sample if the meter did not run, or null if the sample can't be decoded. */
async function loudnessOf(recorded: Blob, monitor: Monitor): Promise<number | null> {
  const hasHeard = monitor.hasHeard()
  return hasHeard === null ? measureRecording(recorded) : Number(hasHeard)
}

function offer(visible: HTMLElement, hidden: HTMLElement): void {
  visible.hidden = false
  hidden.hidden = true
}

/** Explains an empty recording. */
const explainEmptyRecording = (t: CheckTexts, stream: MediaStream, device: DeviceKind): string =>
  t.text(stream.getTracks().some(({ muted }) => muted) ? 'check.muted' : 'check.nothing', { device })

function createPlayback(t: CheckTexts, { video }: WantedDevices) {
  const attributes = { controls: true, playsinline: true, 'aria-label': t.text('check.recorded') }
  const player = createElement('video', { class: video ? PICTURE : 'h-14 w-80 max-w-full', ...attributes })
  const element = createElement(
    'div',
    { class: 'mt-3', hidden: true },
    createElement('p', { class: 'hint' }, t.text('check.recorded')),
    player,
  )
  const clear = () => {
    element.hidden = true
    URL.revokeObjectURL(player.src)
  }
  return {
    element,
    clear,
    async show(recorded: Blob): Promise<void> {
      clear()
      await playOnChosen(player)
      player.src = URL.createObjectURL(recorded)
      element.hidden = false
    },
  }
}

async function recordFor(stream: MediaStream, milliseconds: number): Promise<Blob> {
  const mimeType = typeFor(stream.getVideoTracks().length > 0 ? 'video' : 'audio')
  const recorder = new MediaRecorder(stream, mimeType ? { mimeType } : {})
  const slices: Blob[] = []
  recorder.ondataavailable = ({ data }) => void slices.push(data)
  const stopped = new Promise((resolve) => recorder.addEventListener('stop', resolve, { once: true }))
  recorder.start()
  await sleep(milliseconds)
  if (recorder.state !== 'inactive') recorder.stop()
  await stopped
  return new Blob(slices, { type: recorder.mimeType })
}
