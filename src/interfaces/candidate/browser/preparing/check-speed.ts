import { createButton, createElement } from '../../../../http/browser/dom.ts'
import { createStep, type Preparation, type Step } from './step.ts'

const SAMPLE_BYTES = 400_000
const SAMPLES = 2
/** Bits per second of a recorded answer and a screen recording together. */
const NEEDED = 932_000

/** Measures the upload speed. A slow connection only causes a warning, because recordings wait on the device. */
export function measureSpeed(preparing: Preparation): Step {
  const { t, session } = preparing
  const retryButton = createButton(t.text('speed.again'), measure, 'btn')
  const step = createStep(
    preparing,
    { name: 'connection', title: t.text('speed.title'), text: t.text('speed.text'), isPassed: false },
    createElement('div', { class: 'mt-3 flex flex-wrap gap-3' }, retryButton),
  )
  void measure()

  async function measure(): Promise<void> {
    step.setPassed(false, t.text('speed.measuring'))
    step.fail('')
    const bytes = crypto.getRandomValues(new Uint8Array(65_536))
    const sample = new Blob(Array.from({ length: Math.ceil(SAMPLE_BYTES / bytes.length) }, () => bytes))
    try {
      await session.send('POST', '/speed', { bytes: new Blob([bytes]), until: 0 }) // opens the connection
      const began = performance.now()
      for (let i = 0; i < SAMPLES; i++) await session.send('POST', '/speed', { bytes: sample, until: 0 })
      show((sample.size * SAMPLES * 8_000) / (performance.now() - began))
    } catch {
      step.setPassed(false, t.text('speed.unmeasured'))
      step.fail(t.text('speed.failed'))
    }
  }

  function show(bitsPerSecond: number): void {
    const isEnough = bitsPerSecond >= NEEDED
    const speed = (bitsPerSecond / 1_000_000).toLocaleString(t.language, { maximumSignificantDigits: 2 })
    step.fail(isEnough ? '' : t.text('speed.slow.text'))
    step.setPassed(true, t.text(isEnough ? 'speed.fast' : 'speed.slow', { speed }))
  }

  return { ...step.step, close: () => {} }
}
