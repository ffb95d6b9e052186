import { findLongestIncreasing } from './longest-increasing.ts'
import { addRange, indexIn, MAX_REPAIR_ITEMS, type Piece, type Repaired, type Source, sum } from './source.ts'

const EBML = 0x1a45dfa3
const SEGMENT = 0x18538067
const INFO = 0x1549a966
const TRACKS = 0x1654ae6b
const CLUSTER = 0x1f43b675
const TIMESTAMP = 0xe7
const SIMPLE_BLOCK = 0xa3
const BLOCK_GROUP = 0xa0
const BLOCK = 0xa1
const TIMESTAMP_SCALE = 0x2ad7b1
/** Elements that occur once, at the beginning. */
const HEADERS = new Set([EBML, SEGMENT, INFO, TRACKS])
/** SeekHead, Cues, Tags, Chapters, Attachments; Void and CRC-32; a cluster's position, previous size, silent tracks. */
const OTHERS = new Set([0x114d9b74, 0x1c53bb6b, 0x1254c367, 0x1043a770, 0x1941a469, 0xec, 0xbf, 0xa7, 0xab, 0x5854])
const CLUSTER_ID = Buffer.from('1f43b675', 'hex')
/** Unknown size, as one byte. */
const UNKNOWN = 0xff
/** Default nanoseconds per tick. */
const USUAL_SCALE = 1_000_000

type Element = { id: number; start: number; body: number /** Infinity if unknown. */; end: number }
type Block = { start: number; end: number; track: number; ticks: number; cluster: number }
type Cluster = { /** Of the Timestamp element. */ start: number; end: number; ticks: number }
type Visitor = {
  header: (element: Element) => void
  cluster: (cluster: Cluster) => void
  block: (block: Omit<Block, 'cluster'>) => void
  /** Unreadable bytes. */
  gap: (from: number, to: number) => void
  isEnough: () => boolean
}
type ParsedFile = {
  headers: Element[]
  clusters: Cluster[]
  blocks: Block[]
  /** Numbers of blocks before each unreadable part. */
  gaps: number[]
  /** Unreadable bytes. */
  skipped: number
  isDamaged: boolean
}

/**
 * Repairs a WebM file: duplicate headers, clusters and blocks that repeat or go back in time, and damaged or missing bytes. Keeps the headers, and
 * every readable block that is later than those before it, in its cluster.
 *
 * @returns null if nothing needs repair, or there are no headers.
 * @throws Error for more blocks than any recording has.
 */
export function repairWebm(source: Source): Repaired | null {
  if (isOrderly(source)) return null
  const parsed = readAll(source)
  if (!parsed.headers.some(({ id }) => id === TRACKS)) return null
  const isKept = chooseBlocks(source, parsed.blocks)
  if (!parsed.isDamaged && isKept.every((state) => state === 'kept')) return null
  const lengthOf = (state: string) =>
    sum(parsed.blocks.map(({ start, end }, place) => (isKept[place] === state ? end - start : 0)))
  const lost = findLost(parsed, isKept, readScale(source, parsed.headers) / 1e9)
  const repeated = lengthOf('again')
  return {
    pieces: writeAll(parsed, isKept),
    lost,
    keptBytes: source.size - repeated - lengthOf('lost') - parsed.skipped,
    repeatedBytes: repeated,
  }
}

/** For each loss, the start of the next kept block in seconds. */
function findLost({ blocks, gaps }: ParsedFile, states: string[], scale: number): number[] {
  const before = new Set(gaps)
  const lost = new Set<number>()
  let next = Infinity
  for (let place = blocks.length; place >= 0; place--) {
    if (states[place] === 'kept') next = blocks[place]!.ticks * scale
    if (states[place] === 'lost' || before.has(place)) lost.add(next)
  }
  return [...lost].reverse()
}

/** True if everything is readable and in order. Uses constant memory. */
function isOrderly(source: Source): boolean {
  let isSo = true
  const found = new Set<number>()
  const last = new Map<number, number>()
  visitElements(source, {
    header({ id }) {
      if (found.has(id)) isSo = false
      found.add(id)
    },
    cluster() {},
    block({ track, ticks }) {
      if (ticks <= (last.get(track) ?? -Infinity)) isSo = false
      if (last.size < MAX_TRACKS || last.has(track)) last.set(track, ticks)
    },
    gap() {
      isSo = false
    },
    isEnough: () => !isSo,
  })
  return isSo
}
const MAX_TRACKS = 8

function readAll(source: Source): ParsedFile {
  const parsed: ParsedFile = { headers: [], clusters: [], blocks: [], gaps: [], skipped: 0, isDamaged: false }
  visitElements(source, {
    header(header) {
      if (parsed.headers.some(({ id }) => id === header.id)) parsed.isDamaged = true
      else parsed.headers.push(header)
    },
    cluster: (cluster) => addItem(parsed.clusters, cluster),
    block: (block) => addItem(parsed.blocks, { ...block, cluster: parsed.clusters.length - 1 }),
    gap(from, to) {
      parsed.isDamaged = true
      parsed.skipped += to - from
      parsed.gaps.push(parsed.blocks.length)
    },
    isEnough: () => false,
  })
  return parsed
}

/** Visits all elements. After invalid data, continues at the next cluster. */
function visitElements(source: Source, visitor: Visitor): void {
  /** Start of the current cluster; null until known. */
  let ticks: number | null = null
  const tickingVisitor: Visitor = {
    ...visitor,
    cluster(cluster) {
      ticks = cluster.ticks
      visitor.cluster(cluster)
    },
    block: (block) => visitor.block({ ...block, ticks: block.ticks + ticks! }),
  }
  for (let at = 0; at < source.size && !visitor.isEnough(); ) {
    const element = readElement(source, at)
    const next = element && visit(source, element, tickingVisitor, ticks !== null)
    if (next) {
      if (element.id === CLUSTER) ticks = null
      at = next
      continue
    }
    const cluster = indexIn(source, CLUSTER_ID, at + 1)
    const end = cluster === -1 ? source.size : cluster
    visitor.gap(at, end)
    at = end
    ticks = null
  }
}

/** Visits an element. @returns the position of the next one; null if it is invalid there. */
function visit(source: Source, element: Element, visitor: Visitor, isInCluster: boolean): number | null {
  const { id, start, body, end } = element
  if (id === CLUSTER) return body
  if (id !== SEGMENT && end > source.size) return null // also rejects an unknown size
  if (HEADERS.has(id)) {
    visitor.header(element)
    return id === SEGMENT ? body : end
  }
  if (OTHERS.has(id)) return end
  if (id === TIMESTAMP && end - body <= 8) {
    visitor.cluster({ start, end, ticks: readNumber(source, body, end) })
    return end
  }
  if (!isInCluster || (id !== SIMPLE_BLOCK && id !== BLOCK_GROUP)) return null
  const header = readBlock(source, id === SIMPLE_BLOCK ? body : findBlock(source, body, end), end)
  if (header) visitor.block({ start, end, ...header })
  return header && end
}

function addItem<T>(items: T[], item: T): void {
  if (items.length >= MAX_REPAIR_ITEMS) throw new Error('The file has more blocks than a recording')
  items.push(item)
}

/** Keeps each track's longest sequence of blocks that doesn't go back. Other blocks are lost, unless they are duplicates. */
function chooseBlocks(source: Source, blocks: Block[]): ('kept' | 'again' | 'lost')[] {
  const states = blocks.map(() => 'lost' as 'kept' | 'again' | 'lost')
  const places = Map.groupBy(blocks.keys(), (place) => blocks[place]!.track)
  for (const placesOfTrack of places.values()) {
    const rise = findLongestIncreasing(
      placesOfTrack.map((place) => blocks[place]!.ticks),
      false,
    )
    const keptBlocks = new Map<number, Block>()
    for (const [index, place] of placesOfTrack.entries()) {
      const block = blocks[place]!
      const same = keptBlocks.get(block.ticks)
      if (!rise[index] || (same && isEqual(source, same, block))) continue
      keptBlocks.set(block.ticks, block)
      states[place] = 'kept'
    }
    for (const place of placesOfTrack) {
      const block = blocks[place]!
      const same = keptBlocks.get(block.ticks)
      if (states[place] !== 'kept' && same && isEqual(source, same, block)) states[place] = 'again'
    }
  }
  return states
}

function isEqual(source: Source, a: Block, b: Block): boolean {
  if (a === b || a.end - a.start !== b.end - b.start || a.end - a.start > MAX_BLOCK_BYTES) return a === b
  return Buffer.from(source.bytes(a.start, a.end - a.start)).equals(source.bytes(b.start, b.end - b.start))
}
/** Blocks are smaller. */
const MAX_BLOCK_BYTES = 2 ** 22

function writeAll({ headers, clusters, blocks }: ParsedFile, states: string[]): Piece[] {
  const pieces: Piece[] = []
  const findHeader = (id: number) => headers.find((header) => header.id === id)
  const ebml = findHeader(EBML)
  if (ebml) addRange(pieces, ebml.start, ebml.end)
  pieces.push(Buffer.from([0x18, 0x53, 0x80, 0x67, UNKNOWN]))
  for (const header of [findHeader(INFO), findHeader(TRACKS)]) if (header) addRange(pieces, header.start, header.end)
  let currentCluster = -1
  for (const [place, { start, end, cluster }] of blocks.entries()) {
    if (states[place] !== 'kept') continue
    if (cluster !== currentCluster) {
      pieces.push(Buffer.from([...CLUSTER_ID, UNKNOWN]))
      addRange(pieces, clusters[cluster]!.start, clusters[cluster]!.end)
      currentCluster = cluster
    }
    addRange(pieces, start, end)
  }
  return pieces
}

function readElement(source: Source, start: number): Element | null {
  const bytes = source.bytes(start, 12)
  const idLength = Math.clz32(bytes[0]!) - 23
  if (idLength > 4 || bytes.length < idLength + 1) return null
  const size = readVint(bytes.subarray(idLength))
  if (!size) return null
  const body = start + idLength + size.length
  return { id: bytes.readUIntBE(0, idLength), start, body, end: body + size.value }
}

/** Reads an EBML variable-size integer of one to eight bytes. @returns Infinity if all bits are set. */
function readVint(bytes: Buffer): { length: number; value: number } | null {
  const first = bytes[0] ?? 0
  const length = Math.clz32(first) - 23
  if (first === 0 || bytes.length < length) return null
  let value = first & (0xff >> length)
  let isFull = value === 0xff >> length
  for (const byte of bytes.subarray(1, length)) {
    value = value * 256 + byte
    isFull &&= byte === 0xff
  }
  return { length, value: isFull ? Infinity : value }
}

const readNumber = (source: Source, from: number, to: number): number =>
  source.bytes(from, to - from).reduce((sum, byte) => sum * 256 + byte, 0)

/** Track of a block, and its ticks since the start of the cluster. */
function readBlock(source: Source, body: number, end: number): { track: number; ticks: number } | null {
  const bytes = source.bytes(body, 11)
  const track = readVint(bytes)
  if (body === -1 || !track || body + track.length + 3 > end || bytes.length < track.length + 3) return null
  return { track: track.value, ticks: bytes.readInt16BE(track.length) }
}

/** Position of a group's block; -1 if it has none. */
function findBlock(source: Source, from: number, to: number): number {
  for (let at = from; at < to; ) {
    const element = readElement(source, at)
    if (!element || element.end > to) return -1
    if (element.id === BLOCK) return element.body
    at = element.end
  }
  return -1
}

function readScale(source: Source, headers: Element[]): number {
  const info = headers.find(({ id }) => id === INFO)
  for (let at = info?.body ?? 0; info && at < info.end; ) {
    const element = readElement(source, at)
    if (!element || element.end > info.end) break
    if (element.id === TIMESTAMP_SCALE && element.end - element.body <= 6) return readNumber(source, element.body, element.end)
    at = element.end
  }
  return USUAL_SCALE
}
