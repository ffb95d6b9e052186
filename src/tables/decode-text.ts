import { decodeBytes, type Encoding, guessEncoding, isEncoding } from './encodings.ts'
import { UnreadableFile } from './unreadable-file.ts'

/** @property isDoubtful true if another encoding fits nearly as well and gives another text. */
export type DecodedText = { text: string; encoding: Encoding; isGuess: boolean; isDoubtful: boolean }

/**
 * Decodes a text file: by its byte order mark, as UTF-8, as UTF-16 without a mark, as its XML declares, or by a guess. Never with replacement characters.
 *
 * @param chosen encoding that a person chose.
 * @throws UnreadableFile `wrongEncoding` for bytes that the chosen encoding doesn't have, or no encoding fits; `damagedText` with the line.
 */
export function decodeText(bytes: Uint8Array, chosen?: Encoding): DecodedText {
  const sure = (text: string | undefined, encoding: Encoding): DecodedText => {
    if (text === undefined) throw new UnreadableFile('wrongEncoding')
    return { text, encoding, isGuess: false, isDoubtful: false }
  }
  if (chosen) return sure(decodeBytes(bytes, chosen), chosen)
  const marked = encodingOfMark(bytes)
  if (marked) return sure(decodeBytes(bytes, marked), marked)
  const utf16 = guessUtf16(bytes)
  if (utf16) return sure(decodeBytes(bytes, utf16), utf16)
  const utf8 = decodeBytes(bytes, 'utf-8')
  if (utf8 !== undefined) return sure(utf8, 'utf-8')
  const declared = encodingOfXml(bytes)
  if (declared) return sure(decodeBytes(bytes, declared), declared)
  refuseDamagedUtf8(bytes)
  const guess = guessEncoding(bytes)
  if (!guess) throw new UnreadableFile('wrongEncoding')
  return { ...guess, isGuess: true }
}

/** Encoding in the first line of an XML file. */
function encodingOfXml(bytes: Uint8Array): Encoding | undefined {
  const head = Buffer.from(bytes.subarray(0, 200)).toString('latin1')
  const [, name] = /^<\?xml\s[^<>]*encoding=["']([\w.:-]{1,40})["']/.exec(head) ?? []
  try {
    const encoding = name && new TextDecoder(name).encoding
    return encoding && encoding !== 'utf-8' && isEncoding(encoding) ? encoding : undefined
  } catch {
    return undefined // an unknown name
  }
}

function encodingOfMark([first, second, third]: Uint8Array): Encoding | undefined {
  if (first === 0xef && second === 0xbb && third === 0xbf) return 'utf-8'
  if (first === 0xff && second === 0xfe) return 'utf-16le'
  if (first === 0xfe && second === 0xff) return 'utf-16be'
  return undefined
}

/** ASCII characters in UTF-16 have a zero byte each. */
function guessUtf16(bytes: Uint8Array): Encoding | undefined {
  const sample = bytes.subarray(0, 1_000)
  const zeros = [0, 0]
  for (const [i, byte] of sample.entries()) if (byte === 0) zeros[i % 2]!++
  const many = sample.length / 8
  if (zeros[1]! > many && zeros[0] === 0) return 'utf-16le'
  return zeros[0]! > many && zeros[1] === 0 ? 'utf-16be' : undefined
}

/** UTF-8 with a few broken characters, as after a cut or an edit in another encoding: any other encoding would garble all the rest. */
function refuseDamagedUtf8(bytes: Uint8Array): void {
  const text = new TextDecoder('utf-8').decode(bytes)
  const broken = text.split('\ufffd').length - 1
  const whole = text.replace(/[\0-\x7f\ufffd]/g, '').length
  if (whole > broken) throw new UnreadableFile('damagedText', text.slice(0, text.indexOf('\ufffd')).split('\n').length)
}
