import type { Player } from '../session/player.ts'
import { type Recorder, startRecorder } from '../session/recorder.ts'
import { takeStills } from './take-stills.ts'

/** Recording of the screen or the webcam throughout the assessment. */
export type Capture = {
  isRunning: () => boolean
  /** @param webcamMode stills or video. @throws Refusal. @throws DOMException of the device. */
  begin: (deadlineAt: string | null, webcamMode: string) => Promise<void>
  /** Resolves when the last parts are in the outbox. */
  stop: () => Promise<void>
}

type CaptureContext = Pick<Player, 'session' | 'outbox' | 'devices' | 'notes'>
/** Called when the recording ended unexpectedly. */
type OnEnded = (deadlineAt: string | null) => void

export function captureScreen(player: CaptureContext, ended: OnEnded): Capture {
  const { devices, notes } = player
  const { isRunning, begin, stop } = recordThroughout(player, 'screen', async () => null)
  return {
    isRunning,
    async begin(deadlineAt) {
      await begin(await devices.shareScreen(), deadlineAt, () => {
        notes.note('sharing_ended')
        ended(deadlineAt)
      })
      notes.note('sharing_begun')
    },
    stop,
  }
}

export function captureWebcam(player: CaptureContext, ended: OnEnded): Capture {
  const { session, devices, notes } = player
  const open = () => devices.open({ audio: false, video: true })
  const stills = takeStills(session)
  const video = recordThroughout(player, 'webcam', async () => {
    notes.note('camera_lost')
    return open().catch(() => null)
  })

  async function begin(deadlineAt: string | null, webcamMode: string): Promise<void> {
    const stream = await open()
    if (webcamMode !== 'stills') return video.begin(stream, deadlineAt, () => ended(deadlineAt))
    await stills.begin(stream, async () => {
      notes.note('camera_lost')
      await begin(deadlineAt, webcamMode).catch(() => {}) // another camera may be available
      ended(deadlineAt)
    })
  }

  return {
    isRunning: () => video.isRunning() || stills.isRunning(),
    begin,
    stop() {
      stills.stop()
      return video.stop()
    },
  }
}

function recordThroughout(
  { session, outbox }: CaptureContext,
  kind: 'screen' | 'webcam',
  lost: () => Promise<MediaStream | null>,
) {
  let recorder: Recorder | null = null
  return {
    isRunning: () => recorder !== null,
    async begin(stream: MediaStream, deadlineAt: string | null, onEnded: () => void): Promise<void> {
      const { mediaId } = (await session.post('/media', { kind })) as { mediaId: string }
      const ended = () => {
        recorder = null
        onEnded()
      }
      recorder = startRecorder(kind, stream, outbox, outbox.begin(mediaId, kind, deadlineAt), { lost, ended })
    },
    async stop(): Promise<void> {
      await recorder?.stop()
      recorder = null
    },
  }
}
