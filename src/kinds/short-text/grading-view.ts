import { type GradingView, textComparison } from '../grading-view.ts'
import type { Key } from './schema.ts'

export const shortTextGradingView: GradingView = ({ key, value, parts }) =>
  textComparison(
    (value ?? '') as string,
    parts,
    (key as Key).accepted.map(({ text, share }) => (share === 100 ? text : `${text} (${share} % of the points)`)),
  )
