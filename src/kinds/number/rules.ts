import type { AnswerScoring, DefinitionFault } from '../../domain/ports/question-kind.ts'
import { defineKind } from '../define-kind.ts'
import { compareDecimals, type Decimal, decimalDistance, percentOf, toDecimal } from './decimal.ts'
import { readNumber } from './read-number.ts'
import { AnswerSchema, type Key, KeySchema, SpecSchema } from './schema.ts'

type AcceptedNumber = Key['answers'][number]

export const numberRules = defineKind({
  words: ['number'],
  penalizes: false,
  schema: { spec: SpecSchema, key: KeySchema, answer: AnswerSchema },
  faults: (_, __, { answers }) => [
    ...answers.flatMap(faultsOf),
    ...(answers.some(({ share }) => share === 100) ? [] : [{ field: 'key.answers', text: 'One answer must give 100 percent.' }]),
  ],
  arrange: () => null,
  fits: () => true,
  isEmpty: (typed) => typed.trim() === '',
  describe: ({ unit }, typed) => (unit && typed.trim() ? `${typed.trim()} ${unit}` : typed.trim()),
  understand: (_, words) => (words.length > 100 ? undefined : words),
  fromForm: ([typed = '']) => typed.replaceAll('\r\n', '\n'),
  toForm: (typed) => [typed],
  makeUp: () => '1',
  accepts: {
    group: (_, typed) => readNumber(typed).join(' ') || typed.trim(),
    add: ({ answers }, typed, share) => {
      const [value, otherReading] = readNumber(typed)
      return value === undefined || otherReading !== undefined ? null : { answers: [...answers, { value, share }] }
    },
  },
  score: (_, key, typed) => score(key, typed),
})

/** People grade unreadable numbers, and ambiguous ones whose readings score differently. */
function score({ answers }: Key, typed: string): AnswerScoring {
  if (typed.trim() === '') return scored(0)
  const shares = readNumber(typed).map((reading) => bestShare(answers, toDecimal(reading)))
  const [share] = shares
  return share === undefined || shares.some((otherShare) => otherShare !== share) ? { state: 'people' } : scored(share)
}

const scored = (share: number): AnswerScoring => ({
  state: 'scored',
  got: share,
  of: 100,
  parts: [{ id: 'answer', verdict: share > 0 ? 'right' : 'wrong' }],
})

const bestShare = (answers: AcceptedNumber[], typed: Decimal): number =>
  answers.reduce((best, answer) => (isWithin(answer, typed) ? Math.max(best, answer.share) : best), 0)

function isWithin(answer: AcceptedNumber, typed: Decimal): boolean {
  if ('from' in answer)
    return compareDecimals(typed, toDecimal(answer.from)) >= 0 && compareDecimals(typed, toDecimal(answer.to)) <= 0
  const value = toDecimal(answer.value)
  if (!answer.tolerance) return compareDecimals(typed, value) === 0
  const tolerance = toDecimal(answer.tolerance.by)
  return (
    compareDecimals(decimalDistance(typed, value), answer.tolerance.in === 'percent' ? percentOf(tolerance, value) : tolerance) <=
    0
  )
}

function faultsOf(answer: AcceptedNumber, i: number): DefinitionFault[] {
  const field = `key.answers.${i}`
  if ('from' in answer) {
    const isOrdered = compareDecimals(toDecimal(answer.from), toDecimal(answer.to)) <= 0
    return isOrdered ? [] : [{ field: `${field}.to`, text: 'A range must end where it begins, or above.' }]
  }
  if (!answer.tolerance) return []
  if (toDecimal(answer.tolerance.by).digits < 0n)
    return [{ field: `${field}.tolerance.by`, text: 'A tolerance can not be below 0.' }]
  return answer.tolerance.in === 'percent' && toDecimal(answer.value).digits === 0n
    ? [{ field: `${field}.tolerance`, text: 'Of 0 a percentage is 0: give the tolerance as a number.' }]
    : []
}
