import { button, make, setNotice, wait } from '../../../http/browser/dom.ts'
import { showStream, type Wanted } from './devices.ts'
import { type DeviceKind, explainFailure, obstacle } from './failures.ts'
import { measureLevel } from './meter.ts'
import type { Player } from './player.ts'
import { typeFor } from './recorder.ts'
import { makeStep, type Report, type Step, wordUnsent } from './step.ts'

const SAMPLE_MS = 3_000
const SILENCE =
  'Nothing is heard. Say something; if the bar does not move, choose another microphone in the browser or in your device’s settings.'

/** Camera and microphone, together or one of them: seen, heard, and three seconds recorded and played back. */
export function checkCameraAndMicrophone({ devices, state }: Player, wanted: Wanted, report: Report): Step {
  const device: DeviceKind = wanted.audio && wanted.video ? 'camera and microphone' : wanted.video ? 'camera' : 'microphone'
  const checks = [...(wanted.video ? ['camera'] : []), ...(wanted.audio ? ['microphone'] : [])]
  const preview = make('video', { class: 'preview', hidden: true, 'aria-label': 'What your camera sees' })
  const level = make('meter', { min: '0', max: '1', hidden: true, 'aria-label': 'How loud you are' })
  const silence = make('p', { class: 'mistake', role: 'status', hidden: true })
  const playback = make('video', {
    class: 'preview',
    controls: true,
    hidden: true,
    playsinline: true,
    'aria-label': 'What was recorded',
  })
  const tryIt = button(`Try your ${device}`, open)
  const sample = button('Record three seconds', recordSample)
  sample.hidden = true
  const isPassed = checks.every((check) => state.checks.passed.includes(check))
  const step = makeStep(
    device[0]!.toUpperCase() + device.slice(1),
    `Nothing of this is kept. The browser asks whether this page may use your ${device}: allow it.`,
    isPassed,
    preview,
    level,
    silence,
    playback,
    make('div', { class: 'actions' }, tryIt, sample),
  )
  let stream: MediaStream | null = null
  let wasHeard = false
  let stopMeter = () => {}

  async function open(): Promise<void> {
    step.fail('')
    try {
      stream = await devices.open(wanted)
    } catch (error) {
      return step.fail(obstacle(device) || explainFailure(error, device))
    }
    if (wanted.video) await showStream(preview, stream)
    preview.hidden = !wanted.video
    level.hidden = !wanted.audio
    sample.hidden = false
    tryIt.hidden = true
    sample.focus()
    for (const track of stream.getTracks()) track.onended = () => lost()
    if (wanted.audio) listen(stream)
  }

  function listen(to: MediaStream): void {
    stopMeter()
    stopMeter = measureLevel(to, {
      level: (value) => {
        level.value = value
      },
      silent: (is) => {
        wasHeard ||= !is
        setNotice(silence, is ? SILENCE : '')
      },
    })
  }

  function lost(): void {
    step.fail(`Your ${device} was disconnected. Connect it, then try again.`)
    sample.hidden = true
    tryIt.hidden = false
  }

  async function recordSample(): Promise<void> {
    if (!stream) return
    step.fail('')
    sample.textContent = 'Recording… say something'
    let recorded: Blob
    try {
      recorded = await recordFor(stream, SAMPLE_MS)
    } catch (error) {
      return step.fail(explainFailure(error, device))
    } finally {
      sample.textContent = 'Record three seconds again'
    }
    if (recorded.size === 0) return step.fail(`Nothing was recorded. Your ${device} may be in use by another program.`)
    playBack(recorded)
    if (wanted.audio && !wasHeard)
      return step.fail('Nothing was heard in what you recorded. Check your microphone, then record again.')
    await report(checks).then(
      () =>
        step.setPassed(
          true,
          'Done. Play it back: if you can’t see or hear yourself well, change what is needed and record again.',
        ),
      (error) => step.fail(wordUnsent(error)),
    )
  }

  function playBack(recorded: Blob): void {
    URL.revokeObjectURL(playback.src)
    playback.src = URL.createObjectURL(recorded)
    playback.hidden = false
    playback.classList.toggle('sound-only', !wanted.video)
    void playback.play().catch(() => {}) // the candidate can press its button
  }

  return {
    element: step.element,
    close() {
      stopMeter()
      URL.revokeObjectURL(playback.src)
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
  await wait(milliseconds)
  if (recorder.state !== 'inactive') recorder.stop()
  await stopped
  return new Blob(slices, { type: recorder.mimeType })
}
