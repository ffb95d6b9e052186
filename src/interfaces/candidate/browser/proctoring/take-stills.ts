import { createElement } from '../../../../http/browser/dom.ts'
import { showStream, takeStill } from '../devices/devices.ts'
import type { Session } from '../session/session.ts'

const EVERY_MS = 30_000
const QUALITY = 0.7

/** Sends a still of the webcam every 30 seconds. */
export function takeStills(session: Session) {
  let timer: ReturnType<typeof setInterval> | undefined

  function stop(): void {
    clearInterval(timer)
    timer = undefined
  }

  return {
    isRunning: () => timer !== undefined,
    /** @param lost called when the camera was disconnected. No more stills are taken. */
    async begin(stream: MediaStream, lost: () => void): Promise<void> {
      const video = createElement('video')
      await showStream(video, stream)
      stream.getVideoTracks()[0]!.addEventListener('ended', () => {
        if (timer === undefined) return
        stop()
        lost()
      })
      timer = setInterval(() => void sendStill(session, video), EVERY_MS)
      void sendStill(session, video) // not awaited, because retries must not delay the request for other missing devices
    },
    stop,
  }
}

async function sendStill(session: Session, video: HTMLVideoElement): Promise<void> {
  if (!video.videoWidth) return
  const { jpeg } = await takeStill(video, QUALITY)
  // Not retried for longer, because the next still is due then.
  const until = performance.now() + EVERY_MS
  await session.send('PUT', '/photos/webcam_still', { bytes: jpeg, type: 'image/jpeg', until }).catch(() => {})
}
