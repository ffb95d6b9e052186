import { comparedText, type Sheet } from '../sheet.ts'
import type { Key, Spec } from './schema.ts'

export const numberSheet: Sheet = ({ spec, key, value, parts }) => {
  const { unit } = spec as Spec
  const accepted = (key as Key).answers.map(
    (answer) => `${wordAccepted(answer)}${unit ? ` ${unit}` : ''}${wordShare(answer.share)}`,
  )
  return comparedText((value ?? '') as string, parts, accepted)
}

function wordAccepted(answer: Key['answers'][number]): string {
  if ('from' in answer) return `${answer.from} to ${answer.to}`
  const { value, tolerance } = answer
  return tolerance ? `${value} ± ${tolerance.by}${tolerance.in === 'percent' ? ' %' : ''}` : value
}

const wordShare = (share: number): string => (share === 100 ? '' : ` (${share} % of the points)`)
