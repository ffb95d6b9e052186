import { createArea, createCounter, type Stripped } from './strip-metadata.ts'

const [EXTENSION, FRAME, TRAILER] = [0x21, 0x2c, 0x3b]
const [COMMENT, APPLICATION] = [0xfe, 0xff]
/** Application extensions that affect how the picture is shown, such as repetition and colors. Others contain metadata such as XMP. */
const KEPT_APPLICATIONS = ['NETSCAPE2.0', 'ANIMEXTS1.0', 'ICCRGBG1012']

/** Removes comments, XMP, and trailing data. @throws RangeError if the file is truncated or has too many blocks. */
export function stripGif(file: Buffer): Stripped {
  const area = createArea()
  const count = createCounter()
  area.add(file.readUInt16LE(6), file.readUInt16LE(8))
  let at = 13 + colorsIn(file.readUInt8(10))
  const chunks = [file.subarray(0, at)]
  for (;;) {
    count()
    const kind = file.readUInt8(at)
    if (kind === TRAILER) break
    let end: number
    if (kind === FRAME) {
      area.add(file.readUInt16LE(at + 1) + file.readUInt16LE(at + 5), file.readUInt16LE(at + 3) + file.readUInt16LE(at + 7))
      end = endOfBlocks(file, at + 11 + colorsIn(file.readUInt8(at + 9)))
    } else if (kind === EXTENSION) end = endOfBlocks(file, at + 2)
    else throw new RangeError('A GIF has a piece of no known kind')
    if (kind === FRAME || isKept(file, at)) chunks.push(file.subarray(at, end))
    at = end
  }
  return { content: Buffer.concat([...chunks, Buffer.from([TRAILER])]), width: area.width, height: area.height }
}

/** Bytes of a table of colors, by the flags that announce it. */
const colorsIn = (flags: number): number => (flags & 0x80 ? 3 * 2 ** ((flags & 0x07) + 1) : 0)

/** Data comes in blocks of up to 255 bytes, each behind its length; the last is empty. */
function endOfBlocks(file: Buffer, from: number): number {
  let at = from
  for (let length = file.readUInt8(at); length > 0; length = file.readUInt8(at)) at += 1 + length
  return at + 1
}

function isKept(file: Buffer, extension: number): boolean {
  const label = file.readUInt8(extension + 1)
  if (label === APPLICATION) return KEPT_APPLICATIONS.includes(file.toString('latin1', extension + 3, extension + 14))
  return label !== COMMENT
}
