import { createElement } from '../../../../http/browser/dom.ts'
import { showStream, takeStill } from '../devices/devices.ts'
import type { Session } from '../session/session.ts'

const EVERY_MS = 30_000
const QUALITY = 0.7

/** Sends what the webcam shows, again and again. */
export function takeStills(session: Session) {
  let timer: ReturnType<typeof setInterval> | undefined

  function stop(): void {
    clearInterval(timer)
    timer = undefined
  }

  return {
    isRunning: () => timer !== undefined,
    /** @param lost the camera is gone, and no more stills are taken of it. */
    async begin(stream: MediaStream, lost: () => void): Promise<void> {
      const video = createElement('video')
      await showStream(video, stream)
      stream.getVideoTracks()[0]!.addEventListener('ended', () => {
        if (timer === undefined) return
        stop()
        lost()
      })
      timer = setInterval(() => void sendStill(session, video), EVERY_MS)
      void sendStill(session, video) // it may have to wait, and what else is missing is asked for meanwhile
    },
    stop,
  }
}

async function sendStill(session: Session, video: HTMLVideoElement): Promise<void> {
  if (!video.videoWidth) return
  const { jpeg } = await takeStill(video, QUALITY)
  // The next one comes anyway.
  const until = performance.now() + EVERY_MS
  await session.send('PUT', '/photos/webcam_still', { bytes: jpeg, type: 'image/jpeg', until }).catch(() => {})
}
