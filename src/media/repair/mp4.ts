import { findLongestIncreasing } from './longest-increasing.ts'
import { type Box, type Run, readBox, readFragment, readTracks, type TrackDefaults, type TrackFragment } from './mp4-fragment.ts'
import { addRange, indexIn, MAX_REPAIR_ITEMS, type Piece, type Repaired, type Source, sum } from './source.ts'

const TYPES = new Set(['ftyp', 'styp', 'moov', 'moof', 'mdat', 'free', 'skip', 'wide', 'sidx', 'mfra', 'udta', 'uuid', 'meta'])
const MOOF = Buffer.from('moof')
const MFHD = Buffer.from('mfhd')
const FREE = Buffer.from('free')
/** Samples of a day-long recording. */
const MAX_SAMPLES = 10 * MAX_REPAIR_ITEMS
/** Recordings have two. */
const MAX_TRACKS = 8

type Fragment = { box: Box; tracks: TrackFragment[] | undefined; state: 'kept' | 'again' | 'lost'; isCut: boolean }
/** Replaces as many bytes. */
type Patch = { at: number; bytes: Buffer }
/** `gaps`: positions of invalid data; `skipped`: its bytes. */
type ParsedFile = { boxes: Box[]; patches: Patch[]; gaps: number[]; skipped: number }

/**
 * Repairs a fragmented MP4 file: duplicate boxes, fragments that repeat or go back in time, and damaged or missing bytes. Data is not moved,
 * because fragments may contain absolute offsets; removed data becomes free space.
 *
 * @returns null if nothing needs repair, or the file is not fragmented.
 * @throws Error for more boxes or samples than any recording has.
 */
export function repairMp4(source: Source): Repaired | null {
  const parsed = readAll(source)
  const moov = parsed.boxes.find(({ type }) => type === 'moov')
  const tracks = moov ? readTracks(source, moov) : new Map<number, TrackDefaults>()
  if (tracks.size === 0 || tracks.size > MAX_TRACKS) return null
  const media = parsed.boxes.filter(({ type }) => type === 'mdat')
  const fragments = readFragments(source, parsed.boxes, tracks)
  if (fragments.length === 0) return null
  chooseFragments(source, fragments, media, [...tracks.keys()])
  const patches = [
    ...parsed.patches,
    ...fragments.flatMap((fragment) => (fragment.state === 'kept' ? cutRuns(fragment, media) : [toFreeSpace(fragment.box)])),
  ].sort((a, b) => a.at - b.at)
  if (patches.length === 0) return null
  const leftOut = (state: Fragment['state']) =>
    sum(fragments.map((fragment) => (fragment.state === state ? lengthOf(fragment, media) : 0)))
  const repeated = leftOut('again')
  const keptBytes = source.size - repeated - leftOut('lost') - parsed.skipped
  return {
    pieces: applyTo(source.size, patches),
    lost: findLost(fragments, parsed.gaps, tracks),
    keptBytes,
    repeatedBytes: repeated,
  }
}

/** Bytes of a fragment and the part of its data that is present. */
const lengthOf = ({ box, tracks = [] }: Fragment, media: Box[]): number =>
  box.end - box.start + sum(tracks.flatMap(({ runs }) => runs.map((run) => sum(run.sizes.subarray(0, countIn(media, run))))))

/** Reads the file's boxes, and collects repairs of invalid data between them. */
function readAll(source: Source): ParsedFile {
  const parsed: ParsedFile = { boxes: [], patches: [], gaps: [], skipped: 0 }
  const headers = new Set<string>()
  for (let at = 0; at < source.size; ) {
    const box = readKnown(source, at)
    if (!box) {
      const next = findFragment(source, at + 1, source.size) ?? source.size
      parsed.gaps.push(at)
      parsed.skipped += next - at
      skipInvalid(parsed, at, next)
      at = next
      continue
    }
    if (box.type === 'mdat') limitMedia(source, parsed, box)
    if (isHeader(box) && headers.has(box.type)) parsed.patches.push(toFreeSpace(box))
    headers.add(box.type)
    if (parsed.boxes.push(box) > MAX_REPAIR_ITEMS) throw new Error('The file has more boxes than a recording')
    at = box.end
  }
  return parsed
}

function readKnown(source: Source, at: number): Box | null {
  const box = readBox(source, at)
  return box && TYPES.has(box.type) && (box.end <= source.size || box.type === 'mdat') ? box : null
}

/** ftyp and moov, each of which occurs once. */
const isHeader = ({ type }: Box): boolean => type === 'ftyp' || type === 'moov'

/** Limits an mdat box to the next fragment or the end of the file, because its size field may be wrong. */
function limitMedia(source: Source, { patches }: ParsedFile, box: Box): void {
  const end = Math.min(box.end, source.size)
  const actual = findFragment(source, box.body, end) ?? end
  if (actual === box.end) return
  box.end = actual
  patches.push(sizeOf(box))
}

/** Appends invalid data to the preceding mdat, or turns it into free space. */
function skipInvalid({ boxes, patches }: ParsedFile, from: number, to: number): void {
  const before = boxes.at(-1)
  if (before?.type === 'mdat') {
    before.end = to
    patches.push(sizeOf(before))
  } else if (to - from >= 8) {
    patches.push(sizeOf({ type: '', start: from, body: from + 8, end: to }), { at: from + 4, bytes: FREE })
  }
}

function sizeOf({ start, body, end }: Box): Patch {
  const bytes = Buffer.alloc(body - start === 16 ? 8 : 4)
  if (bytes.length === 8) bytes.writeBigUInt64BE(BigInt(end - start))
  else bytes.writeUInt32BE(end - start)
  return { at: bytes.length === 8 ? start + 8 : start, bytes }
}

function findFragment(source: Source, from: number, to: number): number | null {
  for (let at = from; ; ) {
    const found = indexIn(source, MOOF, at, to)
    if (found === -1) return null
    const box = readBox(source, found - 4)
    if (box && box.start >= from && box.end <= source.size && source.bytes(box.body + 4, 4).equals(MFHD)) return box.start
    at = found + 1
  }
}

const toFreeSpace = ({ start }: Box): Patch => ({ at: start + 4, bytes: FREE })

function readFragments(source: Source, boxes: Box[], tracks: Map<number, TrackDefaults>): Fragment[] {
  let samples = 0
  return boxes
    .filter(({ type }) => type === 'moof')
    .map((box) => {
      const found = readFragment(source, box, tracks)
      for (const run of found?.flatMap(({ runs }) => runs) ?? []) samples += run.sizes.length
      if (samples > MAX_SAMPLES) throw new Error('The file has more samples than a recording')
      return { box, tracks: found ?? undefined, state: 'kept', isCut: false }
    })
}

/** Keeps fragments with data, in the longest sequence that doesn't go back in any track. */
function chooseFragments(source: Source, fragments: Fragment[], media: Box[], tracks: number[]): void {
  for (const fragment of fragments) {
    const runs = fragment.tracks?.flatMap((track) => track.runs) ?? []
    if (!runs.some((run) => countIn(media, run) > 0)) fragment.state = 'lost'
  }
  for (const track of tracks) removeBackward(fragments, track)
  markDuplicates(source, fragments)
}

/** Number of samples, from the first on, whose data is in an mdat box. */
function countIn(media: Box[], { data, sizes }: Run): number {
  const end = findHolder(media, data)?.end ?? 0
  let bytesLeft = end - data
  const first = sizes.findIndex((bytes) => {
    bytesLeft -= bytes
    return bytesLeft < 0
  })
  return first === -1 ? sizes.length : first
}

function findHolder(media: Box[], at: number): Box | undefined {
  let [low, high] = [0, media.length]
  while (low < high) {
    const middle = (low + high) >>> 1
    if (media[middle]!.end <= at) low = middle + 1
    else high = middle
  }
  const holder = media[low]
  return holder && holder.body <= at ? holder : undefined
}

function removeBackward(fragments: Fragment[], track: number): void {
  const ofTrack = fragments.flatMap((fragment) => {
    const found =
      fragment.state === 'kept' && fragment.tracks?.find((candidate) => candidate.track === track && candidate.ticks !== null)
    return found ? [{ fragment, ticks: found.ticks! }] : []
  })
  const rise = findLongestIncreasing(
    ofTrack.map(({ ticks }) => ticks),
    true,
  )
  for (const [place, { fragment }] of ofTrack.entries()) if (!rise[place]) fragment.state = 'lost'
}

/** A removed fragment that equals a kept one is no loss. */
function markDuplicates(source: Source, fragments: Fragment[]): void {
  const textOf = ({ box }: Fragment) => Buffer.from(source.bytes(box.start, box.end - box.start)).toString('latin1')
  const lost = fragments.filter(({ state, tracks }) => state === 'lost' && tracks)
  if (lost.length === 0) return
  const starts = new Set(lost.map(startOf))
  const keptTexts = new Set(
    fragments.filter((fragment) => fragment.state === 'kept' && starts.has(startOf(fragment))).map(textOf),
  )
  for (const fragment of lost) if (keptTexts.has(textOf(fragment))) fragment.state = 'again'
}

const startOf = ({ tracks }: Fragment) => `${tracks?.[0]?.track}:${tracks?.[0]?.ticks}`

/** Shortens runs with missing data to the last complete sample. */
function cutRuns(fragment: Fragment, media: Box[]): Patch[] {
  return fragment.tracks!.flatMap(({ runs }) =>
    runs.flatMap((run) => {
      const count = countIn(media, run)
      if (count === run.sizes.length) return []
      fragment.isCut = true
      const bytes = Buffer.alloc(4)
      bytes.writeUInt32BE(count)
      return [{ at: run.countAt, bytes }]
    }),
  )
}

function applyTo(size: number, patches: Patch[]): Piece[] {
  const pieces: Piece[] = []
  let at = 0
  for (const patch of patches) {
    if (patch.at < at) continue
    addRange(pieces, at, patch.at)
    pieces.push(patch.bytes)
    at = patch.at + patch.bytes.length
  }
  addRange(pieces, at, size)
  return pieces
}

/** For each loss, the start of the next kept fragment in seconds. */
function findLost(fragments: Fragment[], gaps: number[], tracks: Map<number, TrackDefaults>): number[] {
  const missing = fragments.filter(({ state, isCut }) => state === 'lost' || isCut).map(({ box }) => box.start)
  const places = [...missing, ...gaps].sort((a, b) => b - a)
  const keptFragments = fragments.filter(({ state, tracks: [first] = [] }) => state === 'kept' && first?.ticks != null)
  const lost = new Set<number>()
  let next = Infinity
  for (const place of places) {
    while (keptFragments.length > 0 && keptFragments.at(-1)!.box.start > place) next = secondsOf(keptFragments.pop()!, tracks)
    lost.add(next)
  }
  return [...lost].reverse()
}

function secondsOf({ tracks: [first] = [] }: Fragment, defaults: Map<number, TrackDefaults>): number {
  return first!.ticks! / defaults.get(first!.track)!.timescale
}
