// Small recordings with valid first bytes that take much time or memory to process.

const uint32 = (...numbers: number[]): Buffer => {
  const bytes = Buffer.alloc(numbers.length * 4)
  numbers.forEach((number, place) => void bytes.writeUInt32BE(number >>> 0, place * 4))
  return bytes
}
const uint16 = (...numbers: number[]): Buffer => Buffer.from(numbers.flatMap((number) => [(number >> 8) & 255, number & 255]))

const box = (type: string, ...contents: Buffer[]): Buffer => {
  const content = Buffer.concat(contents)
  return Buffer.concat([uint32(8 + content.length), Buffer.from(type), content])
}
const fullBox = (type: string, ...contents: Buffer[]): Buffer => box(type, uint32(0), ...contents)

const IDENTITY = uint32(0x10000, 0, 0, 0, 0x10000, 0, 0, 0, 0x40000000)

/** An MP4 whose sample table refers to the same bytes many times. */
export function repeatingMp4(bytes: number, times: number): Buffer {
  const type = box('ftyp', Buffer.from('isom'), uint32(512), Buffer.from('isommp41'))
  const build = (offset: number): Buffer => {
    const visual = [
      Buffer.alloc(6),
      uint16(1),
      Buffer.alloc(16),
      uint16(16, 16),
      uint32(0x480000, 0x480000, 0),
      uint16(1),
      Buffer.alloc(32),
    ]
    const codec = fullBox('vpcC', Buffer.from([0, 10, 0x82, 1, 1, 1, 0, 0]))
    const entry = box('vp09', ...visual, uint16(24, 0xffff), codec)
    const table = box(
      'stbl',
      fullBox('stsd', uint32(1), entry),
      fullBox('stts', uint32(1, times, 33)),
      fullBox('stsc', uint32(1, 1, 1, 1)),
      fullBox('stsz', uint32(bytes, times)),
      fullBox('stco', uint32(times), uint32(...new Array(times).fill(offset))),
    )
    const reference = box('dinf', fullBox('dref', uint32(1), box('url ', uint32(1))))
    const media = box(
      'mdia',
      fullBox('mdhd', uint32(0, 0, 1_000, times * 33), uint16(0x55c4, 0)),
      fullBox('hdlr', uint32(0), Buffer.from('vide'), Buffer.alloc(13)),
      box('minf', box('vmhd', uint32(1, 0, 0)), reference, table),
    )
    const header = fullBox('tkhd', uint32(0, 0, 1, 0, times * 33, 0, 0, 0, 0), IDENTITY, uint32(16 << 16, 16 << 16))
    const times32 = [
      uint32(0, 0, 1_000, times * 33, 0x10000),
      uint16(0x100, 0),
      uint32(0, 0),
      IDENTITY,
      Buffer.alloc(24),
      uint32(2),
    ]
    return box('moov', fullBox('mvhd', ...times32), box('trak', header, media))
  }
  const begin = type.length + build(0).length + 8
  const keyFrame = Buffer.from([0x82, 0x49, 0x83, 0x42, 0, 0, 0xf0, 0, 0xf0, 0])
  return Buffer.concat([type, build(begin), box('mdat', Buffer.concat([keyFrame, Buffer.alloc(bytes - keyFrame.length)]))])
}

const element = (id: number[], ...contents: Buffer[]): Buffer => {
  const content = Buffer.concat(contents)
  const size = uint32(content.length)
  size[0]! |= 0x10
  return Buffer.concat([Buffer.from(id), size, content])
}

/** A WebM whose blocks contain the maximum number of empty audio frames. */
export function lacedWebm(bytes: number): Buffer {
  const head = Buffer.concat([Buffer.from('OpusHead'), Buffer.from([1, 1, 0, 0, 0x80, 0xbb, 0, 0, 0, 0, 0])])
  const track = element(
    [0xae],
    element([0xd7], Buffer.from([1])),
    element([0x73, 0xc5], Buffer.from([1])),
    element([0x83], Buffer.from([2])),
    element([0x86], Buffer.from('A_OPUS')),
    element([0x63, 0xa2], head),
    element([0xe1], element([0x9f], Buffer.from([1]))),
  )
  // Fixed-size lacing: a block with 256 frames of one byte has 262 bytes, one with 256 empty frames has 10.
  const block = element([0xa3], Buffer.from([0x81, 0, 0, 0x84, 0xff]))
  const blocks = new Array<Buffer>(Math.floor(bytes / block.length)).fill(block)
  const cluster = element([0x1f, 0x43, 0xb6, 0x75], element([0xe7], Buffer.from([0])), ...blocks)
  const info = element([0x15, 0x49, 0xa9, 0x66], element([0x2a, 0xd7, 0xb1], Buffer.from([0x0f, 0x42, 0x40])))
  const header = element([0x1a, 0x45, 0xdf, 0xa3], element([0x42, 0x82], Buffer.from('webm')))
  return Buffer.concat([header, element([0x18, 0x53, 0x80, 0x67], info, element([0x16, 0x54, 0xae, 0x6b], track), cluster)])
}

/** The beginning of a recording, followed by garbage without an end. */
export function endlessWebm([first]: Buffer[]): Buffer {
  const damaged = Buffer.concat([first!, Buffer.alloc(4_000, 7)])
  damaged[352] = 0 // an element of size 0, which the reader reads again and again
  return damaged
}
