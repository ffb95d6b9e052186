import { stat } from 'node:fs/promises'
import {
  EncodedAudioPacketSource,
  type EncodedPacket,
  EncodedPacketSink,
  EncodedVideoPacketSource,
  FilePathSource,
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
import { openCheckedTarget } from './checked-target.ts'
import { createTally, measureFile, type Tally } from './measure-file.ts'

/** A kind of track in the output, how a packet gets into it, what went in, and whether that is to come out to the byte. */
type Lane = {
  add: (packet: EncodedPacket, track: InputAudioTrack | InputVideoTrack) => Promise<void>
  tally: Tally
  isCopied: boolean
}
type Lanes = { video: Lane | undefined; audio: Lane | undefined }
/** A segment and its length in bytes. */
type Segment = { input: Input; bytes: number }

/** Bytes by which the output may be longer than the input: for an index of what browsers write without. */
const HEADER_BYTES = 256_000
/** And one for so many of the input, because an index grows with it. */
const INDEXED_BYTES = 64
/** Of a segment so many bytes may be neither pictures nor sound: in all, and for each of them; and one in so many. */
const FRAME_BYTES = 64_000
const PACKET_FRAME_BYTES = 64
const UNREAD_PART = 10
/** Bytes of a file that the library keeps in memory. */
const CACHE = { maxCacheSize: 2 ** 20 }
/** Seconds by which the last picture or sound may be at another time: formats round. */
const SAME_TIME = 0.25
const NOTHING = { tally: createTally(), isCopied: true }
/** Codecs that browsers describe; the library writes them differently where one of them does not. */
const DESCRIBED = ['avc', 'hevc', 'aac']

/**
 * Makes the segments of a recording, which browsers write without an end in sight, one file that has a length and can be sought. Pictures
 * and sound are copied as they are. WebM stays WebM, MP4 stays MP4. Segments that can't be read, as those cut off in their beginning, are
 * left out. What was written is read again, and compared with what went in.
 *
 * @param segments paths of files, in the order in which they were recorded.
 * @throws Error where no segment can be read, or not all of one, they differ in their codecs, or the output is not what went in: longer than
 *   the input and an index, shorter, or other pictures and sounds. One of the system where the disk does not take it.
 */
export async function remux(segments: string[], to: string): Promise<Remuxed> {
  const opened = await Promise.all(segments.map(openSegment))
  try {
    const areReadable = await Promise.all(opened.map(({ input }) => isReadable(input)))
    const readable = opened.filter((_, place) => areReadable[place]).map(({ input }) => input)
    const [first] = readable
    if (!first) throw new Error('The recording holds neither pictures nor sound that can be read')
    const isMp4 = (await first.getFormat()) === MP4
    const format = isMp4 ? new Mp4OutputFormat({ fastStart: false }) : new WebMOutputFormat()
    await using file = await openCheckedTarget(to, limitOf(opened))
    const output = new Output({ format, target: file.target })
    const lanes = await openLanes(readable, output)
    let offset = 0
    const ends: Remuxed['ends'] = []
    await file.failing(async () => {
      await output.start()
      for (const [place, segment] of opened.entries()) {
        if (areReadable[place]) offset = await copy(segment, lanes, offset)
        ends.push(areReadable[place] ? Math.round(offset * 1_000) : null)
      }
      await output.finalize()
    })
    const measured = await measureFile(to)
    refuseUnlessSame(measured, lanes)
    const { seconds, bytes, sha256 } = measured
    const contentType = `${lanes.video ? 'video' : 'audio'}/${isMp4 ? 'mp4' : 'webm'}`
    return { contentType, milliseconds: Math.round(seconds * 1_000), ends, bytes, sha256 }
  } finally {
    for (const { input } of opened) input.dispose()
  }
}

async function openSegment(path: string): Promise<Segment> {
  const { size } = await stat(path)
  return { input: new Input({ formats: [WEBM, MP4], source: new FilePathSource(path, CACHE) }), bytes: size }
}

function limitOf(segments: Segment[]): number {
  const bytes = segments.reduce((sum, segment) => sum + segment.bytes, 0)
  return bytes + HEADER_BYTES + Math.floor(bytes / INDEXED_BYTES)
}

/** Compares what was written with what was copied: each picture and each sound, and how long they last. */
function refuseUnlessSame(measured: Awaited<ReturnType<typeof measureFile>>, lanes: Lanes): void {
  for (const kind of ['video', 'audio'] as const) {
    const { tally, isCopied } = lanes[kind] ?? NOTHING
    const [went, came] = [tally.read(), measured[kind]]
    const isSame = went.count === came.count && (!isCopied || went.sha256 === came.sha256)
    if (!isSame) throw new Error(`The ${kind} of the file is not what was recorded`)
    if (Math.abs(went.last - came.last) > SAME_TIME) throw new Error(`The ${kind} ends after ${came.last} s, not ${went.last} s`)
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
    if (error instanceof Error && 'syscall' in error) throw error
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
  return onlyOf(codec, decoderConfig, (packet) => source.add(packet, { decoderConfig }))
}

async function openAudio(first: InputAudioTrack, output: Output): Promise<Lane> {
  const codec = await first.getCodec()
  const decoderConfig = await first.getDecoderConfig()
  if (!codec || !decoderConfig) throw new Error('The codec of the sound is not known')
  const source = new EncodedAudioPacketSource(codec)
  output.addAudioTrack(source)
  return onlyOf(codec, decoderConfig, (packet) => source.add(packet, { decoderConfig }))
}

function onlyOf(codec: string, { description }: { description?: unknown }, add: (packet: EncodedPacket) => Promise<void>): Lane {
  const tally = createTally()
  return {
    tally,
    isCopied: description !== undefined || !DESCRIBED.includes(codec),
    async add(packet, track) {
      if (track.codec !== codec) throw new Error('The segments differ in their codecs')
      await add(packet)
      tally.add(packet)
    },
  }
}

/**
 * Copies a segment behind what is there already.
 *
 * @returns where it ends, in seconds.
 * @throws Error where the reader stops before its end without saying so.
 */
async function copy({ input, bytes }: Segment, lanes: Lanes, offset: number): Promise<number> {
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
  let accounted = FRAME_BYTES + bytes / UNREAD_PART
  for (;;) {
    const earliest = heads.reduce((a, b) => ((b.head?.timestamp ?? Infinity) < (a.head?.timestamp ?? Infinity) ? b : a))
    const { head, lane, track, packets } = earliest
    if (!head) break
    const timestamp = head.timestamp - begin + offset
    end = Math.max(end, timestamp + head.duration)
    accounted += head.byteLength + PACKET_FRAME_BYTES
    await lane.add(head.clone({ timestamp }), track)
    earliest.head = await next(packets)
  }
  if (accounted < bytes) throw new Error(`Of a segment of ${bytes} bytes a large part can not be read`)
  return end
}

async function next(packets: AsyncGenerator<EncodedPacket, void>): Promise<EncodedPacket | undefined> {
  const { value } = await packets.next()
  return value ?? undefined
}

async function firstOf<T>(found: Promise<T | null>[]): Promise<T | undefined> {
  return (await Promise.all(found)).find((track) => track !== null) ?? undefined
}
