import { createHash } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { pipeline } from 'node:stream/promises'
import { type EncodedPacket, EncodedPacketSink, FilePathSource, Input, type InputTrack, MP4, WEBM } from 'mediabunny'

/** Packets of a track. @property sha256 of all packets. @property last start of the last packet in seconds. */
export type TrackSummary = { count: number; sha256: string; last: number }
/** Summarizes packets, added in order. */
export type TrackSummarizer = { add: (packet: EncodedPacket) => void; read: () => TrackSummary }

export function createTrackSummarizer(): TrackSummarizer {
  const hash = createHash('sha256')
  let count = 0
  let last = 0
  return {
    add({ data, timestamp }) {
      count++
      last = Math.max(last, timestamp)
      hash.update(data)
    },
    read: () => ({ count, last, sha256: hash.copy().digest('hex') }),
  }
}

type FileMeasurement = { video: TrackSummary; audio: TrackSummary; seconds: number; bytes: number; sha256: string }

export async function measureFile(path: string): Promise<FileMeasurement> {
  using input = new Input({ formats: [WEBM, MP4], source: new FilePathSource(path, { maxCacheSize: 2 ** 20 }) })
  const video = await summarizeTrack(await input.getPrimaryVideoTrack())
  const audio = await summarizeTrack(await input.getPrimaryAudioTrack())
  return { video, audio, seconds: await input.computeDuration(), ...(await digestFile(path)) }
}

/** @param track null counts as empty. */
async function summarizeTrack(track: InputTrack | null): Promise<TrackSummary> {
  const tally = createTrackSummarizer()
  if (track) for await (const packet of new EncodedPacketSink(track).packets()) tally.add(packet)
  return tally.read()
}

async function digestFile(path: string): Promise<{ bytes: number; sha256: string }> {
  const hash = createHash('sha256')
  const file = createReadStream(path)
  await pipeline(file, hash)
  return { bytes: file.bytesRead, sha256: hash.digest('hex') }
}
