import type { BrowserTexts } from '../../../../locales/texts.ts'
import { type DeviceKind, formatDeviceFailure, type ListedDevices } from '../devices/device-words.ts'
import { typeFor } from './recorder.ts'
import { Refusal } from './session.ts'
import { formatFailure } from './wording.ts'

// Reasons why a device can't be used: limits of the browser or the page, and errors of the browser.

/** Browsers inside other apps, which have no access to the camera. */
const IN_APP = /FBAN|FBAV|Instagram|Line\/|LinkedInApp|MicroMessenger|Snapchat|TikTok|BytedanceWebview|GSA\/|; wv\)/

export const isInApp = (): boolean => IN_APP.test(navigator.userAgent)

export const canShareScreen = (): boolean => Boolean(navigator.mediaDevices?.getDisplayMedia)

/** Reason why devices can't be opened in this browser; empty if they can. */
export function obstacle(t: BrowserTexts, device: DeviceKind): string {
  if (isInApp()) return t.text('device.in_app')
  if (!window.isSecureContext) return t.text('device.insecure')
  if (device === 'screen' && !canShareScreen()) return t.text('device.no_sharing')
  if (!navigator.mediaDevices || typeof MediaRecorder === 'undefined') return t.text('device.too_old')
  return ''
}

/** Reason why this browser can't record the device; empty if it can. */
export const obstacleToRecord = (t: BrowserTexts, device: DeviceKind): string =>
  obstacle(t, device) || (typeFor(device === 'microphone' ? 'audio' : 'video') ? '' : t.text('device.no_type'))

/** Describes the error, and what to do. @param error the browser's error about the device, or a Refusal by the service. */
export async function explainFailure(t: BrowserTexts, error: unknown, device: DeviceKind): Promise<string> {
  if (error instanceof Refusal) return formatFailure(t, error.code)
  const name = error instanceof DOMException || error instanceof Error ? error.name : ''
  const { constraint } = error as { constraint?: string }
  const present = await listDevices()
  const denied = name === 'NotAllowedError' && device === 'both' ? await findDenied() : []
  const [only = device] = denied.length === 1 ? denied : []
  return formatDeviceFailure(t, { name, ...(constraint && { constraint }), device: only, present, agent: navigator.userAgent })
}

/** Denied devices; empty if the browser doesn't say. */
async function findDenied(): Promise<('camera' | 'microphone')[]> {
  const names = ['camera', 'microphone'] as const
  const queries = names.map((name) => navigator.permissions?.query({ name: name as PermissionName }).then(({ state }) => state))
  const states = await Promise.all(queries).catch(() => []) // Firefox before 132 supports neither name
  return names.filter((_, i) => states[i] === 'denied')
}

async function listDevices(): Promise<ListedDevices> {
  const listed = await navigator.mediaDevices?.enumerateDevices().catch(() => null)
  if (!listed) return null
  const hasDevice = (kind: MediaDeviceKind) => listed.some((device) => device.kind === kind)
  return { camera: hasDevice('videoinput'), microphone: hasDevice('audioinput') }
}
