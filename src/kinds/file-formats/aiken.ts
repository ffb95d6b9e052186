import type { ParsedQuestion } from '../neutral.ts'

// Aiken, Moodle's format for single choices: the text in a line, options `A. text` or `A) text`, then `ANSWER: A`.

const OPTION = /^\s*([A-Z])[.)]\s+(.*)$/
const ANSWER = /^\s*ANSWER\s*:([\s\S]*)$/i

/** True if the file has a line with an answer, and options. Blanks are matched within a line, because `^\s*` takes quadratic time on empty lines. */
export const looksLikeAiken = (text: string): boolean =>
  /^[^\S\r\n\u2028\u2029]*ANSWER\s*:\s*[A-Z]\b/im.test(text) && /^[^\S\r\n\u2028\u2029]*A[.)]\s+\S/m.test(text)

type Block = { line: number; lines: string[]; options: { letter: string; text: string }[]; answer?: string }

export const readAiken = (text: string): ParsedQuestion[] => splitBlocks(text).map(readBlock)

/** A block ends with its answer, or where a text follows options. */
function splitBlocks(text: string): Block[] {
  const blocks: Block[] = []
  for (const [i, line] of text.split(/\r\n|\r|\n/).entries()) {
    if (line.trim() === '') continue
    const [, answer] = ANSWER.exec(line) ?? []
    const last = blocks.at(-1)
    const openBlock = last?.answer === undefined ? last : undefined
    if (answer === undefined) addLine(blocks, openBlock, { line: i + 1, text: line })
    else if (openBlock) openBlock.answer = answer.trim()
    else blocks.push({ line: i + 1, lines: [], options: [], answer: answer.trim() })
  }
  return blocks
}

/** @param openBlock block without an answer yet. */
function addLine(blocks: Block[], openBlock: Block | undefined, { line, text }: { line: number; text: string }): void {
  const [, letter, option = ''] = OPTION.exec(text) ?? []
  if (openBlock && letter !== undefined) openBlock.options.push({ letter, text: option.trim() })
  else if (openBlock && openBlock.options.length === 0) openBlock.lines.push(text.trim())
  else blocks.push({ line, lines: [text.trim()], options: [] })
}

function readBlock({ line, lines, options, answer }: Block): ParsedQuestion {
  const refuse = (refusal: string): ParsedQuestion => ({ line, losses: [], name: lines.join(' ').slice(0, 120), refusal })
  if (answer === undefined) return refuse('It has no line ANSWER.')
  if (lines.length === 0) return refuse('It has no text.')
  if (options.length < 2) return refuse('It has fewer than two options.')
  if (options.some(({ letter }, i) => letter !== String.fromCharCode(65 + i)))
    return refuse('Its options are not A, B, C, and so on.')
  const right = options.filter(({ letter }) => letter === answer.toUpperCase())
  if (right.length !== 1) return refuse(`The right answer “${answer}” is not an option.`)
  const shares = options.map((option) => ({ text: option.text, share: option === right[0] ? 100 : 0 }))
  const question = { name: '', category: '', text: lines.join('\n'), isFormatted: false, points: null }
  return { line, losses: [], question: { ...question, answer: { as: 'options', several: false, options: shares } } }
}
