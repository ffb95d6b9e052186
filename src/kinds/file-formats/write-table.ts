import type { NeutralAnswer, NeutralQuestion, NumberRange } from '../neutral.ts'
import { hideArrows, losesArrows, losesPictures, losesText, lossesOfSettings } from '../neutral.ts'
import { escapeFormula, KINDS, LETTERS, normalizeWord } from './table.ts'

export const TABLE_HEAD = ['kind', 'name', 'category', 'text', 'format', 'points', 'right', ...LETTERS]

/** A row with as many cells as {@link TABLE_HEAD}: some readers refuse shorter lines (RFC 4180, 2.4). */
export function writeRow({ name, category, text, isFormatted, points, answer }: NeutralQuestion): string[] {
  const { kind, right, options } = writeAnswer(answer)
  const cells = [kind, name, category, text, isFormatted ? 'markdown' : '', String(points ?? ''), right, ...options]
  return TABLE_HEAD.map((_, i) => escapeFormula(cells[i] ?? ''))
}

/** Sentences about content that a spreadsheet can't hold. */
export const tableLosses = (question: NeutralQuestion): string[] => [
  ...losesText(question.text),
  ...losesPictures(question),
  ...lossesOfSettings(question.answer),
  ...losesArrows(question.answer),
  ...(question.category.includes('>') ? ['“>” in a category name splits it into two.'] : []),
  ...lossesOf(question.answer),
]

function lossesOf(answer: NeutralAnswer): string[] {
  if (answer.as === 'words') {
    const isMisread = ({ text }: { text: string }) => /[;|\n]|\s-?\d{1,3}\s*%$/.test(text.trim())
    return answer.accepted.some(isMisread) ? ['“;”, “|”, or a percentage in an accepted text is misread by an import.'] : []
  }
  if (answer.as !== 'open' || KINDS[normalizeWord(answer.responseType)] === answer.responseType) return []
  return ['An import does not know this response type of your organization.']
}

const withShare = (text: string, share: number): string => (share === 100 ? text : `${text} ${Math.round(share)}%`)

function writeAnswer(answer: NeutralAnswer): { kind: string; right: string; options: string[] } {
  switch (answer.as) {
    case 'order':
      return { kind: 'ordering', right: '', options: [] }
    case 'open':
      return { kind: answer.responseType, right: '', options: [] }
    case 'words':
      return {
        kind: 'short text',
        right: answer.accepted.map(({ text, share }) => withShare(text, share)).join('; '),
        options: [],
      }
    case 'number': {
      const write = (range: NumberRange) =>
        'from' in range ? `${range.from}..${range.to}` : range.tolerance ? `${range.value} ± ${range.tolerance}` : range.value
      return { kind: 'number', right: answer.ranges.map((range) => withShare(write(range), range.share)).join('; '), options: [] }
    }
    case 'pairs':
      return {
        kind: 'matching',
        right: '',
        options: answer.pairs.map(([prompt, choice]) => `${hideArrows(prompt)} -> ${choice}`),
      }
    case 'options': {
      const { several, options } = answer
      const right = options.filter(({ share }) => share > 0)
      const isPlain = several
        ? options.every(
            ({ share }) => Math.abs(share - (share > 0 ? 100 / right.length : -100 / (options.length - right.length))) < 0.01,
          )
        : right.every(({ share }) => share === 100)
      const counted = isPlain ? right : options.filter(({ share }) => share !== 0)
      const letters = counted.map(
        (option) => `${LETTERS[options.indexOf(option)]}${isPlain ? '' : ` ${Math.round(option.share)}%`}`,
      )
      return {
        kind: several ? 'several choices' : 'one choice',
        right: letters.join('; '),
        options: options.map(({ text }) => text),
      }
    }
  }
}
