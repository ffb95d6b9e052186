// What went wrong with a device, by the browser's name for it, and what to do about it in this browser.

export type DeviceKind = 'camera' | 'microphone' | 'camera and microphone' | 'screen'

/** Which devices the browser lists; null where it does not say. */
export type Present = { camera: boolean; microphone: boolean } | null

/** @param constraint what no device could do, where the browser names it. @param agent the browser's name of itself. */
export type Failure = { name: string; constraint?: string; device: DeviceKind; present: Present; agent: string }

/** In sentences: what happened and what to do. */
export function wordDeviceFailure(failure: Failure): string {
  const { name, device } = failure
  const words = Object.hasOwn(WORDS, name) ? WORDS[name]!(failure) : ''
  return words || `Your ${device} could not be used (${name || 'unknown'}). Try again; if it stays so, try another browser.`
}

const WORDS: Record<string, (failure: Failure) => string> = {
  NotAllowedError: ({ device, agent }) =>
    device === 'screen'
      ? `Sharing was cancelled, or is not allowed. Try again, choose your screen and press Share.${onMac(agent)}`
      : `The browser was not allowed to use your ${device}. ${howToAllow(agent)}, then try again.`,
  NotFoundError: (failure) => wordMissing(failure) || wordNoneFound(failure),
  NotReadableError: ({ device }) =>
    `Your ${device} is there, but does not answer. Another program may be using it: close video calls and the like, then try again.`,
  // Safari calls a device so that is not there, too.
  OverconstrainedError: (failure) => wordMissing(failure) || wordUnfit(failure),
  NotSupportedError: () => NO_TYPE,
  AbortError: ({ device }) => `Your ${device} stopped before it was ready. Try again.`,
  InvalidStateError: () => 'The browser did not ask you, because this page was not in front. Try again.',
  SecurityError: () => 'The settings of this browser, or of your organization, forbid it. Try another browser.',
}

export const NO_TYPE =
  'This browser records in no format that is taken here. Please update it, or use a recent Chrome, Edge, Firefox or Safari.'

/** @returns which device is not there, in sentences; empty where all are, or nobody knows. */
function wordMissing({ device, present }: Failure): string {
  if (!present || device === 'screen') return ''
  const missing = (['camera', 'microphone'] as const).filter((kind) => device.includes(kind) && !present[kind])
  if (missing.length === 0) return ''
  const it = missing.length > 1 ? 'them' : 'it'
  return `No ${missing.join(' and no ')} was found. Connect ${it}, or switch ${it} on, then try again.`
}

function wordNoneFound({ device }: Failure): string {
  if (device === 'screen')
    return 'There was no screen to share. Open the link on a computer, see that its screen is on, then try again.'
  const one = device === 'camera and microphone' ? 'camera, or no microphone,' : device
  return `The browser found no ${one} that it can use. Connect another one, or switch it on, then try again.`
}

/** What is asked of cameras alone. */
const OF_CAMERAS = ['width', 'height', 'frameRate', 'aspectRatio', 'facingMode', 'resizeMode']

function wordUnfit({ device, constraint = '' }: Failure): string {
  const both = constraint === '' ? 'camera or microphone' : OF_CAMERAS.includes(constraint) ? 'camera' : 'microphone'
  const which = device === 'camera and microphone' ? both : device
  return `Your ${which} can’t record in the way that is needed${constraint && ` (${constraint})`}. Connect another one, then try again.`
}

function howToAllow(agent: string): string {
  if (/iPhone|iPad/.test(agent)) return 'Press “aA” in the address bar, then Website Settings, and allow it'
  if (/Firefox\//.test(agent)) return 'Press the crossed-out camera or microphone in the address bar, remove the block'
  if (/Safari\//.test(agent) && !/Chrom/.test(agent)) return 'In the menu Safari, Settings for This Website, allow it'
  return 'Press the icon at the left of the address bar, and allow it'
}

const onMac = (agent: string): string =>
  /Macintosh/.test(agent)
    ? ' On a Mac the browser needs the permission itself: System Settings, Privacy & Security, Screen Recording.'
    : ''
