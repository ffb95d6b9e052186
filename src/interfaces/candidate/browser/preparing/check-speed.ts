import { button, make } from '../../../../http/browser/dom.ts'
import type { Player } from '../session/player.ts'
import { makeStep, type Step } from './step.ts'

const SAMPLE_BYTES = 400_000
const SAMPLES = 2
/** What a recorded answer and the screen take together, in bits a second. */
const NEEDED = 932_000

/** How fast this connection sends. A slow one keeps nobody out: what is recorded waits on the device. */
export function measureSpeed({ session }: Player): Step {
  const again = button('Measure again', measure, 'btn')
  const step = makeStep(
    'Connection',
    'How fast your connection sends recordings.',
    false,
    make('div', { class: 'mt-3 flex flex-wrap gap-3' }, again),
  )
  void measure()

  async function measure(): Promise<void> {
    step.setPassed(false, 'Measuring…')
    step.fail('')
    const bytes = crypto.getRandomValues(new Uint8Array(65_536))
    const sample = new Blob(Array.from({ length: Math.ceil(SAMPLE_BYTES / bytes.length) }, () => bytes))
    try {
      await session.send('POST', '/speed', { bytes: new Blob([bytes]), until: 0 }) // opens the connection
      const began = performance.now()
      for (let i = 0; i < SAMPLES; i++) await session.send('POST', '/speed', { bytes: sample, until: 0 })
      show((sample.size * SAMPLES * 8_000) / (performance.now() - began))
    } catch {
      step.setPassed(false, 'Not measured')
      step.fail('The connection could not be measured. Try again; if it stays so, use another network.')
    }
  }

  function show(bitsPerSecond: number): void {
    const speed = `${(bitsPerSecond / 1_000_000).toLocaleString('en', { maximumSignificantDigits: 2 })} Mbit/s`
    step.setPassed(true, bitsPerSecond >= NEEDED ? `Fast enough: ${speed}` : `Slow: ${speed}`)
    if (bitsPerSecond >= NEEDED) return
    step.fail(
      'You can take the assessment all the same: what you record waits on this device and is sent as fast as it can be. Before you go on to the next question you may have to wait.',
    )
  }

  return { element: step.element, close: () => {} }
}
