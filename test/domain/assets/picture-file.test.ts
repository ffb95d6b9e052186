import { describe, expect, it } from 'vitest'
import { readPicture } from '../../../src/domain/assets/picture-file.ts'
import { png } from '../../support/pictures.ts'

const segment = (marker: number, content: Buffer | string): Buffer => {
  const bytes = Buffer.from(content as string, 'latin1')
  const head = Buffer.from([0xff, marker, 0, 0])
  head.writeUInt16BE(bytes.length + 2, 2)
  return Buffer.concat([head, bytes])
}
const exif = (orientation: number, place: string) =>
  segment(
    0xe1,
    `Exif\0\0${Buffer.from(`4949 2a00 0800 0000 0100 1201 0300 0100 0000 0${orientation}00 0000 0000 0000`.replaceAll(' ', ''), 'hex').toString('latin1')}${place}`,
  )
const frame = segment(0xc0, Buffer.from([8, 0, 30, 0, 40, 1, 1, 0x11, 0]))
const scan = Buffer.concat([segment(0xda, Buffer.from([1, 1, 0, 0, 63, 0])), Buffer.from([1, 0xff, 0, 0xff, 0xd0, 2])])
const jpeg = (...told: Buffer[]) =>
  Buffer.concat([Buffer.from([0xff, 0xd8]), segment(0xe0, 'JFIF\0'), ...told, frame, scan, Buffer.from([0xff, 0xd9])])

const riff = (...chunks: [string, Buffer][]): Buffer => {
  const body = Buffer.concat(
    chunks.flatMap(([type, content]) => {
      const length = Buffer.alloc(4)
      length.writeUInt32LE(content.length)
      return [Buffer.from(type), length, content, Buffer.alloc(content.length % 2)]
    }),
  )
  const length = Buffer.alloc(4)
  length.writeUInt32LE(body.length + 4)
  return Buffer.concat([Buffer.from('RIFF'), length, Buffer.from('WEBP'), body])
}
const extended = Buffer.from([0x0c, 0, 0, 0, 39, 0, 0, 29, 0, 0])

const uint24 = (value: number) => Buffer.from([value & 0xff, (value >> 8) & 0xff, value >> 16])
/** Chunks of an extended WebP: its canvas, and a frame of its animation. */
const canvas = (width: number, height: number): [string, Buffer] => [
  'VP8X',
  Buffer.concat([Buffer.from([0x0c, 0, 0, 0]), uint24(width - 1), uint24(height - 1)]),
]
const animationFrame = (width: number, height: number, inner: Buffer): [string, Buffer] => [
  'ANMF',
  Buffer.concat([Buffer.alloc(6), uint24(width - 1), uint24(height - 1), Buffer.alloc(4), inner.subarray(12)]),
]
const lossy = (width: number, height: number): [string, Buffer] => {
  const data = Buffer.from([0, 0, 0, 0x9d, 1, 0x2a, 0, 0, 0, 0])
  data.writeUInt16LE(width, 6)
  data.writeUInt16LE(height, 8)
  return ['VP8 ', data]
}
const lossless = (width: number, height: number): [string, Buffer] => {
  const data = Buffer.from([0x2f, 0, 0, 0, 0])
  data.writeUInt32LE(((height - 1) << 14) | (width - 1), 1)
  return ['VP8L', data]
}

const gifFrame = (width: number, height: number, left = 0) => {
  const head = Buffer.alloc(10)
  head[0] = 0x2c
  for (const [i, value] of [left, 0, width, height].entries()) head.writeUInt16LE(value, 1 + 2 * i)
  return Buffer.concat([head, Buffer.from([2, 2, 0x4c, 1, 0])])
}
const gifExtension = (label: number, ...blocks: string[]) =>
  Buffer.from(
    `!${String.fromCharCode(label)}${blocks.map((text) => `${String.fromCharCode(text.length)}${text}`).join('')}\0`,
    'latin1',
  )
/** A GIF with a palette of two colors. */
const gif = (width: number, height: number, ...pieces: Buffer[]) => {
  const head = Buffer.from('GIF89a\0\0\0\0\x80\0\0', 'latin1')
  head.writeUInt16LE(width, 6)
  head.writeUInt16LE(height, 8)
  return Buffer.concat([head, Buffer.alloc(6), ...pieces, Buffer.from(';')])
}
const frameOf = (width: number, height: number) => {
  const content = Buffer.from([8, 0, 0, 0, 0, 1, 1, 0x11, 0])
  content.writeUInt16BE(height, 1)
  content.writeUInt16BE(width, 3)
  return segment(0xc0, content)
}
/** The PNG chunk with the position of an animation frame. */
const pngFrame = (width: number, height: number) => {
  const chunk = Buffer.alloc(12 + 26)
  chunk.writeUInt32BE(26)
  chunk.write('fcTL', 4, 'latin1')
  chunk.writeUInt32BE(width, 12)
  chunk.writeUInt32BE(height, 16)
  return chunk
}

const ABCD: [string, Buffer] = ['ABCD', Buffer.alloc(0)]
const times = <T>(length: number, made: T): T[] => Array.from({ length }, () => made)
const emptyChunk = Buffer.from('\0\0\0\0abCd\0\0\0\0', 'latin1')
/** A PNG with more chunks after its first one. */
const pngWith = (...chunks: Buffer[]) => Buffer.concat([png(40, 30).subarray(0, 33), ...chunks, png(40, 30).subarray(33)])

describe('a picture', () => {
  it.each([
    ['image/png', png(40, 30)],
    ['image/jpeg', jpeg()],
    ['image/gif', gif(40, 30, gifFrame(40, 30))],
    ['image/gif', gif(40, 30, gifExtension(0xf9, '\x04\0\0\0'), gifFrame(10, 30), gifFrame(10, 10, 30))],
    ['image/webp', riff(['VP8X', extended], ['VP8 ', Buffer.alloc(10)])],
    ['image/webp', riff(canvas(40, 30), animationFrame(20, 20, riff(lossy(20, 20))))],
    ['image/webp', riff(['VP8L', Buffer.from([0x2f, 39, 0x40, 7, 0])])],
    ['image/webp', riff(['VP8 ', Buffer.from([0, 0, 0, 0x9d, 1, 0x2a, 40, 0, 30, 0])])],
  ])('is recognized as %s by its content, with its width and height', (contentType, file) => {
    expect(readPicture(file)).toMatchObject({ contentType, width: 40, height: 30 })
  })

  it.each([
    ['an SVG', Buffer.from('<svg xmlns="http://www.w3.org/2000/svg" width="4" height="3"/>')],
    ['a page', Buffer.from('<!doctype html><script>alert(1)</script>')],
    ['nothing', Buffer.alloc(0)],
    ['a PNG without a width and height', png(0, 0)],
    ...[1, 8, 20, 40].map((bytes): [string, Buffer] => [`${bytes} bytes of a PNG`, png().subarray(0, bytes)]),
    ...[3, 12, 30].map((bytes): [string, Buffer] => [`${bytes} bytes of a JPEG`, jpeg().subarray(0, bytes)]),
    ['a JPEG without an end', jpeg().subarray(0, -2)],
    ['a GIF without an end', gif(4, 3, gifFrame(4, 3)).subarray(0, -1)],
    ['a GIF whose frame is cut off', gif(4, 3, gifFrame(4, 3)).subarray(0, -4)],
    ['bytes of a WebP', riff(['VP8X', extended]).subarray(0, 22)],
  ])('is rejected if it is %s', (_what, file) => {
    expect(readPicture(file)).toBeNull()
  })

  it.each([
    ['JPEG', 3, (empty: number) => jpeg(...times(empty, segment(0xe0, '')))],
    ['WebP', 2, (empty: number) => riff(['VP8X', extended], ['VP8 ', Buffer.alloc(10)], ...times(empty, ABCD))],
    ['PNG', 3, (empty: number) => pngWith(...times(empty, emptyChunk))],
  ])('has at most 10,000 chunks: %s', (_type, own, made) => {
    expect(readPicture(made(10_000 - own))).toMatchObject({ width: 40, height: 30 })
    expect(readPicture(made(10_001 - own))).toBeNull()
  })

  it.each([
    ['WebP', riff(canvas(10, 10), lossy(16_000, 16_000))],
    ['lossless WebP', riff(canvas(10, 10), lossless(16_000, 16_000))],
    ['WebP with a second picture', riff(lossy(10, 10), lossy(16_000, 16_000))],
    ['animated WebP', riff(canvas(10, 10), animationFrame(16_000, 16_000, riff(lossy(16_000, 16_000))))],
    [
      'animated WebP whose frame header states a small size',
      riff(canvas(10, 10), animationFrame(10, 10, riff(lossy(16_000, 16_000)))),
    ],
    ['GIF', gif(10, 10, gifFrame(16_000, 16_000))],
    ['animated GIF', gif(10, 10, gifFrame(10, 10), gifFrame(10, 16_000, 15_990))],
    ['animated PNG', pngWith(pngFrame(16_000, 16_000))],
  ])('has the dimensions of the largest frame: %s', (_type, file) => {
    expect(readPicture(file)).toMatchObject({ width: 16_000, height: 16_000 })
  })

  it.each([
    ['a large one, then a small one', frameOf(16_000, 16_000), frameOf(10, 10)],
    ['a small one, then a large one', frameOf(10, 10), frameOf(16_000, 16_000)],
  ])('is rejected as a JPEG with two frames: %s', (_what, first, second) => {
    const file = Buffer.concat([Buffer.from([0xff, 0xd8]), first, second, scan, Buffer.from([0xff, 0xd9])])
    expect(readPicture(file)).toBeNull()
  })

  it('drops the metadata about where and when it was taken', () => {
    const files = [
      png(4, 3, { told: 'GPS 52.5' }),
      jpeg(exif(1, 'GPS 52.5'), segment(0xe1, 'http://ns.adobe.com/xap GPS 52.5'), segment(0xfe, 'GPS 52.5')),
      Buffer.concat([jpeg(), jpeg(exif(1, 'GPS 52.5'))]),
      gif(
        4,
        3,
        gifExtension(0xff, 'NETSCAPE2.0', '\x01\0\0'),
        gifExtension(0xfe, 'GPS 52.5'),
        gifExtension(0xff, 'XMP DataXMP', 'GPS 52.5'),
        gifFrame(4, 3),
      ),
      riff(['VP8X', extended], ['VP8 ', Buffer.alloc(10)], ['EXIF', Buffer.from('GPS 52.5')], ['XMP ', Buffer.from('GPS 52.5')]),
    ]
    for (const file of files) {
      const content = readPicture(file)!.content
      expect(content.includes('GPS')).toBe(false)
      expect(readPicture(content)!.content.equals(content)).toBe(true) // reading it again changes nothing
    }
    expect(readPicture(files[4]!)!.content[20]).toBe(0) // nor does its header announce it
  })

  it('keeps the rotation of the camera', () => {
    const turned = readPicture(jpeg(exif(6, 'GPS 52.5')))!
    expect(turned).toMatchObject({ width: 30, height: 40 })
    expect(readPicture(turned.content)).toMatchObject({ width: 30, height: 40 })
    expect(readPicture(jpeg(exif(3, '')))).toMatchObject({ width: 40, height: 30 })
  })
})
