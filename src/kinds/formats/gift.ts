import type { NeutralAnswer, NeutralQuestion, NumberRange, ReadQuestion, Weighed } from '../neutral.ts'

// GIFT, the text format of Moodle: blocks parted by empty lines, each a question whose answers stand in braces.

/** A text with its escapes marked, so that `\=` is no sign. */
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

/** Every question of the text. */
export function readGift(text: string): ReadQuestion[] {
  const found: ReadQuestion[] = []
  let category = ''
  let block: string[] = []
  let begin = 1
  const lines = text
    .replace(/^\u{feff}/u, '')
    .replaceAll(/[\u{e000}-\u{e006}]/gu, '')
    .split(/\r\n|\r|\n/)
  const end = () => {
    const body = block.join('\n').trim()
    if (body !== '') found.push(readBlock(body, begin, category))
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
      if (block.length === 0) begin = i + 1
      block.push(line)
    }
  }
  return found
}

/** `$course$/top/Maths/Algebra`: what a course has of itself is left out. */
const readCategory = (path: string): string =>
  path
    .split(/(?<!\/)\/(?!\/)/)
    .map((name) => name.replaceAll('//', '/').replace(/\//g, '-').trim())
    .filter((name) => !/^\$(course|system|module|cat|coursecat)\$$/i.test(name) && name.toLowerCase() !== 'top')
    .join(' / ')

function readBlock(body: string, line: number, category: string): ReadQuestion {
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
    if (/html/i.test(format)) losses.push('Its HTML is kept as it is written.')
  }
  const open = rest.indexOf('{')
  const close = rest.indexOf('}', open)
  const before = show(open < 0 ? rest : rest.slice(0, open))
  const refuse = (refusal: string): ReadQuestion => ({ line, losses: [], name: name || before.slice(0, 120), refusal })
  if (open >= 0 && close < 0) return refuse('Its answers have no closing brace.')
  if (open < 0 && rest.includes('}')) return refuse('It has a closing brace, and no opening one.')
  if (open < 0) return refuse('It asks nothing: a description has no answer.')
  const after = show(rest.slice(close + 1))
  if (after.includes('{')) losses.push('Of several places for answers only the first is taken.')
  const text = after === '' ? before : `${before} _____ ${after}`
  if (text.trim() === '') return refuse('It has no text.')
  const answer = readAnswers(rest.slice(open + 1, close).trim(), losses)
  if (typeof answer === 'string') return refuse(answer)
  const isFormatted = /markdown/i.test(format)
  const question: NeutralQuestion = { name, category, text, isFormatted, points: null, answer }
  return { line, losses, question }
}

/** @returns a sentence where it can't be read. */
function readAnswers(given: string, losses: string[]): NeutralAnswer | string {
  const [inner, general] = given.split(/####/)
  if (general !== undefined) losses.push('The feedback to all is not taken.')
  const answers = inner!.trim()
  if (answers === '') return { as: 'open', responseType: 'text' }
  if (answers.startsWith('#')) return readNumbers(answers.slice(1).trim(), losses)
  const truth = /^(T|TRUE|F|FALSE)(\s*#[\s\S]*)?$/.exec(answers)
  if (truth) {
    if (truth[2]) losses.push('The feedback is not taken.')
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
  if (parts.length === 0) return 'Its answers begin with neither = nor ~.'
  if (parts.some(({ weight }) => Number.isNaN(weight))) return 'A share of it is no number.'
  if (parts.every(({ sign, text, weight }) => sign === '=' && weight === null && /->/.test(text))) {
    return { as: 'pairs', pairs: parts.map(({ text }) => splitPair(text)) }
  }
  if (parts.every(({ sign }) => sign === '=')) {
    return { as: 'words', accepted: parts.map(({ text, weight }) => ({ text: show(text), share: weight ?? 100 })) }
  }
  const several = !parts.some(({ sign }) => sign === '=')
  const options = parts.map(
    ({ sign, text, weight }): Weighed => ({ text: show(text), share: weight ?? (sign === '=' ? 100 : 0) }),
  )
  return { as: 'options', several, options }
}

type Part = { sign: '=' | '~'; text: string; weight: number | null }

function splitAnswers(answers: string, losses: string[]): Part[] {
  const found: Part[] = []
  for (const [, sign, body] of answers.matchAll(/([=~])([^=~]*)/g)) {
    const [, weight, rest] = /^\s*%(-?[^%]*)%([\s\S]*)$/.exec(body!) ?? [null, undefined, body!]
    const [text, feedback] = rest!.split('#')
    if (feedback !== undefined && !losses.includes('The feedback is not taken.')) losses.push('The feedback is not taken.')
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

function readNumbers(given: string, losses: string[]): NeutralAnswer | string {
  const parts =
    given.startsWith('=') || given.startsWith('~') ? splitAnswers(given, losses) : [{ weight: null, text: given.split('#')[0]! }]
  if (given.includes('#') && !given.startsWith('=') && !given.startsWith('~')) losses.push('The feedback is not taken.')
  const ranges: NumberRange[] = []
  for (const { text, weight } of parts) {
    const share = weight ?? 100
    if (Number.isNaN(share) || share <= 0) return 'A share of it is no number above 0.'
    const range = readRange(text.trim(), Math.round(share))
    if (!range) return `“${show(text)}” is no number.`
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
