import { stripGif } from './strip-gif.ts'
import { type Stripped, stripJpeg, stripPng, stripWebp } from './strip-metadata.ts'

/** Picture, identified by its content. Width and height in pixels as displayed; those of the largest frame if one exceeds the canvas. */
export type PictureFile = { contentType: string; width: number; height: number; content: Buffer }

const PNG = Buffer.from('\x89PNG\r\n\x1a\n', 'latin1')

/**
 * Reads a PNG, JPEG, WebP, or GIF and removes its metadata, such as authors and places. Identified by content; nothing is decoded. No SVG,
 * because it can contain scripts.
 *
 * @returns null for other types, truncated files, and files with too many segments.
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
  return toPictureFile('image/png', stripPng(file))
}

function readJpeg(file: Buffer): PictureFile | null {
  if (file.length < 4 || file.readUInt32BE(0) >>> 8 !== 0xffd8ff) return null
  const { isTurned, width, height, content } = stripJpeg(file)
  return toPictureFile('image/jpeg', isTurned ? { content, width: height, height: width } : { content, width, height })
}

function readGif(file: Buffer): PictureFile | null {
  if (!/^GIF8[79]a$/.test(file.toString('latin1', 0, 6))) return null
  return toPictureFile('image/gif', stripGif(file))
}

function readWebp(file: Buffer): PictureFile | null {
  if (file.toString('latin1', 0, 4) !== 'RIFF' || file.toString('latin1', 8, 12) !== 'WEBP') return null
  if (!['VP8X', 'VP8L', 'VP8 '].includes(file.toString('latin1', 12, 16))) return null
  return toPictureFile('image/webp', stripWebp(file))
}

const toPictureFile = (contentType: string, picture: Stripped): PictureFile | null =>
  picture.width > 0 && picture.height > 0 ? { contentType, ...picture } : null
