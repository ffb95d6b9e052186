import { type GradingView, textComparison } from '../grading-view.ts'
import type { Key, Spec } from './schema.ts'

export const numberGradingView: GradingView = ({ spec, key, value, parts }) => {
  const { unit } = spec as Spec
  const accepted = (key as Key).answers.map(
    (answer) => `${formatAccepted(answer)}${unit ? ` ${unit}` : ''}${formatShare(answer.share)}`,
  )
  return textComparison((value ?? '') as string, parts, accepted)
}

function formatAccepted(answer: Key['answers'][number]): string {
  if ('from' in answer) return `${answer.from} to ${answer.to}`
  const { value, tolerance } = answer
  return tolerance ? `${value} ± ${tolerance.by}${tolerance.in === 'percent' ? ' %' : ''}` : value
}

const formatShare = (share: number): string => (share === 100 ? '' : ` (${share} % of the points)`)
