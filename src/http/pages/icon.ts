import { readFileSync } from 'node:fs'
import path from 'node:path'
import { type Html, html } from '../../html/html.ts'
import { ICON_NAMES } from './icon-names.ts'

export type IconName = (typeof ICON_NAMES)[number]

/** Written by src/bundle-css.ts. */
const FILE = path.join(import.meta.dirname, '../../generated/browser/icons.json')
const texts: Record<string, string> = JSON.parse(readFileSync(FILE, 'utf8'))

/** Each SVG is a template without values, so that html`` checks it. */
const shapes = new Map<IconName, Html>(
  ICON_NAMES.map((name) => [name, html(Object.assign([texts[name]!], { raw: [texts[name]!] }))]),
)

/** A decorative icon, hidden from screen readers. @param size class such as `size-5`. */
export const icon = (name: IconName, size = 'size-4'): Html =>
  html`<svg class="${size} shrink-0" viewBox="0 0 24 24" fill="none" stroke="currentColor" stroke-width="2" stroke-linecap="round" stroke-linejoin="round" aria-hidden="true">${shapes.get(name)}</svg>`
