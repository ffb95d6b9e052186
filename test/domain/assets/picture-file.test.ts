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

const ABCD: [string, Buffer] = ['ABCD', Buffer.alloc(0)]
const times = <T>(length: number, made: T): T[] => Array.from({ length }, () => made)
const emptyChunk = Buffer.from('\0\0\0\0abCd\0\0\0\0', 'latin1')
/** With chunks behind its first. */
const pngWith = (...chunks: Buffer[]) => Buffer.concat([png(40, 30).subarray(0, 33), ...chunks, png(40, 30).subarray(33)])

describe('a picture', () => {
  it.each([
    ['image/png', png(40, 30)],
    ['image/jpeg', jpeg()],
    ['image/gif', Buffer.from('GIF89a\x28\0\x1e\0\0', 'latin1')],
    ['image/webp', riff(['VP8X', extended], ['VP8 ', Buffer.alloc(10)])],
    ['image/webp', riff(['VP8L', Buffer.from([0x2f, 39, 0x40, 7, 0])])],
    ['image/webp', riff(['VP8 ', Buffer.from([0, 0, 0, 0x9d, 1, 0x2a, 40, 0, 30, 0])])],
  ])('is %s by its content, with its sides', (contentType, file) => {
    expect(readPicture(file)).toMatchObject({ contentType, width: 40, height: 30 })
  })

  it.each([
    ['an SVG', Buffer.from('<svg xmlns="http://www.w3.org/2000/svg" width="4" height="3"/>')],
    ['a page', Buffer.from('<!doctype html><script>alert(1)</script>')],
    ['nothing', Buffer.alloc(0)],
    ['a PNG without sides', png(0, 0)],
    ...[1, 8, 20, 40].map((bytes): [string, Buffer] => [`${bytes} bytes of a PNG`, png().subarray(0, bytes)]),
    ...[3, 12, 30].map((bytes): [string, Buffer] => [`${bytes} bytes of a JPEG`, jpeg().subarray(0, bytes)]),
    ['a JPEG without an end', jpeg().subarray(0, -2)],
    ['bytes of a WebP', riff(['VP8X', extended]).subarray(0, 22)],
  ])('is not %s', (_what, file) => {
    expect(readPicture(file)).toBeNull()
  })

  it.each([
    ['JPEG', 3, (empty: number) => jpeg(...times(empty, segment(0xe0, '')))],
    ['WebP', 2, (empty: number) => riff(['VP8X', extended], ['VP8 ', Buffer.alloc(10)], ...times(empty, ABCD))],
    ['PNG', 3, (empty: number) => pngWith(...times(empty, emptyChunk))],
  ])('has at most 10,000 pieces: %s', (_type, own, made) => {
    expect(readPicture(made(10_000 - own))).toMatchObject({ width: 40, height: 30 })
    expect(readPicture(made(10_001 - own))).toBeNull()
  })

  it('keeps nothing of where and when it was taken', () => {
    const files = [
      png(4, 3, { told: 'GPS 52.5' }),
      jpeg(exif(1, 'GPS 52.5'), segment(0xe1, 'http://ns.adobe.com/xap GPS 52.5'), segment(0xfe, 'GPS 52.5')),
      Buffer.concat([jpeg(), jpeg(exif(1, 'GPS 52.5'))]),
      riff(['VP8X', extended], ['VP8 ', Buffer.alloc(10)], ['EXIF', Buffer.from('GPS 52.5')], ['XMP ', Buffer.from('GPS 52.5')]),
    ]
    for (const file of files) {
      const content = readPicture(file)!.content
      expect(content.includes('GPS')).toBe(false)
      expect(readPicture(content)!.content.equals(content)).toBe(true) // read once more it is the same
    }
    expect(readPicture(files[3]!)!.content[20]).toBe(0) // nor does its header announce it
  })

  it('stays turned as the camera was held', () => {
    const turned = readPicture(jpeg(exif(6, 'GPS 52.5')))!
    expect(turned).toMatchObject({ width: 30, height: 40 })
    expect(readPicture(turned.content)).toMatchObject({ width: 30, height: 40 })
    expect(readPicture(jpeg(exif(3, '')))).toMatchObject({ width: 40, height: 30 })
  })
})
