// The camera, the microphone, and the shared screen. They are opened once, and closed when they are no longer needed.

import { chosenOf } from './chosen-devices.ts'

const VIDEO: MediaTrackConstraints = {
  width: { ideal: 640 },
  height: { ideal: 480 },
  frameRate: { ideal: 15 },
  facingMode: 'user',
}
const SCREEN: MediaTrackConstraints = { frameRate: { ideal: 5, max: 10 }, width: { max: 1920 }, height: { max: 1200 } }

export type WantedDevices = { audio: boolean; video: boolean }

export type Devices = ReturnType<typeof useDevices>

/** Names of errors if the chosen device is gone. */
const IS_GONE = ['OverconstrainedError', 'NotFoundError']

const isAmong = ({ audio, video }: WantedDevices, { kind }: MediaStreamTrack): boolean => (kind === 'audio' ? audio : video)

export function useDevices() {
  let openTracks: MediaStreamTrack[] = []
  let opening: Promise<unknown> = Promise.resolve()
  let screen: MediaStream | null = null
  let lock: WakeLockSentinel | null = null
  let wantsLock = false

  /**
   * Opens devices together, so that the browser asks the candidate once. Open devices stay open, because they may be recording.
   *
   * @throws DOMException
   */
  function open(wanted: WantedDevices): Promise<MediaStream> {
    const mine = opening.then(() => openLacking(wanted))
    opening = mine.catch(() => {}) // the caller gets the error
    return mine
  }

  async function openLacking(wanted: WantedDevices): Promise<MediaStream> {
    openTracks = openTracks.filter(({ readyState }) => readyState === 'live')
    const lacks = (kind: keyof WantedDevices) => wanted[kind] && openTracks.every((track) => track.kind !== kind)
    if (lacks('audio') || lacks('video')) {
      const audio = lacks('audio') && chosenOf('audioinput')
      const video = lacks('video') && chosenOf('videoinput')
      const added = await navigator.mediaDevices
        .getUserMedia({ audio, video: video && { ...VIDEO, ...video } })
        .catch((error: DOMException) => {
          if (!IS_GONE.includes(error.name)) throw error
          return navigator.mediaDevices.getUserMedia({ audio: audio && true, video: video && VIDEO })
        })
      openTracks.push(...added.getTracks())
    }
    return new MediaStream(openTracks.filter((track) => isAmong(wanted, track)))
  }

  function close(unwanted: WantedDevices = { audio: true, video: true }): void {
    for (const track of openTracks) if (isAmong(unwanted, track)) track.stop()
    openTracks = openTracks.filter((track) => !isAmong(unwanted, track))
  }

  const sharedScreen = (): MediaStream | null => (screen?.getVideoTracks()[0]?.readyState === 'live' ? screen : null)

  /** @throws DOMException */
  async function shareScreen(): Promise<MediaStream> {
    screen = sharedScreen() ?? (await navigator.mediaDevices.getDisplayMedia({ video: { ...SCREEN, displaySurface: 'monitor' } }))
    return screen
  }

  function closeScreen(): void {
    for (const track of screen?.getTracks() ?? []) track.stop()
    screen = null
  }

  /** Keeps the device's screen on, if the browser can. Hidden pages lose the lock, and request it again when they are shown. */
  async function stayAwake(): Promise<void> {
    wantsLock = true
    if (document.visibilityState === 'visible') lock = await navigator.wakeLock?.request('screen').catch(() => null)
  }
  document.addEventListener('visibilitychange', () => {
    if (wantsLock) void stayAwake()
  })

  function allowSleep(): void {
    wantsLock = false
    void lock?.release().catch(() => {}) // the browser may have released it already
  }

  return {
    open,
    close,
    shareScreen,
    sharedScreen,
    closeScreen,
    stayAwake,
    allowSleep,
    closeAll() {
      close()
      closeScreen()
      allowSleep()
    },
  }
}

/** Opens the camera at a high resolution, for a photo of a document that has to be legible. */
export const openSharpCamera = (): Promise<MediaStream> =>
  navigator.mediaDevices.getUserMedia({ video: { width: { ideal: 1920 }, height: { ideal: 1080 } } })

/** Takes a JPEG photo. @param quality from 0 to 1. */
export async function takeStill(video: HTMLVideoElement, quality: number): Promise<{ canvas: HTMLCanvasElement; jpeg: Blob }> {
  const canvas = document.createElement('canvas')
  canvas.width = video.videoWidth
  canvas.height = video.videoHeight
  canvas.getContext('2d')!.drawImage(video, 0, 0)
  const jpeg = await new Promise<Blob | null>((resolve) => canvas.toBlob(resolve, 'image/jpeg', quality))
  if (!jpeg) throw new Error('The camera shows nothing')
  return { canvas, jpeg }
}

/** Shows a stream without its sound. */
export async function showStream(video: HTMLVideoElement, stream: MediaStream): Promise<void> {
  video.muted = true
  video.playsInline = true
  video.srcObject = stream
  await video.play().catch(() => {}) // browsers pause it while the page is hidden, and resume it themselves
}
