import { button, make, setNotice, wait } from '../../../http/browser/dom.ts'
import type { DeviceKind } from './device-words.ts'
import { showStream, type Wanted } from './devices.ts'
import { explainFailure, obstacleToRecord } from './failures.ts'
import { measureLevel, measureRecording } from './meter.ts'
import type { Player } from './player.ts'
import { typeFor } from './recorder.ts'
import { isSound } from './silence.ts'
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
  /** Whether the browser can tell how loud it is while it records. */
  let isMeasured = false
  let stopMeter = () => {}

  const impossible = obstacleToRecord(device)
  if (impossible) step.fail(impossible)

  async function open(): Promise<void> {
    step.fail(impossible)
    if (impossible) return
    try {
      stream = await devices.open(wanted)
    } catch (error) {
      return step.fail(await explainFailure(error, device))
    }
    if (wanted.video) await showStream(preview, stream)
    preview.hidden = !wanted.video
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
        isMeasured = true
        level.hidden = false
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
      return step.fail(await explainFailure(error, device))
    } finally {
      sample.textContent = 'Record three seconds again'
    }
    if (recorded.size === 0) return step.fail(wordNothing(stream))
    playBack(recorded)
    const loudness = wanted.audio && !wasHeard ? await loudnessOf(recorded) : 1
    if (loudness !== null && !isSound(loudness))
      return step.fail('Nothing was heard in what you recorded. Check your microphone, then record again.')
    await report(checks).then(
      () =>
        step.setPassed(
          true,
          loudness === null
            ? 'Done, but this browser can’t tell whether you are heard. Play it back: go on only if you hear yourself.'
            : 'Done. Play it back: if you can’t see or hear yourself well, change what is needed and record again.',
        ),
      (error) => step.fail(wordUnsent(error)),
    )
  }

  /** A meter that has run and heard nothing has heard silence; of one that did not run the sample decides. */
  const loudnessOf = async (recorded: Blob): Promise<number | null> => (isMeasured ? 0 : measureRecording(recorded))

  function wordNothing(of: MediaStream): string {
    return of.getTracks().some(({ muted }) => muted)
      ? `Your ${device} is switched off or muted, by a switch on it or in your device’s settings. Switch it on, then record again.`
      : `Your ${device} works, but this browser recorded nothing of it. Record again; if it stays so, use another browser.`
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
