import { type DeviceKind, NO_TYPE, type Present, wordDeviceFailure } from '../devices/device-words.ts'
import { typeFor } from './recorder.ts'
import { Refusal } from './session.ts'
import { wordFailure } from './wording.ts'

// Why a device can't be used here: because of the browser or the page, or by the browser's name for what went wrong.

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

/** Why nothing can be recorded of a device here; empty where it can. */
export const obstacleToRecord = (device: DeviceKind): string =>
  obstacle(device) || (typeFor(device === 'microphone' ? 'audio' : 'video') ? '' : NO_TYPE)

/** In sentences: what happened and what to do. @param error of the browser, about the device, or of the service. */
export async function explainFailure(error: unknown, device: DeviceKind): Promise<string> {
  if (error instanceof Refusal) return wordFailure(error.code)
  const name = error instanceof DOMException || error instanceof Error ? error.name : ''
  const { constraint } = error as { constraint?: string }
  const present = await listDevices()
  return wordDeviceFailure({ name, ...(constraint && { constraint }), device, present, agent: navigator.userAgent })
}

async function listDevices(): Promise<Present> {
  const listed = await navigator.mediaDevices?.enumerateDevices().catch(() => null)
  if (!listed) return null
  const has = (kind: MediaDeviceKind) => listed.some((device) => device.kind === kind)
  return { camera: has('videoinput'), microphone: has('audioinput') }
}
