// What went wrong with a device, by the browser's name for it, and what to do about it in this browser.

export type DeviceKind = 'camera' | 'microphone' | 'camera and microphone' | 'screen'

/** Browsers inside other apps: they open links, and have no camera. */
const IN_APP = /FBAN|FBAV|Instagram|Line\/|LinkedInApp|MicroMessenger|Snapchat|TikTok|BytedanceWebview|GSA\/|; wv\)/

export const isInApp = (): boolean => IN_APP.test(navigator.userAgent)

export const canShareScreen = (): boolean => Boolean(navigator.mediaDevices?.getDisplayMedia)

/** Why no device can be tried here at all; empty where it can. */
export function obstacle(device: DeviceKind): string {
  if (isInApp())
    return 'This page is open inside another app, which has no access to your devices. Open the link from your invitation in Chrome, Edge, Firefox or Safari.'
  if (!window.isSecureContext)
    return 'This page was not loaded over a secure connection (https), so the browser gives it no access to devices. Please tell whoever invited you.'
  if (device === 'screen' && !canShareScreen())
    return 'This browser can’t share a screen: phones and tablets can’t. Open the link from your invitation on a computer, in Chrome, Edge, Firefox or Safari.'
  if (!navigator.mediaDevices || typeof MediaRecorder === 'undefined')
    return 'This browser is too old to record. Please update it, or use a recent Chrome, Edge, Firefox or Safari.'
  return ''
}

/** In sentences: what happened and what to do. */
export function explainFailure(error: unknown, device: DeviceKind): string {
  const name = error instanceof DOMException || error instanceof Error ? error.name : ''
  const explanation = explanations[name]?.(device)
  return explanation ?? `Your ${device} could not be used (${name || 'unknown'}). Try again; if it stays so, try another browser.`
}

const explanations: Record<string, (device: DeviceKind) => string> = {
  NotAllowedError: (device) =>
    device === 'screen'
      ? `Sharing was cancelled, or is not allowed. Try again, choose your screen and press Share.${onMac()}`
      : `The browser was not allowed to use your ${device}. ${howToAllow()}, then try again.`,
  NotFoundError: (device) => `No ${device} was found. Connect one, or switch it on, then try again.`,
  NotReadableError: (device) =>
    `Your ${device} is there, but does not answer. Another program may be using it: close video calls and the like, then try again.`,
  OverconstrainedError: (device) => `Your ${device} can’t record in the way that is needed. Connect another one, then try again.`,
  AbortError: (device) => `Your ${device} stopped before it was ready. Try again.`,
  InvalidStateError: () => 'The browser did not ask you, because this page was not in front. Try again.',
  SecurityError: () => 'The settings of this browser, or of your organization, forbid it. Try another browser.',
}

function howToAllow(): string {
  const agent = navigator.userAgent
  if (/iPhone|iPad/.test(agent)) return 'Press “aA” in the address bar, then Website Settings, and allow it'
  if (/Firefox\//.test(agent)) return 'Press the crossed-out camera or microphone in the address bar, remove the block'
  if (/Safari\//.test(agent) && !/Chrom/.test(agent)) return 'In the menu Safari, Settings for This Website, allow it'
  return 'Press the icon at the left of the address bar, and allow it'
}

const onMac = (): string =>
  /Macintosh/.test(navigator.userAgent)
    ? ' On a Mac the browser needs the permission itself: System Settings, Privacy & Security, Screen Recording.'
    : ''
