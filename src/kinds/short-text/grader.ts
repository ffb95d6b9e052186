import { comparedText, type Sheet } from '../sheet.ts'
import type { Key } from './schema.ts'

export const shortTextSheet: Sheet = ({ key, value, parts }) =>
  comparedText(
    (value ?? '') as string,
    parts,
    (key as Key).accepted.map(({ text, share }) => (share === 100 ? text : `${text} (${share} % of the points)`)),
  )
