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
import type { Remuxed } from '../domain/submissions/media/join-recording.ts'
import { openCheckedTarget } from './checked-target.ts'
import { createTrackSummarizer, measureFile, type TrackSummarizer } from './measure-file.ts'

/** Output track. @property isCopied true if the written packets have to equal the input's. */
type OutputTrack = {
  /** @returns false for a packet that goes back in time, which is left out. */
  add: (packet: EncodedPacket, track: InputAudioTrack | InputVideoTrack) => Promise<boolean>
  tally: TrackSummarizer
  isCopied: boolean
}
type OutputTracks = { video: OutputTrack | undefined; audio: OutputTrack | undefined }
/**
 * @property lost times in the segment, in seconds, before which data is missing; Infinity: at the end. @property bytes to read.
 */
export type Segment = { path: string; lost: number[]; bytes: number }
type Opened = Segment & { input: Input }
/** @property end of the segment in the output, in seconds. @property cuts times in the output with missing data. */
type CopiedSegment = { end: number; cuts: number[] }

/** Bytes for an index, by which the output may exceed the input: browsers write none. */
const HEADER_BYTES = 256_000
/** Divisor of the input's size for further overhead: one byte per this many bytes. */
const INDEXED_BYTES = 64
/** Overhead allowed per segment: bytes in all, bytes per packet, and one byte in UNREAD_PART. */
const FRAME_BYTES = 64_000
const PACKET_FRAME_BYTES = 64
const UNREAD_DIVISOR = 10
/** Largest share of a segment that may be out of order; beyond it joining fails and the segments are kept. */
const MAX_LEFT_OUT_SHARE = 0.5
/** Bytes of a file that mediabunny caches. */
const CACHE_OPTIONS = { maxCacheSize: 2 ** 20 }
/** Tolerance in seconds for the last packet's time: formats round. */
const TIME_TOLERANCE = 0.25
const EMPTY_TRACK = { tally: createTrackSummarizer(), isCopied: true }
/** Codecs with a description. mediabunny rewrites packets that lack one. */
const DESCRIBED_CODECS = ['avc', 'hevc', 'aac']

/**
 * Joins a recording's segments, which browsers write without length or index, into one seekable file. Tracks are copied without transcoding; WebM
 * stays WebM, MP4 stays MP4. Unreadable segments are left out, as are packets that go back in time or precede the first key frame. The written
 * file is read back and compared with the input.
 *
 * @param segments in recording order.
 * @throws Error if no segment is readable, one is only partly readable, codecs differ, or the output differs from the input. A system error if the
 *   disk fails.
 */
export async function remux(segments: Segment[], to: string): Promise<Remuxed> {
  const opened = segments.map((segment): Opened => ({ ...segment, input: openInput(segment.path) }))
  try {
    const areReadable = await Promise.all(opened.map(({ input }) => isReadable(input)))
    const readable = opened.filter((_, place) => areReadable[place]).map(({ input }) => input)
    const [first] = readable
    if (!first) throw new Error('The recording holds neither pictures nor sound that can be read')
    const isMp4 = (await first.getFormat()) === MP4
    const format = isMp4 ? new Mp4OutputFormat({ fastStart: false }) : new WebMOutputFormat()
    await using file = await openCheckedTarget(to, maxOutputBytes(opened))
    const output = new Output({ format, target: file.target })
    const lanes = await openOutputTracks(readable, output)
    let offset = 0
    const ends: Remuxed['ends'] = []
    const cuts: number[] = []
    await file.runChecked(async () => {
      await output.start()
      for (const [place, segment] of opened.entries()) {
        const copied = areReadable[place] ? await copy(segment, lanes, offset) : { end: offset, cuts: [] }
        offset = copied.end
        cuts.push(...copied.cuts.map((cut) => Math.round(cut * 1_000)))
        ends.push(areReadable[place] ? Math.round(offset * 1_000) : null)
      }
      await output.finalize()
    })
    if (offset === 0) throw new Error('The recording holds neither pictures nor sound')
    const measured = await measureFile(to)
    requireSame(measured, lanes)
    const { seconds, bytes, sha256 } = measured
    const contentType = `${lanes.video ? 'video' : 'audio'}/${isMp4 ? 'mp4' : 'webm'}`
    return { contentType, milliseconds: Math.round(seconds * 1_000), ends, cuts, bytes, sha256 }
  } finally {
    for (const { input } of opened) input.dispose()
  }
}

const openInput = (path: string) => new Input({ formats: [WEBM, MP4], source: new FilePathSource(path, CACHE_OPTIONS) })

/** True if a file has tracks that can be copied. */
export async function canBeRead(path: string): Promise<boolean> {
  using input = openInput(path)
  return isReadable(input)
}

function maxOutputBytes(segments: Opened[]): number {
  const bytes = segments.reduce((sum, segment) => sum + segment.bytes, 0)
  return bytes + HEADER_BYTES + Math.floor(bytes / INDEXED_BYTES)
}

/** Compares the written packets and their end with the input. */
function requireSame(measured: Awaited<ReturnType<typeof measureFile>>, lanes: OutputTracks): void {
  for (const kind of ['video', 'audio'] as const) {
    const { tally, isCopied } = lanes[kind] ?? EMPTY_TRACK
    const [went, came] = [tally.read(), measured[kind]]
    const isSame = went.count === came.count && (!isCopied || went.sha256 === came.sha256)
    if (!isSame) throw new Error(`The ${kind} of the file is not what was recorded`)
    if (Math.abs(went.last - came.last) > TIME_TOLERANCE)
      throw new Error(`The ${kind} ends after ${came.last} s, not ${went.last} s`)
  }
}

/** True if there is a track and each codec is known. System errors are thrown: they say nothing about the file. */
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

/** Opens an output track for each kind that any segment has. */
async function openOutputTracks(inputs: Input[], output: Output): Promise<OutputTracks> {
  const video = await firstOf(inputs.map((input) => input.getPrimaryVideoTrack()))
  const audio = await firstOf(inputs.map((input) => input.getPrimaryAudioTrack()))
  return { video: video && (await openVideo(video, output)), audio: audio && (await openAudio(audio, output)) }
}

async function openVideo(first: InputVideoTrack, output: Output): Promise<OutputTrack> {
  const codec = await first.getCodec()
  const decoderConfig = await first.getDecoderConfig()
  if (!codec || !decoderConfig) throw new Error('The codec of the pictures is not known')
  const source = new EncodedVideoPacketSource(codec)
  output.addVideoTrack(source, { rotation: await first.getRotation() })
  return createOutputTrack(codec, decoderConfig, (packet) => source.add(packet, { decoderConfig }))
}

async function openAudio(first: InputAudioTrack, output: Output): Promise<OutputTrack> {
  const codec = await first.getCodec()
  const decoderConfig = await first.getDecoderConfig()
  if (!codec || !decoderConfig) throw new Error('The codec of the sound is not known')
  const source = new EncodedAudioPacketSource(codec)
  output.addAudioTrack(source)
  return createOutputTrack(codec, decoderConfig, (packet) => source.add(packet, { decoderConfig }))
}

function createOutputTrack(
  codec: string,
  { description }: { description?: unknown },
  add: (packet: EncodedPacket) => Promise<void>,
): OutputTrack {
  const tally = createTrackSummarizer()
  const isInOrder = createOrder()
  return {
    tally,
    isCopied: description !== undefined || !DESCRIBED_CODECS.includes(codec),
    async add(packet, track) {
      if (track.codec !== codec) throw new Error('The segments differ in their codecs')
      if (!isInOrder(packet)) return false
      await add(packet)
      tally.add(packet)
      return true
    },
  }
}

/** True if a packet may follow: groups start with a key packet, and no packet is earlier than any of the previous group. */
function createOrder(): (packet: EncodedPacket) => boolean {
  let [latest, latestBefore] = [-Infinity, -Infinity]
  return ({ type, timestamp }) => {
    const least = type === 'key' ? latest : latestBefore
    if (timestamp < least || (latest === -Infinity && type !== 'key')) return false
    latestBefore = least
    latest = Math.max(latest, timestamp)
    return true
  }
}

/**
 * Appends a segment to the output.
 *
 * @throws Error if reading stops far before the segment's end, even silently.
 */
async function copy(segment: Opened, lanes: OutputTracks, offset: number): Promise<CopiedSegment> {
  const readers = await openReaders(segment.input, lanes)
  const begin = Math.min(...readers.map(({ head }) => head?.timestamp ?? Infinity))
  let end = offset
  let accounted = FRAME_BYTES + segment.bytes / UNREAD_DIVISOR
  const lost = [...segment.lost]
  let leftOut = 0
  for (;;) {
    const earliest = readers.reduce((a, b) => ((b.head?.timestamp ?? Infinity) < (a.head?.timestamp ?? Infinity) ? b : a))
    const { head, lane, track } = earliest
    if (!head) break
    const timestamp = head.timestamp - begin + offset
    if (await lane.add(head.clone({ timestamp }), track)) {
      end = Math.max(end, timestamp + head.duration)
      accounted += head.byteLength + PACKET_FRAME_BYTES
    } else {
      lost.push(head.timestamp)
      leftOut += head.byteLength
    }
    await advance(earliest)
  }
  if (accounted < segment.bytes) throw new Error(`Of a segment of ${segment.bytes} bytes a large part can not be read`)
  if (leftOut > segment.bytes * MAX_LEFT_OUT_SHARE)
    throw new Error(`Of a segment of ${segment.bytes} bytes ${leftOut} are out of order`)
  if (readers.some(({ hasFailed }) => hasFailed)) lost.push(Infinity)
  const cuts = lost.map((second) => Math.min(Math.max(second - begin, 0) + offset, end))
  return { end, cuts }
}

type Reader = {
  lane: OutputTrack
  track: InputAudioTrack | InputVideoTrack
  packets: AsyncGenerator<EncodedPacket, void>
  head: EncodedPacket | undefined
  /** True if reading failed midway. */
  hasFailed: boolean
}

async function openReaders(input: Input, lanes: OutputTracks): Promise<Reader[]> {
  const tracks = [
    { lane: lanes.video, track: await input.getPrimaryVideoTrack() },
    { lane: lanes.audio, track: await input.getPrimaryAudioTrack() },
  ]
  const readers = tracks.flatMap(({ lane, track }): Reader[] => {
    if (!lane || !track) return []
    return [{ lane, track, packets: new EncodedPacketSink(track).packets(), head: undefined, hasFailed: false }]
  })
  for (const reader of readers) await advance(reader)
  return readers
}

/** Reads the next packet. System errors are thrown: they say nothing about the segment. */
async function advance(reader: Reader): Promise<void> {
  try {
    const { value } = await reader.packets.next()
    reader.head = value ?? undefined
  } catch (error) {
    if (error instanceof Error && 'syscall' in error) throw error
    reader.head = undefined
    reader.hasFailed = true
  }
}

async function firstOf<T>(found: Promise<T | null>[]): Promise<T | undefined> {
  return (await Promise.all(found)).find((track) => track !== null) ?? undefined
}
