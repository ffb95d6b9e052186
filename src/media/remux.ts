import {
  EncodedAudioPacketSource,
  type EncodedPacket,
  EncodedPacketSink,
  EncodedVideoPacketSource,
  FilePathSource,
  FilePathTarget,
  Input,
  type InputAudioTrack,
  type InputVideoTrack,
  MP4,
  Mp4OutputFormat,
  Output,
  WEBM,
  WebMOutputFormat,
} from 'mediabunny'
import type { Remuxed } from '../domain/submissions/join.ts'

/** A kind of track in the output, and how a packet gets into it. */
type Lane = { add: (packet: EncodedPacket, track: InputAudioTrack | InputVideoTrack) => Promise<void> }
type Lanes = { video: Lane | undefined; audio: Lane | undefined }

/**
 * Makes the segments of a recording, which browsers write without an end in sight, one file that has a length and can be sought. Pictures
 * and sound are copied as they are. WebM stays WebM, MP4 stays MP4. Segments that can't be read, as those cut off in their beginning, are
 * left out.
 *
 * @param segments paths of files, in the order in which they were recorded.
 * @throws Error where no segment can be read, or they differ in their codecs.
 */
export async function remux(segments: string[], to: string): Promise<Remuxed> {
  const inputs = segments.map((path) => new Input({ formats: [WEBM, MP4], source: new FilePathSource(path) }))
  try {
    const areReadable = await Promise.all(inputs.map(isReadable))
    const readable = inputs.filter((_, place) => areReadable[place])
    const [first] = readable
    if (!first) throw new Error('The recording holds neither pictures nor sound that can be read')
    const isMp4 = (await first.getFormat()) === MP4
    const format = isMp4 ? new Mp4OutputFormat({ fastStart: false }) : new WebMOutputFormat()
    const output = new Output({ format, target: new FilePathTarget(to) })
    const lanes = await openLanes(readable, output)
    await output.start()
    let offset = 0
    const ends: Remuxed['ends'] = []
    for (const [place, input] of inputs.entries()) {
      if (areReadable[place]) offset = await copy(input, lanes, offset)
      ends.push(areReadable[place] ? Math.round(offset * 1_000) : null)
    }
    await output.finalize()
    const milliseconds = await measure(to)
    return { contentType: `${lanes.video ? 'video' : 'audio'}/${isMp4 ? 'mp4' : 'webm'}`, milliseconds, ends }
  } finally {
    for (const input of inputs) input.dispose()
  }
}

/** Whether it has a track, and the codec of each is known. What the system refuses to read says nothing about that. */
async function isReadable(input: Input): Promise<boolean> {
  try {
    if (!(await input.canRead())) return false
    const tracks = [await input.getPrimaryVideoTrack(), await input.getPrimaryAudioTrack()].filter((track) => track !== null)
    const configs = await Promise.all(tracks.map((track) => track.getDecoderConfig()))
    return configs.length > 0 && configs.every((config) => config !== null)
  } catch (error) {
    if (error instanceof Error && 'code' in error) throw error
    return false
  }
}

/** A track for each kind that any of the segments has. */
async function openLanes(inputs: Input[], output: Output): Promise<Lanes> {
  const video = await firstOf(inputs.map((input) => input.getPrimaryVideoTrack()))
  const audio = await firstOf(inputs.map((input) => input.getPrimaryAudioTrack()))
  return { video: video && (await openVideo(video, output)), audio: audio && (await openAudio(audio, output)) }
}

async function openVideo(first: InputVideoTrack, output: Output): Promise<Lane> {
  const codec = await first.getCodec()
  const decoderConfig = await first.getDecoderConfig()
  if (!codec || !decoderConfig) throw new Error('The codec of the pictures is not known')
  const source = new EncodedVideoPacketSource(codec)
  output.addVideoTrack(source, { rotation: await first.getRotation() })
  return { add: onlyOf(codec, (packet) => source.add(packet, { decoderConfig })) }
}

async function openAudio(first: InputAudioTrack, output: Output): Promise<Lane> {
  const codec = await first.getCodec()
  const decoderConfig = await first.getDecoderConfig()
  if (!codec || !decoderConfig) throw new Error('The codec of the sound is not known')
  const source = new EncodedAudioPacketSource(codec)
  output.addAudioTrack(source)
  return { add: onlyOf(codec, (packet) => source.add(packet, { decoderConfig })) }
}

const onlyOf =
  (codec: string, add: (packet: EncodedPacket) => Promise<void>): Lane['add'] =>
  async (packet, track) => {
    if (track.codec !== codec) throw new Error('The segments differ in their codecs')
    await add(packet)
  }

/** Copies a segment behind what is there already. @returns where it ends, in seconds. */
async function copy(input: Input, lanes: Lanes, offset: number): Promise<number> {
  const tracks = [
    { lane: lanes.video, track: await input.getPrimaryVideoTrack() },
    { lane: lanes.audio, track: await input.getPrimaryAudioTrack() },
  ]
  const readers = tracks.flatMap(({ lane, track }) =>
    lane && track ? [{ lane, track, packets: new EncodedPacketSink(track).packets() }] : [],
  )
  const heads = await Promise.all(readers.map(async (reader) => ({ ...reader, head: await next(reader.packets) })))
  const begin = Math.min(...heads.map(({ head }) => head?.timestamp ?? Infinity))
  let end = offset
  for (;;) {
    const earliest = heads.reduce((a, b) => ((b.head?.timestamp ?? Infinity) < (a.head?.timestamp ?? Infinity) ? b : a))
    const { head, lane, track, packets } = earliest
    if (!head) return end
    const timestamp = head.timestamp - begin + offset
    end = Math.max(end, timestamp + head.duration)
    await lane.add(head.clone({ timestamp }), track)
    earliest.head = await next(packets)
  }
}

async function next(packets: AsyncGenerator<EncodedPacket, void>): Promise<EncodedPacket | undefined> {
  const { value } = await packets.next()
  return value ?? undefined
}

async function measure(file: string): Promise<number> {
  using input = new Input({ formats: [WEBM, MP4], source: new FilePathSource(file) })
  return Math.round((await input.computeDuration()) * 1_000)
}

async function firstOf<T>(found: Promise<T | null>[]): Promise<T | undefined> {
  return (await Promise.all(found)).find((track) => track !== null) ?? undefined
}
