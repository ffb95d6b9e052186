import type { NeutralAnswer } from '../neutral.ts'

// Right options of a row in a sheet: named by letter, number, or text.

/** @property decimal plain decimal of a text that is a number. */
export type Option = { number: number; text: string; decimal: string | undefined }

/**
 * @property lettersWin true for files that this service wrote: a right answer `A` is option A even if an option's text is “A”.
 * @property numbers when right answers may name options by number, from 1: always, only beside options that are no numbers, or never.
 * @property reading meaning of right answers: labels, texts, or whichever of both fits alone.
 * @property hasTextKeys true if other rows name right options by their texts.
 */
export type KeyRules = {
  lettersWin: boolean
  numbers: 'always' | 'besideTexts' | 'never'
  reading: 'both' | 'label' | 'text'
  hasTextKeys: boolean
}

/** @property shares percent by option number, for right options. @property isWeighed true if the cell names at least one share. */
type CorrectAnswer = { shares: Map<number, number>; isWeighed: boolean }

/** Words for true and false, as spreadsheets and people write them, in lower case, letters and digits only. */
const TRUE_WORDS = [
  'true',
  't',
  'yes',
  'y',
  'right',
  'correct',
  '1',
  'wahr',
  'ja',
  'richtig',
  'vrai',
  'oui',
  'verdadero',
  'sí',
  'si',
  'verdadeiro',
  'sim',
  'vero',
  'waar',
  'prawda',
  'tak',
  'истина',
  'да',
  'صحيح',
]
const FALSE_WORDS = [
  'false',
  'f',
  'no',
  'n',
  'wrong',
  'incorrect',
  '0',
  'falsch',
  'nein',
  'faux',
  'non',
  'falso',
  'não',
  'nao',
  'onwaar',
  'nee',
  'fałsz',
  'nie',
  'ложь',
  'нет',
  'خطأ',
]
const truthWord = (text: string): string =>
  text
    .toLowerCase()
    .normalize('NFC')
    .replace(/[^\p{L}\p{N}]/gu, '')

/** @returns undefined for a word that is neither. */
export function readTruthWord(text: string): boolean | undefined {
  const word = truthWord(text)
  if (TRUE_WORDS.includes(word)) return true
  return FALSE_WORDS.includes(word) ? false : undefined
}

export function readTruth(right: string): NeutralAnswer | string {
  const isTrue = readTruthWord(right)
  if (isTrue === undefined)
    return right === '' ? 'It has no right answer.' : `The right answer “${right}” is neither true nor false.`
  return {
    as: 'options',
    several: false,
    options: [
      { text: 'True', share: isTrue ? 100 : 0 },
      { text: 'False', share: isTrue ? 0 : 100 },
    ],
  }
}

/** "Paris 50%". */
export function readShare(text: string): { text: string; share: number } {
  const [, answer, share] = /^(.*\S)\s+(-?\d{1,3})\s*%$/s.exec(text) ?? []
  return answer === undefined ? { text, share: 100 } : { text: answer, share: Number(share) }
}

const SEPARATORS = /[;|,\n]/
/** “A and C”: only between names of options. */
const AND = /^(.{1,9}?)\s+(?:and|&|und|et|y|e|i|и|en)\s+(.{1,9})$/is
/** "Option 2", "B)", "(c)". */
const labelOf = (text: string): string =>
  text
    .replace(/^(option|choice|answer|antwort|réponse|respuesta|opción|resposta|opção)\s*(?=\(?\w{1,2}[).]?$)/i, '')
    .replace(/^\(?(\w{1,2})[).]$/, '$1')

/** Options that a letter or number names. */
function findLabeled(text: string, options: Option[], { numbers, reading }: KeyRules): Option[] {
  const label = labelOf(text)
  const isBesideTexts = reading === 'label' || options.every(({ decimal }) => decimal === undefined)
  const mayBeNumber = /^0?\d{1,2}$/.test(label) && (numbers === 'always' || (numbers === 'besideTexts' && isBesideTexts))
  return options.filter(
    ({ number }) => String.fromCharCode(64 + number) === label.toUpperCase() || (mayBeNumber && Number(label) === number),
  )
}

const fold = (text: string): string => text.normalize('NFC').toLowerCase().replace(/\s+/g, ' ').trim()

function findByText(text: string, decimal: string | undefined, options: Option[]): Option[] {
  const same = options.filter((option) => option.text === text)
  if (same.length > 0) return same
  const alike = options.filter((option) => fold(option.text) === fold(text))
  if (alike.length > 0) return alike
  return decimal === undefined ? [] : options.filter((option) => option.decimal === decimal)
}

/** A truth value for options that are words for true and false. */
function findByTruth(text: string, options: Option[]): Option[] {
  const isTrue = readTruthWord(text)
  const truths = options.map((option) => (/\d/.test(option.text) ? undefined : readTruthWord(option.text)))
  if (isTrue === undefined || options.length !== 2 || truths.some((truth) => truth === undefined) || truths[0] === truths[1])
    return []
  return options.filter((_, i) => truths[i] === isTrue)
}

function findOptions(text: string, decimal: string | undefined, options: Option[], rules: KeyRules): Option[] {
  const labeled = rules.reading === 'text' ? [] : findLabeled(text, options, rules)
  if ((rules.lettersWin || rules.reading === 'label') && (labeled.length > 0 || rules.reading === 'label')) return labeled
  const found = [...new Set([...labeled, ...findByText(text, decimal, options)])]
  const truth = findByTruth(text, options)
  if (found.length === 0 || /^[01]$/.test(text)) return [...new Set([...found, ...truth])]
  return found
}

const ambiguous = (right: string): string =>
  `The right answer “${right}” fits more than one option. Write the letter of the right one.`

/** The way in which a row's right answer names an option. Other rows are read in its light. */
export type KeyEvidence = 'label' | 'text' | 'both' | 'none'

export function evidenceOf(right: string, decimal: string | undefined, options: Option[], rules: KeyRules): KeyEvidence {
  const rulesForBoth = { ...rules, reading: 'both' as const, lettersWin: false }
  const labeled = findLabeled(right, options, rulesForBoth).length > 0
  const named = findByText(right, decimal, options).length > 0
  if (labeled && named) return 'both'
  if (labeled) return 'label'
  return named ? 'text' : 'none'
}

/** True if a right answer is the number or letter of one option, and the text of another. */
export function isAmbiguous(right: string, decimal: string | undefined, options: Option[], rules: KeyRules): boolean {
  if (rules.reading !== 'both' || rules.lettersWin) return false
  const labeled = findLabeled(right, options, rules)
  return labeled.length > 0 && findByText(right, decimal, options).some((option) => !labeled.includes(option))
}

/**
 * Reads the right options. An ambiguous cell is refused, because nobody would notice a wrong key.
 *
 * @param decimal plain decimal of a cell that is a number. @returns the reason, in a sentence, if the cell is refused.
 */
export function readRight(
  right: string,
  decimal: string | undefined,
  options: Option[],
  rules: KeyRules,
): CorrectAnswer | string {
  const parts = splitRight(right, options, rules)
  const reading = readingOfAll(parts, options, rules)
  const find = (text: string) => findOptions(text, parts.length === 1 ? decimal : undefined, options, { ...rules, reading })
  const readParts = parts.map((part) => ({ part, ...readPart(part, find, rules) }))
  const whole = parts.length > 1 ? find(right) : []
  const isWhole = whole.length > 0 && !(rules.lettersWin && readParts.every(({ found }) => found.length === 1))
  if (isWhole && readParts.every(({ found }) => found.length > 0)) return ambiguous(right)
  if (isWhole) return whole.length === 1 ? { shares: new Map([[whole[0]!.number, 100]]), isWeighed: false } : ambiguous(right)
  const shares = new Map<number, number>()
  for (const { part, found, share } of readParts) {
    if (found.length === 0) return `The right answer “${part}” is not an option.`
    if (found.length > 1) return ambiguous(part)
    if (isNumberInDoubt(part, found[0]!, options, rules))
      return `The right answer “${part}” is the number of an option, but other rows name the text of an option. Write a letter.`
    shares.set(found[0]!.number, share)
  }
  return { shares, isWeighed: readParts.some((part) => part.isWeighed) }
}

/** `1,2` names the first two of 2, 3, 4: as a text, 1 would be none of them. */
function readingOfAll(parts: string[], options: Option[], rules: KeyRules): KeyRules['reading'] {
  if (rules.reading !== 'both' || parts.length === 1 || !parts.every((part) => /^\d+$/.test(part))) return rules.reading
  const areLabels = parts.every((part) => findLabeled(part, options, rules).length === 1)
  const areTexts = parts.every((part) => findByText(part, undefined, options).length > 0)
  if (areLabels === areTexts) return 'both'
  return areLabels ? 'label' : 'text'
}

/** “3” for the third of 7, 8, 9 is a number that was mistyped, where other rows name texts. */
const isNumberInDoubt = (
  part: string,
  found: Option,
  options: Option[],
  { reading, hasTextKeys, lettersWin }: KeyRules,
): boolean =>
  reading === 'both' &&
  hasTextKeys &&
  !lettersWin &&
  /^\d+$/.test(part) &&
  found.text !== part &&
  options.some(({ decimal }) => decimal !== undefined)

function splitRight(right: string, options: Option[], rules: KeyRules): string[] {
  const parts = right
    .split(SEPARATORS)
    .map((part) => part.trim())
    .filter(Boolean)
  return parts.flatMap((part) => {
    const [, first, second] = AND.exec(part) ?? []
    const areLabels = first !== undefined && [first, second!].every((name) => findLabeled(name, options, rules).length === 1)
    return areLabels && findByText(part, undefined, options).length === 0 ? [first, second!] : [part]
  })
}

/** "B", "Paris" or "Paris 50%". */
function readPart(
  part: string,
  find: (text: string) => Option[],
  { lettersWin }: KeyRules,
): { found: Option[]; share: number; isWeighed: boolean } {
  const { text, share } = readShare(part)
  const plain = { found: find(part), share: 100, isWeighed: false }
  if (text === part) return plain
  const weighed = { found: find(text), share, isWeighed: true }
  if (weighed.found.length === 0) return plain
  if (plain.found.length === 0 || lettersWin) return weighed
  return { ...weighed, found: [...plain.found, ...weighed.found] }
}
