import { readFileSync } from 'node:fs'
import path from 'node:path'

/** A theme's colours by their names, as #rrggbb. */
export type Theme = Record<'base-100' | 'base-200' | 'base-300' | 'base-content' | 'primary' | 'primary-content', string>

/** What src/bundle-css.ts makes of the pages' themes, for what stands alone and knows no stylesheet of theirs: mails and reports. */
const FILE = path.join(import.meta.dirname, '../generated/palette.json')
export const palette: Record<'light' | 'dark', Theme> = JSON.parse(readFileSync(FILE, 'utf8'))

/** What is less important than the rest: as pages have it, 70 of 100 parts of the colour of text. */
export const quietOf = (theme: Theme): string => mix(theme['base-content'], theme['base-100'], 0.7)

/** As much of the first colour as `share` says, the rest of the second. */
export function mix(one: string, other: string, share: number): string {
  const channel = (color: string, i: number) => Number.parseInt(color.slice(1 + 2 * i, 3 + 2 * i), 16)
  const mixed = [0, 1, 2].map((i) => Math.round(channel(one, i) * share + channel(other, i) * (1 - share)))
  return `#${mixed.map((value) => value.toString(16).padStart(2, '0')).join('')}`
}
