import chardet from 'chardet'

/** Encodings by their WHATWG names, as a person chooses them. */
export const ENCODINGS = [
  ...(['utf-8', 'utf-16le', 'utf-16be', 'windows-1250', 'windows-1251', 'windows-1252', 'windows-1253', 'windows-1254'] as const),
  ...(['windows-1255', 'windows-1256', 'windows-1257', 'iso-8859-2', 'iso-8859-15', 'koi8-r', 'shift_jis', 'euc-jp'] as const),
  ...(['gbk', 'big5', 'euc-kr'] as const),
]
export type Encoding = (typeof ENCODINGS)[number]
export const isEncoding = (name: string): name is Encoding => (ENCODINGS as readonly string[]).includes(name)

/** Bytes that the guess looks at. */
const MAX_SAMPLE = 64 * 1024
/** Points by which the best guess must lead, see {@link scoreOf}. */
const CLEAR_LEAD = 15
/** Characters beyond ASCII from which on the library's confidence counts in full. */
const ENOUGH = 6

/** @returns undefined for bytes that the encoding doesn't have. */
export function decodeBytes(bytes: Uint8Array, encoding: Encoding): string | undefined {
  try {
    return new TextDecoder(encoding, { fatal: true }).decode(bytes)
  } catch {
    return undefined
  }
}

/** Languages that are written in an encoding: their letters beyond ASCII, or a pattern of their words. */
const LATIN_1 = ['äöüß', 'éèêëàâçîïôûùœæ', 'ñáíóúéü¿¡ª', 'áéíóúâêôçàü', 'àèéìíòóù', 'åäöøæé', 'éëïöü']
/** Thorn stands before vowels, r, and v. */
const ICELANDIC = /^(?:[a-záðéíóúýæö]|þ(?=[aáeéiíouúyýæörvj]))+$/iu
const ESTONIAN = 'äöüõšž'
/** Tildes stand only in these diphthongs, and at the end. */
const PORTUGUESE = /^(?:[a-záéíóúâêôçàü]|ã(?:[oei]|s?$)|õe)+$/iu
const LATIN_2 = ['ąćęłńóśźż', 'áčďéěíňóřšťúůýž', 'áäčďéíĺľňóôŕšťúýž', 'áéíóöőúüű', 'ăâîşţ', 'čćđšž', 'äöüß', 'ëç']
const CYRILLIC = /^[а-яёіїєґўјљњћџђѓќѕ№]+$/iu
const LANGUAGES: Partial<Record<Encoding, (string | RegExp)[]>> = {
  'windows-1252': [...LATIN_1, ICELANDIC, ESTONIAN, PORTUGUESE],
  'iso-8859-15': [...LATIN_1, ICELANDIC, ESTONIAN, PORTUGUESE],
  'windows-1250': LATIN_2,
  'iso-8859-2': LATIN_2,
  'windows-1254': ['ğışçöüâîûİ'],
  'windows-1257': ['ąčęėįšųūž', 'āčēģīķļņšūž', ESTONIAN],
  'windows-1251': [CYRILLIC],
  'koi8-r': [CYRILLIC],
  'windows-1253': [/^[α-ωάέήίόύώϊϋΐΰ]+$/iu],
  'windows-1255': [/^[\u05b0-\u05f4]+$/u],
  'windows-1256': [/^[\u060c-\u065f]+$/u],
}
const toPattern = (language: string | RegExp): RegExp =>
  typeof language === 'string' ? new RegExp(`^[a-z${language}${language.toUpperCase()}]+$`, 'iu') : language
const WORDS = new Map(Object.entries(LANGUAGES).map(([encoding, languages]) => [encoding, languages.map(toPattern)]))
/** Signs beside words. */
const COMMON = new Set('’‘‚“”„–—…•«»€°§©®·×½£±²³™¿¡\u00a0')
/** A word with adjacent signs: signs such as £ stand before numbers, not letters. */
const WORD = /(?:[£©×±½¼]?[\p{L}\p{M}ªº№]+[¼½¾£±×]?)+/gu

/**
 * First bytes of the frequent characters, which East Asian standards sort before the rare ones; `also` matches further signs of such texts.
 */
const FREQUENT: Partial<Record<Encoding, { from: number; to: number; also: RegExp }>> = {
  shift_jis: { from: 0x88, to: 0x97, also: /[\u3000-\u30ff\uff00-\uff60]/u },
  'euc-jp': { from: 0xb0, to: 0xcf, also: /[\u3000-\u30ff\uff00-\uff60]/u },
  gbk: { from: 0xb0, to: 0xd7, also: /[\u3000-\u303f\uff00-\uff60]/u },
  big5: { from: 0xa4, to: 0xc6, also: /[\u3000-\u303f\uff00-\uff60]/u },
  'euc-kr': { from: 0xb0, to: 0xc8, also: /[\u3000-\u303f\uff00-\uff60]/u },
}
/** Encodings that contain those the library names. */
const NAMES: Record<string, Encoding> = {
  'ISO-8859-1': 'windows-1252',
  'ISO-8859-9': 'windows-1254',
  'ISO-8859-7': 'windows-1253',
  'ISO-8859-8': 'windows-1255',
  'ISO-8859-6': 'windows-1256',
  GB18030: 'gbk',
}

/** @property isDoubtful true if another encoding fits nearly as well and gives another text. */
type Guess = { text: string; encoding: Encoding; isDoubtful: boolean }

/** Guesses the encoding of a text with characters beyond ASCII. @returns undefined if none fits. */
export function guessEncoding(bytes: Uint8Array): Guess | undefined {
  const confidence = new Map<Encoding, number>()
  for (const { name, confidence: points } of chardet.analyse(bytes.subarray(0, MAX_SAMPLE))) {
    const encoding = NAMES[name] ?? name.toLowerCase()
    if (isEncoding(encoding)) confidence.set(encoding, Math.max(points, confidence.get(encoding) ?? 0))
  }
  const ranked = ENCODINGS.filter((encoding) => !encoding.startsWith('utf'))
    .flatMap((encoding) => {
      const text = decodeBytes(bytes, encoding)
      return text === undefined ? [] : [{ encoding, text, score: scoreOf(encoding, text, bytes, confidence.get(encoding) ?? 0) }]
    })
    .sort((one, other) => other.score - one.score)
  const [best, ...runnersUp] = ranked
  if (!best) return undefined
  const isDoubtful = best.score < 60 || runnersUp.some(({ text, score }) => score > best.score - CLEAR_LEAD && text !== best.text)
  return { text: best.text, encoding: best.encoding, isDoubtful }
}

/** The library's confidence (0 to 100) decides between encodings whose letters fit equally well: the share of fitting ones counts double. */
function scoreOf(encoding: Encoding, text: string, bytes: Uint8Array, confidence: number): number {
  const sample = text.slice(0, MAX_SAMPLE)
  const foreign = sample.replace(/[\0-\x7f]/g, '')
  const frequent = FREQUENT[encoding]
  // Korean and Chinese bytes are mostly valid in EUC-JP, but give no kana.
  if (encoding === 'euc-jp' && !/[\u3041-\u30ff]/.test(sample)) return 0
  const share = frequent
    ? shareOfFrequent(bytes.subarray(0, MAX_SAMPLE), foreign, frequent)
    : shareOfLetters(sample, foreign, WORDS.get(encoding))
  // The frequent characters of Korean are a subset of those of Chinese. Those of Japanese begin with quotation marks in other encodings.
  const isLikelier = share === 1 && ((encoding === 'euc-kr' && foreign.length >= 4) || encoding === 'shift_jis')
  const bonus = isLikelier ? CLEAR_LEAD + 1 : 0
  // A few characters say little about the frequencies by which the library decides.
  const weight = frequent ? 1 : Math.min(1, foreign.length / ENOUGH)
  return 200 * share - 200 * shareOfFaults(sample, foreign.length) + weight * confidence + bonus
}

/**
 * Share of the characters beyond ASCII that are signs, or in words of a language of the encoding. Most texts are in one language, so words of several
 * count less. Other encodings can win only by the library's confidence.
 */
function shareOfLetters(sample: string, foreign: string, languages: RegExp[] | undefined): number {
  if (!languages) return 0.4
  const countForeign = (text: string) => text.replace(/[\0-\x7f]/g, '').length
  const words = (sample.match(WORD) ?? []).filter((word) => countForeign(word) > 0)
  const signs = [...foreign].filter((sign) => COMMON.has(sign)).length
  const fitting = (fits: (word: string) => boolean) =>
    words.reduce((sum, word) => sum + (fits(word) ? countForeign(word) : 0), signs)
  const ofAny = fitting((word) => languages.some((language) => language.test(word)))
  const ofOne = Math.max(...languages.map((language) => fitting((word) => language.test(word))))
  return (SHARE_OF_ANY * ofAny + (1 - SHARE_OF_ANY) * ofOne) / Math.max(1, foreign.length)
}

const SHARE_OF_ANY = 0.85

function shareOfFrequent(
  bytes: Uint8Array,
  foreign: string,
  { from, to, also }: { from: number; to: number; also: RegExp },
): number {
  let count = 0
  for (let i = 0; i < bytes.length; i++) {
    if (bytes[i]! < 0x80) continue
    if (bytes[i]! >= from && bytes[i]! <= to) count++
    i++
  }
  const alsoCount = [...foreign].filter((sign) => also.test(sign)).length
  return Math.min(1, (count + alsoCount) / Math.max(1, foreign.length))
}

/** Signs of a wrong encoding: control characters; signs, capitals, and other scripts within a word. */
const FAULTS =
  /[\x80-\x9f]|(?<=\p{L})[^\p{L}\p{M}\p{N}\p{Z}\0-\x7f’‘–—·°…»”“](?=\p{L})|(?<=\p{Ll})\p{Lu}(?=\p{L})|(?<=[a-z])[\p{sc=Cyrillic}\p{sc=Greek}\p{sc=Han}\p{sc=Hangul}]|[\uff61-\uff9f\ue000-\uf8ff]/gu
function shareOfFaults(sample: string, foreign: number): number {
  const openQuotes = sample.includes('“') && !/[”„]/.test(sample) ? 1 : 0
  return ((sample.match(FAULTS)?.length ?? 0) + openQuotes) / Math.max(1, foreign)
}
