import type { UploadedListProblem } from '../domain/ports/problems.ts'
import { readPackage } from './read-package.ts'

// Detects formats by content: names and endings are often wrong.

/** @property refusal problem of a format that is recognized but not read. */
export type Detected = { format: 'xlsx' | 'qti' | 'text' } | { refusal: UploadedListProblem }

const begins = (bytes: Uint8Array, signature: string): boolean =>
  Buffer.from(bytes.subarray(0, signature.length)).toString('latin1') === signature

/** Detects binary formats. The format of a text is found after decoding, see {@link refuseText}. @throws UnreadableFile for a broken package. */
export function detectFile(bytes: Uint8Array): Detected {
  if (begins(bytes, '\xd0\xcf\x11\xe0')) return { refusal: detectCompound(bytes) }
  if (begins(bytes, 'PK')) return detectPackage(bytes)
  const head = Buffer.from(bytes.subarray(0, 1_024)).toString('latin1').trimStart()
  if (head.startsWith('%PDF-')) return { refusal: 'pdf' }
  if (head.startsWith('{\\rtf')) return { refusal: 'word' }
  const isOther = ['\x1f\x8b', 'Rar!', '7z\xbc\xaf', '\x89PNG', '\xff\xd8\xff', 'GIF8', 'BZh', 'SQLite'].some((sign) =>
    begins(bytes, sign),
  )
  // BIFF sheets from before Excel 97 have no container.
  if (begins(bytes, '\x09\x08') || begins(bytes, '\x09\x04') || begins(bytes, '\x09\x02')) return { refusal: 'oldExcel' }
  return isOther ? { refusal: 'otherFormat' } : { format: 'text' }
}

/** Word and Excel before 2007 use one container. Its folder has names in UTF-16. */
function detectCompound(bytes: Uint8Array): UploadedListProblem {
  const containsName = (name: string) => Buffer.from(bytes).includes(Buffer.from(name, 'utf16le'))
  if (containsName('EncryptedPackage')) return 'encrypted'
  if (containsName('Workbook') || containsName('Book')) return 'oldExcel'
  return containsName('WordDocument') ? 'word' : 'otherFormat'
}

function detectPackage(bytes: Uint8Array): Detected {
  const { names, files } = readPackage(bytes, (name) => name === 'mimetype' || name === 'imsmanifest.xml')
  const textOf = (name: string) => Buffer.from(files.get(name)?.subarray(0, 20_000) ?? '').toString('utf8')
  const lower = names.map((name) => name.toLowerCase())
  const type = textOf('mimetype')
  if (type.includes('opendocument.spreadsheet')) return { refusal: 'ods' }
  if (type.includes('opendocument.text')) return { refusal: 'word' }
  if (lower.includes('xl/workbook.bin')) return { refusal: 'binaryExcel' }
  if (lower.some((name) => name.startsWith('xl/'))) return { format: 'xlsx' }
  if (lower.some((name) => name.startsWith('word/'))) return { refusal: 'word' }
  const manifest = textOf('imsmanifest.xml')
  if (manifest) return detectQti(manifest)
  if (lower.length === 0) return { refusal: 'notSheet' }
  return { refusal: lower.some((name) => /assessment_meta\.xml$|\.qti\.dot$/.test(name)) ? 'canvas' : 'otherFormat' }
}

function detectQti(manifest: string): Detected {
  if (/imsqtiasi_v3p0|imsqti_item_xmlv3p0|qtiv3/i.test(manifest)) return { refusal: 'qti3' }
  if (/imsqti_xmlv1p2|imsqti_assessment_xmlv1p2|imscc_xmlv1p\d|ims_qtiasiv1p2/i.test(manifest)) return { refusal: 'canvas' }
  return /imsqti_\w*xmlv2p\d/i.test(manifest) ? { format: 'qti' } : { refusal: 'otherFormat' }
}

/** Formats in XML that hold questions. */
export type QuestionXml = 'moodleXml' | 'qti'

/** Detects XML; null for another text. */
export function detectXml(text: string): { format: QuestionXml } | { refusal: UploadedListProblem } | null {
  const head = text.slice(0, 4_000).trimStart()
  if (!head.startsWith('<')) return null
  if (/<!DOCTYPE\s+html|<html[\s>]/i.test(head) || !/<(quiz|(\w+:)?assessment(Item|Test))[\s>]/.test(head))
    return { refusal: refuseXml(head) }
  if (/<!DOCTYPE/i.test(head)) return { refusal: 'doctype' }
  return { format: /<quiz[\s>]/.test(head) ? 'moodleXml' : 'qti' }
}

/** Problem of XML that is not read. */
function refuseXml(head: string): UploadedListProblem {
  if (/<!DOCTYPE\s+html|<html[\s>]/i.test(head)) return /urn:schemas-microsoft-com:office:excel/i.test(head) ? 'oldExcel' : 'html'
  if (/<!DOCTYPE/i.test(head)) return 'doctype'
  if (/urn:schemas-microsoft-com:office:spreadsheet/i.test(head)) return 'oldExcel'
  if (/office:document|opendocument/i.test(head)) return 'ods'
  if (/<questestinterop[\s>]/i.test(head)) return 'canvas'
  if (/<qti-assessment/i.test(head)) return 'qti3'
  return 'otherFormat'
}
