// Messages for device errors, by the name of the browser's error, with the fix for this browser.

import type { BrowserTexts } from '../../../../locales/texts.ts'

export type DeviceKind = 'camera' | 'microphone' | 'both' | 'screen'

/** Devices that the browser lists; null if it doesn't say. */
export type ListedDevices = { camera: boolean; microphone: boolean } | null

/** @property constraint constraint that no device meets, if the browser names it. @property agent the browser's user agent. */
export type Failure = { name: string; constraint?: string; device: DeviceKind; present: ListedDevices; agent: string }

/** Describes the error, and what to do. */
export function formatDeviceFailure(t: BrowserTexts, failure: Failure): string {
  const { name, device } = failure
  const words = Object.hasOwn(WORDS, name) ? WORDS[name]!(t, failure) : ''
  return words || (name ? t.text('device.unknown', { device, name }) : t.text('device.unnamed', { device }))
}

const WORDS: Record<string, (t: BrowserTexts, failure: Failure) => string> = {
  NotAllowedError: (t, { device, agent }) =>
    device === 'screen'
      ? t.text(/Macintosh/.test(agent) ? 'device.share.mac' : 'device.share')
      : t.text(howToAllow(agent), { device }),
  NotFoundError: (t, failure) => formatMissingDevice(t, failure) || formatNoDevice(t, failure),
  NotReadableError: (t, { device }) => t.text('device.busy', { device }),
  // Safari also reports this for a missing device.
  OverconstrainedError: (t, failure) => formatMissingDevice(t, failure) || formatUnfitDevice(t, failure),
  NotSupportedError: (t) => t.text('device.no_type'),
  AbortError: (t, { device }) => t.text('device.aborted', { device }),
  InvalidStateError: (t) => t.text('device.not_in_front'),
  SecurityError: (t) => t.text('device.forbidden'),
}

/** Names the missing devices; empty if all are present, or if the browser doesn't say. */
function formatMissingDevice(t: BrowserTexts, { device, present }: Failure): string {
  if (!present || device === 'screen') return ''
  const missing = (['camera', 'microphone'] as const).filter((kind) => (device === 'both' || device === kind) && !present[kind])
  const [first] = missing
  return first ? t.text(`device.missing.${missing.length > 1 ? 'both' : first}`) : ''
}

const formatNoDevice = (t: BrowserTexts, { device }: Failure): string =>
  device === 'screen' ? t.text('device.none.screen') : t.text('device.none', { device })

/** Constraints that only cameras have. */
const OF_CAMERAS = ['width', 'height', 'frameRate', 'aspectRatio', 'facingMode', 'resizeMode']

function formatUnfitDevice(t: BrowserTexts, { device, constraint }: Failure): string {
  if (!constraint) return t.text('device.unfit', { device })
  const unfitDevice = OF_CAMERAS.includes(constraint) ? 'camera' : 'microphone'
  return t.text('device.unfit.named', { device: device === 'both' ? unfitDevice : device, constraint })
}

function howToAllow(agent: string) {
  if (/iPhone|iPad/.test(agent)) return 'device.allow.iphone'
  if (/Firefox\//.test(agent)) return 'device.allow.firefox'
  return /Safari\//.test(agent) && !/Chrom/.test(agent) ? 'device.allow.safari' : 'device.allow.others'
}
