import { type Source, sum } from './source.ts'

/** The header begins at `start`, the content at `body`. */
export type Box = { type: string; start: number; body: number; end: number }
/** Values of a track that fragments may omit. */
export type TrackDefaults = { timescale: number; size: number }
/** Samples: the position of their data, the position of their count, and the bytes of each. */
export type Run = { data: number; countAt: number; sizes: Uint32Array }
/** @property ticks start time; null if not stated. */
export type TrackFragment = { track: number; ticks: number | null; runs: Run[] }

/** Bytes. Descriptions of real fragments are smaller. */
const MAX_DESCRIPTION = 2 ** 21
const MAX_SAMPLES = 10_000

/** @returns null if there is no valid header. `end` is Infinity for a box without a size, which extends to the end of the file. */
export function readBox(source: Source, start: number): Box | null {
  const bytes = source.bytes(start, 16)
  if (bytes.length < 8) return null
  const type = bytes.toString('latin1', 4, 8)
  const short = bytes.readUInt32BE(0)
  if (short === 0) return { type, start, body: start + 8, end: Infinity }
  if (short === 1 && bytes.length < 16) return null
  const [size, header] = short === 1 ? [Number(bytes.readBigUInt64BE(8)), 16] : [short, 8]
  return size < header ? null : { type, start, body: start + header, end: start + size }
}

/** Reads boxes up to the first invalid one. */
export function readBoxes(source: Source, from: number, to: number): Box[] {
  const boxes: Box[] = []
  for (let at = from; at < to; ) {
    const box = readBox(source, at)
    if (!box || box.end > to) break
    boxes.push(box)
    at = box.end
  }
  return boxes
}

const findChild = (source: Source, box: Box | undefined, type: string): Box | undefined =>
  box && readBoxes(source, box.body, box.end).find((inner) => inner.type === type)

/** Reads the track headers. @param moov the box of that type. */
export function readTracks(source: Source, moov: Box): Map<number, TrackDefaults> {
  const tracks = new Map<number, TrackDefaults>()
  for (const trak of readBoxes(source, moov.body, moov.end).filter(({ type }) => type === 'trak')) {
    const header = copyOf(source, findChild(source, trak, 'tkhd'))
    const media = copyOf(source, findChild(source, findChild(source, trak, 'mdia'), 'mdhd'))
    if (!header || !media || header.length < 24 || media.length < 24) continue
    const timescale = media.readUInt32BE(media[0] === 1 ? 20 : 12)
    tracks.set(header.readUInt32BE(header[0] === 1 ? 20 : 12), { timescale: timescale || 1, size: 0 })
  }
  readSizes(source, findChild(source, moov, 'mvex'), tracks)
  return tracks
}

function readSizes(source: Source, extension: Box | undefined, tracks: Map<number, TrackDefaults>): void {
  for (const box of extension ? readBoxes(source, extension.body, extension.end) : []) {
    const bytes = box.type === 'trex' ? copyOf(source, box) : undefined
    if (!bytes || bytes.length < 20) continue
    const track = tracks.get(bytes.readUInt32BE(4))
    if (track) track.size = bytes.readUInt32BE(16)
  }
}

/** @returns null if the fragment can't be read. */
export function readFragment(source: Source, moof: Box, tracks: Map<number, TrackDefaults>): TrackFragment[] | null {
  if (moof.end > source.size || moof.end - moof.start > MAX_DESCRIPTION) return null
  const found: TrackFragment[] = []
  /** End of the previous run's data, where the next run's data begins by default. */
  let data = moof.start
  try {
    for (const traf of readBoxes(source, moof.body, moof.end).filter(({ type }) => type === 'traf')) {
      const result = readTrackFragment(source, traf, { moof, data, tracks })
      if (!result) return null
      found.push(result.fragment)
      data = result.data
    }
  } catch (error) {
    if (error instanceof RangeError) return null // the box is too short
    throw error
  }
  return found.length > 0 ? found : null
}

type Around = { moof: Box; data: number; tracks: Map<number, TrackDefaults> }

function readTrackFragment(source: Source, traf: Box, { moof, data, tracks }: Around) {
  const boxes = readBoxes(source, traf.body, traf.end)
  const contentOf = (type: string) =>
    copyOf(
      source,
      boxes.find((box) => box.type === type),
    )
  const header = contentOf('tfhd')
  const track = header && tracks.get(header.readUInt32BE(4))
  if (!track) return null
  const { base, size } = readHeader(header, { moof, data, track })
  const runs: Run[] = []
  let next = base
  for (const box of boxes.filter(({ type }) => type === 'trun')) {
    const run = readRun(source, box, { base, next, size })
    if (!run) return null
    runs.push(run)
    next = run.data + sum(run.sizes)
  }
  const time = contentOf('tfdt')
  const ticks = time ? (time[0] === 1 ? Number(time.readBigUInt64BE(4)) : time.readUInt32BE(4)) : null
  return { fragment: { track: header.readUInt32BE(4), ticks, runs }, data: next }
}

/** Base offset of the data, and default sample size. Fields are present according to flags. */
function readHeader(header: Buffer, { moof, data, track }: Omit<Around, 'tracks'> & { track: TrackDefaults }) {
  const flags = header.readUIntBE(1, 3)
  const sizeAt = 8 + (flags & 0x01 ? 8 : 0) + (flags & 0x02 ? 4 : 0) + (flags & 0x08 ? 4 : 0)
  const ownBase = flags & 0x020000 ? moof.start : data
  return {
    base: flags & 0x01 ? Number(header.readBigUInt64BE(8)) : ownBase,
    size: flags & 0x10 ? header.readUInt32BE(sizeAt) : track.size,
  }
}

type Usual = { base: number; next: number; size: number }

function readRun(source: Source, box: Box, { base, next, size }: Usual): Run | null {
  const bytes = copyOf(source, box)!
  const flags = bytes.readUIntBE(1, 3)
  const count = bytes.readUInt32BE(4)
  const data = flags & 0x01 ? base + bytes.readInt32BE(8) : next
  const at = 8 + (flags & 0x01 ? 4 : 0) + (flags & 0x04 ? 4 : 0)
  const step = 4 * [0x100, 0x200, 0x400, 0x800].filter((flag) => flags & flag).length
  if (count > MAX_SAMPLES || at + count * step > bytes.length) return null
  const sizeAt = flags & 0x100 ? 4 : 0
  const sizes = new Uint32Array(count)
  for (let place = 0; place < count; place++) sizes[place] = flags & 0x200 ? bytes.readUInt32BE(at + place * step + sizeAt) : size
  return { data, countAt: box.body + 4, sizes }
}

/** Content of a box; a copy, because a source's view is valid for one call. */
const copyOf = (source: Source, box: Box | undefined): Buffer | undefined =>
  box && box.end - box.body <= MAX_DESCRIPTION ? Buffer.from(source.bytes(box.body, box.end - box.body)) : undefined
