import { MAX_ANSWERS, type NeutralAnswer, type NumberRange, type WeightedText } from '../neutral.ts'
import { overlap, piecesOf } from '../wildcards.ts'
import { addLoss, type ReadState, WITHOUT_POINTS } from './rich-text.ts'

// Accepted texts and numbers of Moodle, in GIFT and XML. Moodle takes the first answer that matches, this service the one with the most
// points. Questions for which these differ are refused.

const TOO_MANY = 'It has too many answers.'
const NO_POINTS = 'No answer gets points.'

/**
 * Two answers that accept the same input, where this service would give more points than Moodle.
 *
 * @param isSpecific true if an answer without points is meant as an exception, wherever it stands.
 */
function findConflict<Answer extends { share: number }>(
  answers: Answer[],
  isSpecific: (answer: Answer) => boolean,
  areOverlapping: (one: Answer, other: Answer) => boolean,
): [less: Answer, more: Answer] | undefined {
  for (const [i, less] of answers.entries()) {
    const from = less.share <= 0 && isSpecific(less) ? 0 : i + 1
    const more = answers.slice(from).find((later) => less.share < later.share && areOverlapping(less, later))
    if (more) return [less, more]
  }
  return undefined
}

/** @returns the reason, in a sentence, if the question can't be imported. */
export function acceptTexts(answers: WeightedText[], caseSensitive: boolean, state: ReadState): NeutralAnswer | string {
  if (answers.length > MAX_ANSWERS) return TOO_MANY
  if (answers.some(({ text }) => text.includes('\\*')))
    return 'It accepts a text with an asterisk (“\\*”), which can’t be imported.'
  const accepted = answers.filter(({ share }) => share > 0)
  if (accepted.length === 0) return NO_POINTS
  const options = { caseSensitive, ignore: { accents: false, punctuation: false } }
  const patterns = answers.map(({ text, share }) => ({ text, share, pieces: piecesOf(text, options) }))
  const conflict = findConflict(
    patterns,
    ({ pieces }) => pieces.length === 1,
    (one, other) => overlap(one.pieces, other.pieces),
  )
  if (conflict) {
    const [less, more] = conflict.map(({ text }) => `“${text.slice(0, 60)}”`)
    return `${less} gives fewer points than ${more}, and both accept the same text.`
  }
  if (answers.some(({ text, share }) => share <= 0 && text !== '*')) addLoss(state, WITHOUT_POINTS)
  return { as: 'words', accepted, ...(caseSensitive && { caseSensitive }) }
}

/** Moodle’s `*`: every number. */
export const ANY_NUMBER = { from: '-Infinity', to: 'Infinity' }
const isAnyNumber = (range: NumberRange): boolean => 'from' in range && range.from === ANY_NUMBER.from

/** @returns the reason, in a sentence, if the question can't be imported. */
export function acceptNumbers(answers: NumberRange[], state: ReadState, unit?: string): NeutralAnswer | string {
  if (answers.length > MAX_ANSWERS) return TOO_MANY
  const ranges = answers.filter(({ share }) => share > 0)
  if (ranges.length === 0) return NO_POINTS
  if (findConflict(answers, (range) => !isAnyNumber(range), areRangesOverlapping))
    return 'A number with fewer points lies within another answer.'
  if (answers.some((range) => range.share <= 0 && !isAnyNumber(range))) addLoss(state, WITHOUT_POINTS)
  return { as: 'number', ranges, unit }
}

/** Bounds of binary numbers are a little off those of decimals. */
const SLACK = 1e-12

function boundsOf(range: NumberRange): [from: number, to: number] {
  if ('from' in range) return [Number(range.from), Number(range.to)]
  const [value, tolerance] = [Number(range.value), Number(range.tolerance ?? 0)]
  const slack = SLACK * (Math.abs(value) + tolerance)
  return [value - tolerance - slack, value + tolerance + slack]
}

function areRangesOverlapping(one: NumberRange, other: NumberRange): boolean {
  const [[from, to], [otherFrom, otherTo]] = [boundsOf(one), boundsOf(other)]
  return from <= otherTo && otherFrom <= to
}
