import type { NeutralAnswer, NeutralQuestion, NumberRange, ParsedQuestion, WeightedText } from '../neutral.ts'

// GIFT, the text format of Moodle: blocks separated by empty lines. Each is a question with its answers in braces.

/** Private-use characters that replace escaped signs while parsing. */
const ESCAPES: Record<string, string> = {
  '~': '\u{e000}',
  '=': '\u{e001}',
  '#': '\u{e002}',
  '{': '\u{e003}',
  '}': '\u{e004}',
  ':': '\u{e005}',
}
const MARKS = new Map(Object.entries(ESCAPES).map(([sign, mark]) => [mark, sign]))
const hide = (text: string): string => text.replace(/\\([~=#{}:\\])/g, (_, sign: string) => ESCAPES[sign] ?? '\u{e006}')
const show = (text: string): string =>
  text
    .replace(/\\n/g, '\n')
    .replace(/[\u{e000}-\u{e005}]/gu, (mark) => MARKS.get(mark)!)
    .replaceAll('\u{e006}', '\\')
    .trim()

export function readGift(text: string): ParsedQuestion[] {
  const found: ParsedQuestion[] = []
  let category = ''
  let block: string[] = []
  let firstLine = 1
  const lines = text
    .replace(/^\u{feff}/u, '')
    .replaceAll(/[\u{e000}-\u{e006}]/gu, '')
    .split(/\r\n|\r|\n/)
  const end = () => {
    const body = block.join('\n').trim()
    if (body !== '') found.push(readBlock(body, firstLine, category))
    block = []
  }
  for (const [i, line] of [...lines, ''].entries()) {
    const [, named] = /^\s*\$CATEGORY:\s*(.*)$/i.exec(line) ?? []
    if (named !== undefined) {
      end()
      category = readCategory(named)
    } else if (line.trim() === '') end()
    else if (/^\s*\/\//.test(line)) continue
    else {
      if (block.length === 0) firstLine = i + 1
      block.push(line)
    }
  }
  return found
}

/** `$course$/top/Maths/Algebra` becomes `Maths / Algebra`. */
const readCategory = (path: string): string =>
  path
    .split(/(?<!\/)\/(?!\/)/)
    .map((name) => name.replaceAll('//', '/').replace(/\//g, '-').trim())
    .filter((name) => !/^\$(course|system|module|cat|coursecat)\$$/i.test(name) && name.toLowerCase() !== 'top')
    .join(' / ')

function readBlock(body: string, line: number, category: string): ParsedQuestion {
  const losses: string[] = []
  let rest = hide(body)
  let name = ''
  const titled = /^::([\s\S]*?)::/.exec(rest)
  if (titled) {
    name = show(titled[1]!)
    rest = rest.slice(titled[0].length).trim()
  }
  const [marked, format = ''] = /^\[(html|moodle|plain|markdown)\]/i.exec(rest) ?? []
  if (marked) {
    rest = rest.slice(marked.length).trim()
    if (/html/i.test(format)) losses.push('HTML tags are kept as plain text.')
  }
  const open = rest.indexOf('{')
  const close = rest.indexOf('}', open)
  const before = show(open < 0 ? rest : rest.slice(0, open))
  const refuse = (refusal: string): ParsedQuestion => ({ line, losses: [], name: name || before.slice(0, 120), refusal })
  if (open >= 0 && close < 0) return refuse('The answers have no closing brace.')
  if (open < 0 && rest.includes('}')) return refuse('It has a closing brace, but no opening one.')
  if (open < 0) return refuse('It is a description without an answer.')
  const after = show(rest.slice(close + 1))
  if (after.includes('{')) losses.push('Only the first of several answer fields is imported.')
  const text = after === '' ? before : `${before} _____ ${after}`
  if (text.trim() === '') return refuse('It has no text.')
  const answer = readAnswers(rest.slice(open + 1, close).trim(), losses)
  if (typeof answer === 'string') return refuse(answer)
  const isFormatted = /markdown/i.test(format)
  const question: NeutralQuestion = { name, category, text, isFormatted, points: null, answer }
  return { line, losses, question }
}

/** @returns the reason, in a sentence, if the answers are invalid. */
function readAnswers(source: string, losses: string[]): NeutralAnswer | string {
  const [inner, general] = source.split(/####/)
  if (general !== undefined) losses.push('General feedback is not imported.')
  const answers = inner!.trim()
  if (answers === '') return { as: 'open', responseType: 'text' }
  if (answers.startsWith('#')) return readNumbers(answers.slice(1).trim(), losses)
  const truth = /^(T|TRUE|F|FALSE)(\s*#[\s\S]*)?$/.exec(answers)
  if (truth) {
    if (truth[2]) losses.push(FEEDBACK_LOST)
    const isTrue = truth[1]!.startsWith('T')
    return {
      as: 'options',
      several: false,
      options: [
        { text: 'True', share: isTrue ? 100 : 0 },
        { text: 'False', share: isTrue ? 0 : 100 },
      ],
    }
  }
  const parts = splitAnswers(answers, losses)
  if (parts.length === 0) return 'The answers must begin with = or ~.'
  if (parts.some(({ weight }) => Number.isNaN(weight))) return 'A share is not a number.'
  if (parts.every(({ sign, text, weight }) => sign === '=' && weight === null && /->/.test(text))) {
    return { as: 'pairs', pairs: parts.map(({ text }) => splitPair(text)) }
  }
  if (parts.every(({ sign }) => sign === '=')) {
    return { as: 'words', accepted: parts.map(({ text, weight }) => ({ text: show(text), share: weight ?? 100 })) }
  }
  const several = !parts.some(({ sign }) => sign === '=')
  const options = parts.map(
    ({ sign, text, weight }): WeightedText => ({ text: show(text), share: weight ?? (sign === '=' ? 100 : 0) }),
  )
  return { as: 'options', several, options }
}

const FEEDBACK_LOST = 'Feedback is not imported.'

/** @property weight percent; null if not written, NaN if invalid. */
type GiftAnswer = { sign: '=' | '~'; text: string; weight: number | null }

function splitAnswers(answers: string, losses: string[]): GiftAnswer[] {
  const found: GiftAnswer[] = []
  for (const [, sign, body] of answers.matchAll(/([=~])([^=~]*)/g)) {
    const [, weight, rest] = /^\s*%(-?[^%]*)%([\s\S]*)$/.exec(body!) ?? [null, undefined, body!]
    const [text, feedback] = rest!.split('#')
    if (feedback !== undefined && !losses.includes(FEEDBACK_LOST)) losses.push(FEEDBACK_LOST)
    found.push({
      sign: sign as '=' | '~',
      text: text!,
      weight: weight === undefined ? null : weight.trim() === '' ? Number.NaN : Number(weight),
    })
  }
  return /^[=~]/.test(answers) ? found : []
}

function splitPair(text: string): [string, string] {
  const at = text.indexOf('->')
  return [show(text.slice(0, at)), show(text.slice(at + 2))]
}

const DECIMAL = /^-?\d+(\.\d+)?$/

function readNumbers(source: string, losses: string[]): NeutralAnswer | string {
  const isList = source.startsWith('=') || source.startsWith('~')
  const parts = isList ? splitAnswers(source, losses) : [{ weight: null, text: source.split('#')[0]! }]
  if (source.includes('#') && !isList) losses.push(FEEDBACK_LOST)
  const ranges: NumberRange[] = []
  for (const { text, weight } of parts) {
    const share = weight ?? 100
    if (Number.isNaN(share) || share <= 0) return 'A share is not a number above 0.'
    const range = readRange(text.trim(), Math.round(share))
    if (!range) return `“${show(text)}” is not a number.`
    ranges.push(range)
  }
  return { as: 'number', ranges }
}

function readRange(text: string, share: number): NumberRange | undefined {
  const [from, to, ...more] = text.split('..').map((part) => part.trim())
  if (to !== undefined)
    return more.length === 0 && DECIMAL.test(from!) && DECIMAL.test(to) ? { from: from!, to, share } : undefined
  const [value, tolerance] = text.split(':').map((part) => part.trim())
  if (!DECIMAL.test(value!) || (tolerance !== undefined && !DECIMAL.test(tolerance))) return undefined
  return { value: value!, tolerance, share }
}
