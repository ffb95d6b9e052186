import {
  BufferSource,
  BufferTarget,
  EncodedPacket,
  EncodedPacketSink,
  EncodedVideoPacketSource,
  Input,
  Output,
  WEBM,
  WebMOutputFormat,
} from 'mediabunny'
import { readSlices } from '../media/recordings.ts'

/** Bytes of a part, about what browsers upload. */
const PART_BYTES = 900_000
const FRAMES_A_SECOND = 30

/** Creates a recording of this length and size, in parts. It repeats the first frame of a real recording, padded to the size of a richer scene. */
export async function makeRecording({ seconds, bytes }: { seconds: number; bytes: number }): Promise<Buffer[]> {
  const input = new Input({ source: new BufferSource(Buffer.concat(await readSlices('video-0'))), formats: [WEBM] })
  const track = (await input.getPrimaryVideoTrack())!
  const picture = (await new EncodedPacketSink(track).getFirstPacket())!
  const decoderConfig = (await track.getDecoderConfig())!
  const target = new BufferTarget()
  const output = new Output({ format: new WebMOutputFormat({ appendOnly: true }), target })
  const source = new EncodedVideoPacketSource('vp8')
  output.addVideoTrack(source)
  await output.start()
  const frames = seconds * FRAMES_A_SECOND
  const data = new Uint8Array(Math.max(picture.data.length, Math.round(bytes / frames)))
  data.set(picture.data)
  for (let i = 0; i < frames; i++) {
    const packet = new EncodedPacket(data, 'key', i / FRAMES_A_SECOND, 1 / FRAMES_A_SECOND)
    await source.add(packet, { decoderConfig })
  }
  await output.finalize()
  const made = Buffer.from(target.buffer!)
  return Array.from({ length: Math.ceil(made.length / PART_BYTES) }, (_, i) =>
    made.subarray(i * PART_BYTES, (i + 1) * PART_BYTES),
  )
}
