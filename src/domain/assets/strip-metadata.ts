// Removes metadata from pictures: place, author, time. Throws a RangeError for truncated files and files with too many segments.

/** Segments or chunks of a picture: a photo has dozens. Each costs, and millions fit into a file of the size that is taken. */
const MAX_PIECES = 10_000

/** Counts the pieces of a picture. @throws RangeError if there are too many. */
export function createCounter(): () => void {
  let pieces = 0
  return () => {
    if (++pieces > MAX_PIECES) throw new RangeError('A picture has too many segments')
  }
}

/**
 * Picture without metadata. Width and height of the largest area that a decoder may draw, which can exceed the header's: a small canvas may
 * have a huge frame. 0: unknown.
 */
export type Stripped = { content: Buffer; width: number; height: number }

/** Grows by each frame to the area that holds all of them. */
export function createArea(): { width: number; height: number; add: (width: number, height: number) => void } {
  const area = {
    width: 0,
    height: 0,
    add(width: number, height: number) {
      area.width = Math.max(area.width, width)
      area.height = Math.max(area.height, height)
    },
  }
  return area
}

/** @property isTurned true if width and height are exchanged when it is shown. Nothing else of its Exif is kept. */
type StrippedJpeg = Stripped & { isTurned: boolean }

/** Segments that describe the picture: APP1 (Exif, XMP), APP3 to APP13, APP15, COM; and APP2 but for the color profile. */
const isTold = (marker: number, segment: Buffer): boolean =>
  marker === 0xe2
    ? segment.toString('latin1', 4, 15) !== 'ICC_PROFILE'
    : marker === 0xe1 || (marker >= 0xe3 && marker <= 0xed) || marker === 0xef || marker === 0xfe

/** Frames: SOF0 to SOF15, but for DHT, JPG and DAC, which lie among them. */
const isFrame = (marker: number): boolean => marker >= 0xc0 && marker <= 0xcf && ![0xc4, 0xc8, 0xcc].includes(marker)

/** Also removes data after the picture's end, where phones store further pictures and videos. */
export function stripJpeg(file: Buffer): StrippedJpeg {
  const chunks: Buffer[] = []
  let [width, height, orientation] = [0, 0, 1]
  let frames = 0
  for (const { marker, segment } of segmentsOf(file)) {
    if (isFrame(marker)) {
      if (++frames > 1) throw new RangeError('A JPEG has a second frame, which no browser shows')
      ;[height, width] = [segment.readUInt16BE(5), segment.readUInt16BE(7)]
    }
    if (marker === 0xe1) orientation = orientationOf(segment) ?? orientation
    if (!isTold(marker, segment)) chunks.push(segment)
  }
  const turning = orientation === 1 ? [] : [exifOf(orientation)]
  const content = Buffer.concat([Buffer.from([0xff, 0xd8]), ...turning, ...chunks, Buffer.from([0xff, 0xd9])])
  return { content, width, height, isTurned: orientation >= 5 }
}

/** Segments up to the end of the picture. Entropy-coded data belongs to the segment before it. */
function* segmentsOf(file: Buffer): Generator<{ marker: number; segment: Buffer }> {
  const count = createCounter()
  for (let at = 2; ; ) {
    while (file.readUInt16BE(at) === 0xffff) at++ // padding
    const marker = file.readUInt16BE(at) - 0xff00
    if (marker === 0xd9) return
    if (marker <= 0) throw new RangeError('A marker of a JPEG is missing')
    const length = file.readUInt16BE(at + 2)
    const end = marker === 0xda ? endOfScan(file, at + 2 + length) : at + 2 + length
    if (length < 2 || end > file.length) throw new RangeError('A segment of a JPEG is cut off')
    count()
    yield { marker, segment: file.subarray(at, end) }
    at = end
  }
}

/** Offset of the next marker outside of the coded picture. */
function endOfScan(file: Buffer, from: number): number {
  for (let at = file.indexOf(0xff, from); at >= 0 && at + 1 < file.length; at = file.indexOf(0xff, at + 1)) {
    const next = file[at + 1]!
    if (next !== 0x00 && next !== 0xff && (next < 0xd0 || next > 0xd7)) return at
  }
  throw new RangeError('A JPEG is cut off')
}

/** Orientation from the Exif data, 1 to 8; null if it has none. */
function orientationOf(segment: Buffer): number | null {
  if (segment.toString('latin1', 4, 10) !== 'Exif\0\0') return null
  const tiff = segment.subarray(10)
  const isLittle = tiff.toString('latin1', 0, 2) === 'II'
  const short = (at: number) => (at + 2 > tiff.length ? 0 : isLittle ? tiff.readUInt16LE(at) : tiff.readUInt16BE(at))
  const directory = tiff.length < 8 ? 0 : isLittle ? tiff.readUInt32LE(4) : tiff.readUInt32BE(4)
  for (let i = 0; i < short(directory); i++) {
    const entry = directory + 2 + i * 12
    if (entry + 12 > tiff.length) return null
    if (short(entry) !== 0x0112) continue
    const value = short(entry + 8)
    return value >= 1 && value <= 8 ? value : null
  }
  return null
}

/** Exif with the orientation only. */
const exifOf = (orientation: number): Buffer =>
  Buffer.from(`ffe10022457869660000${'4d4d002a00000008'}0001${'01120003000000010'}00${orientation}0000${'00000000'}`, 'hex')

const TOLD_CHUNKS = new Set(['eXIf', 'tEXt', 'zTXt', 'iTXt', 'tIME'])

/** Removes metadata, and everything after the end chunk. */
export function stripPng(file: Buffer): Stripped {
  const chunks: Buffer[] = [file.subarray(0, 8)]
  const count = createCounter()
  const area = createArea()
  for (let at = 8; ; ) {
    count()
    const data = at + 8
    const end = at + 12 + file.readUInt32BE(at)
    if (end > file.length) throw new RangeError('A chunk of a PNG is cut off')
    const type = file.toString('latin1', at + 4, at + 8)
    if (type === 'IHDR') area.add(file.readUInt32BE(data), file.readUInt32BE(data + 4))
    // A frame of an animation: its number, width, height, and offsets.
    if (type === 'fcTL')
      area.add(
        file.readUInt32BE(data + 4) + file.readUInt32BE(data + 12),
        file.readUInt32BE(data + 8) + file.readUInt32BE(data + 16),
      )
    if (!TOLD_CHUNKS.has(type)) chunks.push(file.subarray(at, end))
    if (type === 'IEND') return { content: Buffer.concat(chunks), width: area.width, height: area.height }
    at = end
  }
}

/** The flags of its header that announce Exif and XMP. */
const TOLD_FLAGS = 0x08 | 0x04
/** Bytes of a frame's head in an animated WebP, before its own chunks. */
const ANIMATION_HEAD = 16

export function stripWebp(file: Buffer): Stripped {
  const whole = 8 + file.readUInt32LE(4)
  if (whole > file.length) throw new RangeError('A WebP is cut off')
  const chunks: Buffer[] = []
  const area = createArea()
  const count = createCounter()
  for (const { type, chunk } of chunksOf(file.subarray(12, whole), count)) {
    addSides(area, type, chunk)
    if (type === 'ANMF')
      for (const inner of chunksOf(chunk.subarray(8 + ANIMATION_HEAD), count)) addSides(area, inner.type, inner.chunk)
    if (type === 'EXIF' || type === 'XMP ') continue
    chunks.push(type === 'VP8X' ? withoutFlags(chunk) : chunk)
  }
  const body = Buffer.concat(chunks)
  const head = Buffer.from(file.subarray(0, 12))
  head.writeUInt32LE(body.length + 4, 4)
  return { content: Buffer.concat([head, body]), width: area.width, height: area.height }
}

/** @yields each chunk with its header of eight bytes and its padding byte. */
function* chunksOf(body: Buffer, count: () => void): Generator<{ type: string; chunk: Buffer }> {
  for (let at = 0; at < body.length; ) {
    count()
    const bytes = body.readUInt32LE(at + 4)
    if (at + 8 + bytes > body.length) throw new RangeError('A chunk of a WebP is cut off')
    const end = at + 8 + bytes + (bytes % 2)
    yield { type: body.toString('latin1', at, at + 4), chunk: body.subarray(at, end) }
    at = end
  }
}

function addSides(area: ReturnType<typeof createArea>, type: string, chunk: Buffer): void {
  const data = chunk.subarray(8)
  if (type === 'VP8X') area.add(data.readUIntLE(4, 3) + 1, data.readUIntLE(7, 3) + 1)
  // A frame of an animation: its offsets in steps of two pixels, then width and height.
  if (type === 'ANMF')
    area.add(2 * data.readUIntLE(0, 3) + data.readUIntLE(6, 3) + 1, 2 * data.readUIntLE(3, 3) + data.readUIntLE(9, 3) + 1)
  if (type === 'VP8 ') area.add(data.readUInt16LE(6) & 0x3fff, data.readUInt16LE(8) & 0x3fff)
  if (type === 'VP8L') {
    const bits = data.readUInt32LE(1)
    area.add((bits & 0x3fff) + 1, ((bits >>> 14) & 0x3fff) + 1)
  }
}

function withoutFlags(chunk: Buffer): Buffer {
  const copy = Buffer.from(chunk)
  copy[8] = copy[8]! & ~TOLD_FLAGS
  return copy
}
