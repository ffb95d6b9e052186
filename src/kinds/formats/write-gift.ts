import type { NeutralAnswer, NeutralQuestion, NumberRange, Weighed } from '../neutral.ts'
import { losesText } from './losses.ts'

const protect = (text: string): string =>
  text
    .replace(/[\\~=#{}:]/g, '\\$&')
    .replaceAll('\r\n', '\n')
    .replaceAll('\n', '\\n')
/** Thirds and the like as Moodle writes them. */
const percent = (share: number): string => `%${Math.round(share * 1e5) / 1e5}%`

/** Questions as GIFT, in as many calls as one likes. A category is written where it changes. */
export function createGiftWriter(): (questions: readonly NeutralQuestion[]) => string {
  let category = ''
  return (questions) => questions.map(write).join('')

  function write({ name, text, isFormatted, answer, ...question }: NeutralQuestion): string {
    const changed = question.category !== category
    category = question.category
    const path = category
      .split(' / ')
      .map((one) => one.replaceAll('/', '//'))
      .join('/')
    const head = `${changed ? `$CATEGORY: ${path || 'top'}\n\n` : ''}::${protect(name)}::[${isFormatted ? 'markdown' : 'plain'}]`
    return `${head}${protect(text)}{${writeAnswers(answer)}}\n\n`
  }
}

/** What GIFT does not hold of a question, in sentences. */
export const giftLosses = ({ points, text, answer }: NeutralQuestion): string[] => [
  ...losesText(text),
  ...(points !== null && points !== 1 ? ['Its points are not written: they become 1.'] : []),
  ...(answer.as === 'number' && answer.unit ? ['Its unit is not written.'] : []),
  ...(answer.as === 'pairs' && answer.pairs.some(([prompt]) => prompt.startsWith('%'))
    ? ['A prompt that begins with “%” is read as a share.']
    : []),
  ...(answer.as === 'options' && !answer.several && answer.options.every(({ share }) => share === 100)
    ? ['Where every option is right it becomes a short text.']
    : []),
  ...(answer.as === 'open' && answer.responseType !== 'text' ? ['How it is answered is not written: it becomes a text.'] : []),
]

function writeAnswers(answer: NeutralAnswer): string {
  switch (answer.as) {
    case 'open':
      return ''
    case 'pairs':
      return `${answer.pairs.map(([prompt, choice]) => `\n\t=${protect(prompt)} -> ${protect(choice)}`).join('')}\n`
    case 'words':
      return `${answer.accepted.map(({ text, share }) => `\n\t=${percent(share)}${protect(text)}`).join('')}\n`
    case 'number':
      return `#${answer.ranges.map((range) => `\n\t=${percent(range.share)}${writeRange(range)}`).join('')}\n`
    case 'options':
      return `${answer.options.map(({ text, share }) => `\n\t${writeOption(answer.several, { text, share })}`).join('')}\n`
  }
}

const writeRange = (range: NumberRange): string =>
  'from' in range ? `${range.from}..${range.to}` : range.tolerance ? `${range.value}:${range.tolerance}` : range.value

/** A text that begins as a share does has its own before it. */
function writeOption(several: boolean, { text, share }: Weighed): string {
  const isRight = !several && share === 100
  const isSaid = !isRight && share !== 0
  return `${isRight ? '=' : '~'}${isSaid || /^\s*%/.test(text) ? percent(share) : ''}${protect(text)}`
}
