import { mix, palette, type Theme } from './palette.ts'

// An organization's own colours, on its candidates' pages and in mails to them: the one place where a colour is not the theme's. Whatever
// is chosen can be read: text on a button, and links on each ground, have a contrast of 4.5:1 at least, in light and dark.

/** What was chosen; null, and whatever is no #rrggbb: nothing. */
export type BrandColors = { primaryColor: string | null; backgroundColor: string | null }
export type Scheme = keyof typeof palette

/** WCAG 2.2, 1.4.3. */
const READABLE = 4.5
/** Parts of a hundred that a colour is moved by at a time. */
const STEP = 0.01
const [BLACK, WHITE] = ['#000000', '#ffffff']

const readColor = (text: string | null): string | null =>
  text !== null && /^#[\da-f]{6}$/i.test(text) ? text.toLowerCase() : null

function luminanceOf(color: string): number {
  const [red, green, blue] = [1, 3, 5].map((at) => {
    const value = Number.parseInt(color.slice(at, at + 2), 16) / 255
    return value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4
  })
  return 0.2126 * red! + 0.7152 * green! + 0.0722 * blue!
}

/** As WCAG counts it, from 1 to 21. */
export function contrast(one: string, other: string): number {
  const [darker, lighter] = [luminanceOf(one), luminanceOf(other)].sort((a, b) => a - b)
  return (lighter! + 0.05) / (darker! + 0.05)
}

/** Of any two colours one has 4.58 at least to any third, if they are black and white. */
const textOn = (ground: string): string => (contrast(ground, WHITE) >= contrast(ground, BLACK) ? WHITE : BLACK)

/** The colour, moved to black or white until it can be read on each of the others. */
function readableOn(color: string, grounds: readonly [string, ...string[]]): string {
  const end = textOn(grounds[0])
  for (let share = 0; share < 1; share += STEP) {
    const moved = mix(end, color, share)
    if (grounds.every((ground) => contrast(moved, ground) >= READABLE)) return moved
  }
  return end
}

/** A theme with the colours of a brand: besides, of a page's head where it has one of its own, and of what a logo stands on. */
export type BrandTheme = Theme & { head: string | null; plate: string; 'plate-content': string }

/**
 * The colours of a scheme as they are shown. The head's ground is as it was chosen in light; in dark it is moved to black, until what is
 * written in light letters can be read on it. A logo was drawn for one ground, which stays in both.
 */
export function themeOf({ primaryColor, backgroundColor }: BrandColors, scheme: Scheme): BrandTheme {
  const theme = palette[scheme]
  const [chosen, background] = [readColor(primaryColor), readColor(backgroundColor)]
  const primary = chosen && readableOn(chosen, [theme['base-100'], theme['base-200']])
  const head = background && scheme === 'dark' ? readableOn(background, [theme['base-content']]) : background
  const plate = background ?? palette.light['base-200']
  return {
    ...theme,
    ...(primary && { primary, 'primary-content': textOn(primary) }),
    ...{ head, plate, 'plate-content': textOn(plate) },
  }
}

/** The stylesheet of a brand: custom properties and nothing else, of colours that were read as such, whatever was stored. */
export function brandStylesheet(colors: BrandColors): string {
  const [light, dark] = [propertiesOf(colors, 'light'), propertiesOf(colors, 'dark')]
  // A page that is shown in one scheme whatever its reader prefers says so, as the themes have it.
  return `:root,[data-theme=light]{${light}}@media (prefers-color-scheme:dark){:root:not([data-theme]){${dark}}}[data-theme=dark]{${dark}}`
}

function propertiesOf(colors: BrandColors, scheme: Scheme): string {
  const { primary, 'primary-content': content, head, plate } = themeOf(colors, scheme)
  const properties = {
    ...(readColor(colors.primaryColor) && { '--color-primary': primary, '--color-primary-content': content }),
    ...(head && { '--brand-head': head, '--brand-head-content': textOn(head) }),
    '--brand-plate': plate,
  }
  return Object.entries(properties)
    .map(([name, color]) => `${name}:${color}`)
    .join(';')
}
