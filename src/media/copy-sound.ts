import {
  EncodedAudioPacketSource,
  EncodedPacketSink,
  FilePathSource,
  Input,
  MP4,
  Mp4OutputFormat,
  Output,
  WEBM,
  WebMOutputFormat,
} from 'mediabunny'
import { openCheckedTarget } from './checked-target.ts'

/** Bytes of an index beyond the packets. */
const HEADER_BYTES = 256_000

/** Copies the sound of a recording to a separate file, without decoding it. @returns its content type. @throws Error without sound. */
export async function copySound(from: string, to: string, bytes: number): Promise<string> {
  using input = new Input({ formats: [WEBM, MP4], source: new FilePathSource(from, { maxCacheSize: 2 ** 20 }) })
  const track = await input.getPrimaryAudioTrack()
  const [codec, decoderConfig] = [await track?.getCodec(), await track?.getDecoderConfig()]
  if (!track || !codec || !decoderConfig) throw new Error('The recording has no sound that can be read')
  const isMp4 = (await input.getFormat()) === MP4
  await using file = await openCheckedTarget(to, bytes + HEADER_BYTES)
  const format = isMp4 ? new Mp4OutputFormat({ fastStart: false }) : new WebMOutputFormat()
  const output = new Output({ format, target: file.target })
  const source = new EncodedAudioPacketSource(codec)
  output.addAudioTrack(source)
  await file.runChecked(async () => {
    await output.start()
    for await (const packet of new EncodedPacketSink(track).packets()) await source.add(packet, { decoderConfig })
    await output.finalize()
  })
  return isMp4 ? 'audio/mp4' : 'audio/webm'
}
