// Detects content types from the first bytes and ignores declared types.

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

/** Type of an uploaded file, named as its extension. */
export type FileType = keyof typeof FILE_CONTENT_TYPES

export const FILE_CONTENT_TYPES = {
  pdf: 'application/pdf',
  docx: 'application/vnd.openxmlformats-officedocument.wordprocessingml.document',
  xlsx: 'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet',
  pptx: 'application/vnd.openxmlformats-officedocument.presentationml.presentation',
  odt: 'application/vnd.oasis.opendocument.text',
  ods: 'application/vnd.oasis.opendocument.spreadsheet',
  odp: 'application/vnd.oasis.opendocument.presentation',
  rtf: 'application/rtf',
  txt: 'text/plain',
  png: 'image/png',
  jpg: 'image/jpeg',
  webp: 'image/webp',
  gif: 'image/gif',
  zip: 'application/zip',
} as const

const SIGNATURES: [type: FileType, signature: RegExp][] = [
  ['pdf', /^%PDF-\d/],
  ['rtf', /^\{\\rtf\d/],
  ['png', /^\x89PNG\r\n/],
  ['jpg', /^\xff\xd8\xff/],
  ['webp', /^RIFF.{4}WEBPVP8/s],
  ['gif', /^GIF8[79]a/],
]
const ZIP_ENTRY = 'PK\x03\x04'
const OPEN_DOCUMENT = /^mimetypeapplication\/vnd\.oasis\.opendocument\.(text|spreadsheet|presentation)/
const OFFICE_FOLDERS: [type: FileType, folder: string][] = [
  ['docx', 'word/'],
  ['xlsx', 'xl/'],
  ['pptx', 'ppt/'],
]

/** Detects an accepted type of file. @param content its first part. @returns null for any other type, such as a program. */
export function fileTypeOf(content: Buffer): FileType | null {
  const start = content.toString('latin1', 0, HEADER_BYTES)
  const [signed] = SIGNATURES.find(([, signature]) => signature.test(start)) ?? []
  if (signed) return signed
  if (start.startsWith(ZIP_ENTRY)) return zipTypeOf(content)
  return isPlainText(content) ? 'txt' : null
}

/** Bytes from the beginning of a ZIP's entry to the name of its file. */
const ZIP_NAME_AT = 30

function zipTypeOf(content: Buffer): FileType {
  const [, document] = OPEN_DOCUMENT.exec(content.toString('latin1', ZIP_NAME_AT, 2 * HEADER_BYTES)) ?? []
  if (document) return ({ text: 'odt', spreadsheet: 'ods', presentation: 'odp' } as const)[document as 'text']
  for (let at = 0; at >= 0; at = content.indexOf(ZIP_ENTRY, at + 1, 'latin1')) {
    const name = content.toString('latin1', at + ZIP_NAME_AT, at + ZIP_NAME_AT + 5)
    const [office] = OFFICE_FOLDERS.find(([, folder]) => name.startsWith(folder)) ?? []
    if (office) return office
  }
  return 'zip'
}

const UTF_16 = Buffer.from([0xff, 0xfe])

/** Text in UTF-8 or another encoding that extends ASCII, without control characters; or in UTF-16. */
function isPlainText(content: Buffer): boolean {
  const bytes = content.subarray(0, UTF_16.length).equals(UTF_16) ? Buffer.from(content.toString('utf16le')) : content
  return bytes.every((byte) => byte >= 0x20 || (byte >= 0x08 && byte <= 0x0d) || byte === 0x1b)
}

export const isJpeg = (content: Buffer): boolean => content.subarray(0, JPEG.length).equals(JPEG)
