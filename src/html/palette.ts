import { readFileSync } from 'node:fs'
import path from 'node:path'

/** Colors as #rrggbb. */
export type Theme = Record<'base-100' | 'base-200' | 'base-300' | 'base-content' | 'primary' | 'primary-content', string>

/** Written by src/bundle-css.ts from the pages' themes, for mails and reports, which have no stylesheet. */
const FILE = path.join(import.meta.dirname, '../generated/palette.json')
export const palette: Record<'light' | 'dark', Theme> = JSON.parse(readFileSync(FILE, 'utf8'))

/** Color of secondary text: 70 % of the text color, as on pages. */
export const secondaryColorOf = (theme: Theme): string => mix(theme['base-content'], theme['base-100'], 0.7)

/** Mixes two colors. @param share part of the first color, from 0 to 1. */
export function mix(one: string, other: string, share: number): string {
  const channel = (color: string, i: number) => Number.parseInt(color.slice(1 + 2 * i, 3 + 2 * i), 16)
  const mixed = [0, 1, 2].map((i) => Math.round(channel(one, i) * share + channel(other, i) * (1 - share)))
  return `#${mixed.map((value) => value.toString(16).padStart(2, '0')).join('')}`
}
