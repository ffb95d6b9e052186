import type { NeutralAnswer, NeutralQuestion, NumberRange, WeightedText } from '../neutral.ts'
import { byShare, hideArrows, losesArrows, losesBackslashes, losesPictures, losesText, lossesOfSettings } from '../neutral.ts'
import { writeCategory } from './moodle-category.ts'

const escapeGift = (text: string): string =>
  text
    .replace(/[\\~=#{}:]/g, '\\$&')
    .replaceAll('\r\n', '\n')
    .replaceAll('\n', '\\n')
/** Five decimals, as Moodle writes thirds. */
const percent = (share: number): string => `%${Math.round(share * 1e5) / 1e5}%`

/** Each call returns the next questions as GIFT. A category is written when it changes. */
export function createGiftWriter(): (questions: readonly NeutralQuestion[]) => string {
  let category = ''
  return (questions) => questions.map(write).join('')

  function write({ name, text, isFormatted, answer, ...question }: NeutralQuestion): string {
    const changed = question.category !== category
    category = question.category
    const path = writeCategory(category)
    const head = `${changed ? `$CATEGORY: ${path || 'top'}\n\n` : ''}::${escapeGift(name)}::[${isFormatted ? 'markdown' : 'plain'}]`
    return `${head}${escapeGift(text)}{${writeAnswers(answer)}}\n\n`
  }
}

/** Sentences about content that GIFT can't hold. */
export const giftLosses = (question: NeutralQuestion): string[] => [
  ...losesText(question.text),
  ...losesPictures(question),
  ...lossesOfSettings(question.answer),
  ...lossesOf(question),
]

const lossesOf = ({ points, answer }: NeutralQuestion): string[] => [
  ...(points !== null && points !== 1 ? ['Points are not exported: they become 1.'] : []),
  ...losesArrows(answer),
  ...losesBackslashes(answer),
  ...(answer.as === 'pairs' && answer.pairs.some(([prompt]) => prompt.startsWith('%'))
    ? ['A prompt that begins with “%” is imported as a share.']
    : []),
  ...(answer.as === 'options' && !answer.several && answer.options.every(({ share }) => share === 100)
    ? ['A single choice with only right options becomes a short text.']
    : []),
  ...(answer.as === 'open' && answer.responseType !== 'text' ? ['The response type is not exported: it becomes a text.'] : []),
]

function writeAnswers(answer: NeutralAnswer): string {
  switch (answer.as) {
    case 'open':
    case 'order':
      return ''
    case 'pairs':
      return `${answer.pairs.map(([prompt, choice]) => `\n\t=${escapeGift(hideArrows(prompt))} -> ${escapeGift(choice)}`).join('')}\n`
    case 'words':
      return `${byShare(answer.accepted)
        .map(({ text, share }) => `\n\t=${percent(share)}${escapeGift(text)}`)
        .join('')}\n`
    case 'number':
      return `#${byShare(answer.ranges)
        .map((range) => `\n\t=${percent(range.share)}${writeRange(range)}`)
        .join('')}\n`
    case 'options':
      return `${answer.options.map(({ text, share }) => `\n\t${writeOption(answer.several, { text, share })}`).join('')}\n`
  }
}

const writeRange = (range: NumberRange): string =>
  'from' in range ? `${range.from}..${range.to}` : range.tolerance ? `${range.value}:${range.tolerance}` : range.value

/** A text that begins with `%` gets a share before it, so that it is not read as one. */
function writeOption(several: boolean, { text, share }: WeightedText): string {
  const isRight = !several && share === 100
  const needsShare = (!isRight && share !== 0) || /^\s*%/.test(text)
  return `${isRight ? '=' : '~'}${needsShare ? percent(share) : ''}${escapeGift(text)}`
}
