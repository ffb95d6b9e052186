import { stripJpeg, stripPng, stripWebp } from './strip-metadata.ts'

/** A picture as its bytes say it is. Sides in pixels, as it is shown. */
export type PictureFile = { contentType: string; width: number; height: number; content: Buffer }

const PNG = Buffer.from('\x89PNG\r\n\x1a\n', 'latin1')

/**
 * Reads a PNG, JPEG, WebP or GIF, by its content alone, without what its camera or program has written about whom and where. Nothing is
 * decoded. SVG is none: it can hold scripts.
 *
 * @returns null for anything else, for one that is cut off, and for one of too many pieces.
 */
export function readPicture(file: Buffer): PictureFile | null {
  try {
    return readPng(file) ?? readJpeg(file) ?? readWebp(file) ?? readGif(file)
  } catch (error) {
    if (error instanceof RangeError) return null // it ends before it says all, or says too much
    throw error
  }
}

function readPng(file: Buffer): PictureFile | null {
  if (!file.subarray(0, 8).equals(PNG) || file.toString('latin1', 12, 16) !== 'IHDR') return null
  return sized('image/png', file.readUInt32BE(16), file.readUInt32BE(20), stripPng(file))
}

function readJpeg(file: Buffer): PictureFile | null {
  if (file.length < 4 || file.readUInt32BE(0) >>> 8 !== 0xffd8ff) return null
  const { content, width, height, isTurned } = stripJpeg(file)
  return isTurned ? sized('image/jpeg', height, width, content) : sized('image/jpeg', width, height, content)
}

function readGif(file: Buffer): PictureFile | null {
  if (!/^GIF8[79]a$/.test(file.toString('latin1', 0, 6))) return null
  return sized('image/gif', file.readUInt16LE(6), file.readUInt16LE(8), file)
}

function readWebp(file: Buffer): PictureFile | null {
  if (file.toString('latin1', 0, 4) !== 'RIFF' || file.toString('latin1', 8, 12) !== 'WEBP') return null
  const [width, height] = sidesOfWebp(file)
  return sized('image/webp', width, height, stripWebp(file))
}

function sidesOfWebp(file: Buffer): [width: number, height: number] {
  switch (file.toString('latin1', 12, 16)) {
    case 'VP8X':
      return [file.readUIntLE(24, 3) + 1, file.readUIntLE(27, 3) + 1]
    case 'VP8L': {
      const bits = file.readUInt32LE(21)
      return [(bits & 0x3fff) + 1, ((bits >>> 14) & 0x3fff) + 1]
    }
    case 'VP8 ':
      return [file.readUInt16LE(26) & 0x3fff, file.readUInt16LE(28) & 0x3fff]
    default:
      return [0, 0]
  }
}

const sized = (contentType: string, width: number, height: number, content: Buffer): PictureFile | null =>
  width > 0 && height > 0 ? { contentType, width, height, content } : null
