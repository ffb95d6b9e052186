import { createElement } from '../../../../http/browser/dom.ts'
import type { BrowserTexts } from '../../../../locales/texts.ts'
import { createBars } from './bars.ts'
import { showStream, type WantedDevices } from './devices.ts'
import { measureLevel } from './meter.ts'

/** A picture of a camera, a screen or a photo. */
export const PICTURE = 'w-80 max-w-full max-h-80 rounded-box video-ground object-contain'

export type Monitor = ReturnType<typeof createMonitor>

/** Shows the camera's picture and, if the browser can measure it, the microphone's level. @param silent see measureLevel. */
export function createMonitor(t: BrowserTexts, silent: (isSilent: boolean) => void) {
  const preview = createElement('video', { class: PICTURE, hidden: true, 'aria-label': t.text('device.preview') })
  const bars = isMotionReduced() ? null : createBars()
  // For screen readers only, if the bars are visible.
  const level = createElement('meter', {
    class: bars ? 'sr-only' : 'h-5 w-64 max-w-full',
    hidden: true,
    min: '0',
    max: '1',
    'aria-label': t.text('device.level'),
  })
  bars?.element.toggleAttribute('hidden', true)
  let stopMeter = () => {}
  let isShown = false
  let heard: boolean | null = null

  function setLevel(value: number): void {
    heard ??= false
    showLevel()
    level.value = value
    bars?.add(value)
  }

  function showLevel(): void {
    const isSeen = isShown && heard !== null
    level.hidden = !isSeen
    bars?.element.toggleAttribute('hidden', !isSeen)
  }

  function setSilent(isSilent: boolean): void {
    heard ||= !isSilent
    silent(isSilent)
  }

  return {
    elements: [preview, ...(bars ? [bars.element] : []), level],
    /** True if any sound was heard; null if the browser can't tell. */
    hasHeard: () => heard,
    async watch(stream: MediaStream, { audio, video }: WantedDevices): Promise<void> {
      stopMeter()
      if (video) await showStream(preview, stream)
      if (audio) stopMeter = measureLevel(stream, { level: setLevel, silent: setSilent })
    },
    show(isVisible: boolean): void {
      isShown = isVisible
      preview.hidden = !isVisible || preview.srcObject === null
      showLevel()
    },
    close(): void {
      stopMeter()
      stopMeter = () => {}
      preview.srcObject = null
    },
  }
}

const isMotionReduced = (): boolean => matchMedia('(prefers-reduced-motion: reduce)').matches
