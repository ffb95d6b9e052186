import type { KindFormat, NumberRange } from '../neutral.ts'
import { percentOf, printDecimal, toDecimal } from './decimal.ts'
import type { Key, Spec } from './schema.ts'

export const numberFormat: KindFormat = {
  toDefinition: (answer) => {
    if (answer.as !== 'number') return undefined
    const answers = answer.ranges.map((range) =>
      'from' in range
        ? { from: range.from, to: range.to, share: range.share }
        : {
            value: range.value,
            ...(range.tolerance &&
              Number(range.tolerance) !== 0 && { tolerance: { by: range.tolerance, in: 'absolute' as const } }),
            share: range.share,
          },
    )
    const spec: Spec = answer.unit ? { unit: answer.unit } : {}
    const key: Key = { answers }
    return { definition: { responseType: 'number', spec, key }, losses: [] }
  },
  toAnswer: ({ responseType, spec, key }) => {
    if (responseType !== 'number') return undefined
    const losses: string[] = []
    const ranges = (key as Key).answers.map((answer): NumberRange => {
      if ('from' in answer) return answer
      const { value, tolerance, share } = answer
      if (!tolerance) return { value, share }
      if (tolerance.in === 'absolute') return { value, tolerance: tolerance.by, share }
      losses.push('A tolerance in percent is exported as a number.')
      return { value, tolerance: printDecimal(percentOf(toDecimal(tolerance.by), toDecimal(value))), share }
    })
    return { answer: { as: 'number', ranges, unit: (spec as Spec).unit }, losses: [...new Set(losses)] }
  },
}
