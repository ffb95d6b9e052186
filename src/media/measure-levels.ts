import { EncodedPacketSink, FilePathSource, Input, type InputAudioTrack, MP4, WEBM } from 'mediabunny'
import { OpusDecoder } from 'opus-decoder'
import { encodeLevel, LEVEL_MS, type Levels } from '../domain/submissions/media/levels.ts'
import { decodeByFfmpeg } from './ffmpeg.ts'

const OPUS_RATE = 48_000
/** Sample rate in Hz that ffmpeg converts to: enough for peaks of speech. */
const FFMPEG_RATE = 16_000
/** Longest recording measured, so that wrong times in a file can't exhaust memory. */
const MAX_LEVELS = (6 * 3_600_000) / LEVEL_MS

/**
 * Measures the sound of a file: Opus is decoded here, other codecs by ffmpeg, if installed.
 *
 * @returns null if nothing decodes it; silence for a file without sound. @throws Error if it can't be read.
 */
export async function measureLevels(path: string): Promise<Levels | null> {
  using input = new Input({ formats: [WEBM, MP4], source: new FilePathSource(path, { maxCacheSize: 2 ** 20 }) })
  const track = await input.getPrimaryAudioTrack()
  const count = Math.ceil(((await input.computeDuration()) * 1_000) / LEVEL_MS)
  if (count > MAX_LEVELS) throw new Error(`A recording of ${count} levels`)
  const meter = createMeter(count)
  if (track === null) return meter.read()
  if ((await track.getCodec()) === 'opus') await decodeOpus(track, meter)
  else if (!(await decodeWithFfmpeg(path, (await input.getFormat()) === MP4 ? 'mp4' : 'webm', meter))) return null
  return meter.read()
}

type Meter = ReturnType<typeof createMeter>

function createMeter(count: number) {
  const peaks = new Float32Array(count)
  return {
    /** @param at seconds from the beginning of the file. @param rate samples per second. */
    add(samples: Float32Array, at: number, rate: number): void {
      const length = (rate * LEVEL_MS) / 1_000
      const begin = Math.round(at * rate)
      for (let i = 0; i < samples.length; i++) {
        const place = Math.floor((begin + i) / length)
        const peak = Math.abs(samples[i]!)
        if (place >= 0 && place < count && peak > peaks[place]!) peaks[place] = peak
      }
    },
    read: (): Levels => Uint8Array.from(peaks, encodeLevel),
  }
}

/** Each packet is placed by its own time: gaps between packets stay silent. */
async function decodeOpus(track: InputAudioTrack, meter: Meter): Promise<void> {
  const channels = (await track.getDecoderConfig())?.numberOfChannels ?? 1
  const decoder = new OpusDecoder({ channels, sampleRate: OPUS_RATE, preSkip: 0 })
  await decoder.ready
  try {
    for await (const { data, timestamp } of new EncodedPacketSink(track).packets()) {
      const { channelData, samplesDecoded } = decoder.decodeFrame(data)
      for (const samples of channelData) meter.add(samples.subarray(0, samplesDecoded), timestamp, OPUS_RATE)
    }
  } finally {
    decoder.free()
  }
}

/** @returns false if ffmpeg is not installed, or can't decode it. */
async function decodeWithFfmpeg(path: string, format: 'webm' | 'mp4', meter: Meter): Promise<boolean> {
  let decoded = 0
  return decodeByFfmpeg(path, format, FFMPEG_RATE, (samples) => {
    meter.add(samples, decoded / FFMPEG_RATE, FFMPEG_RATE)
    decoded += samples.length
  })
}
