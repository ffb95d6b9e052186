// Detects content types from the first bytes, whatever the sender declared.

export type Container = 'video/webm' | 'video/mp4'

const EBML = Buffer.from([0x1a, 0x45, 0xdf, 0xa3])
const JPEG = Buffer.from([0xff, 0xd8, 0xff])
/** The header of a WebM file ends before. */
const HEADER_BYTES = 64

/** The container that a recording begins with: WebM (EBML with that document type) or MP4 (ISO base media); null for anything else. */
export function containerOf(content: Buffer): Container | null {
  const header = content.subarray(0, HEADER_BYTES)
  if (header.subarray(0, EBML.length).equals(EBML)) return header.includes('webm') ? 'video/webm' : null
  return header.subarray(4, 8).equals(Buffer.from('ftyp')) ? 'video/mp4' : null
}

export const isJpeg = (content: Buffer): boolean => content.subarray(0, JPEG.length).equals(JPEG)
