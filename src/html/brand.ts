import { mix, palette, type Theme } from './palette.ts'

// Brand colors of an organization on candidates' pages and in mails. Any choice is readable: text on buttons and links on each background have
// a contrast of at least 4.5:1, in light and dark.

/** As #rrggbb. Null and other values mean no color. */
export type BrandColors = { primaryColor: string | null; backgroundColor: string | null }
export type Scheme = keyof typeof palette

/** WCAG 2.2, 1.4.3. */
const MIN_CONTRAST = 4.5
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

/** Contrast ratio by WCAG, from 1 to 21. */
export function contrast(one: string, other: string): number {
  const [darker, lighter] = [luminanceOf(one), luminanceOf(other)].sort((a, b) => a - b)
  return (lighter! + 0.05) / (darker! + 0.05)
}

/** Black or white always has a contrast of at least 4.58. */
const textOn = (ground: string): string => (contrast(ground, WHITE) >= contrast(ground, BLACK) ? WHITE : BLACK)

/** Moves a color towards black or white until it is readable on all backgrounds. */
function readableOn(color: string, grounds: readonly [string, ...string[]]): string {
  const end = textOn(grounds[0])
  for (let share = 0; share < 1; share += STEP) {
    const moved = mix(end, color, share)
    if (grounds.every((ground) => contrast(moved, ground) >= MIN_CONTRAST)) return moved
  }
  return end
}

/** @property head background of a page's head; null: the theme's. @property plate background of the logo. */
export type BrandTheme = Theme & { head: string | null; plate: string; 'plate-content': string }

/**
 * Colors of a scheme. In light, the head has the chosen background. In dark, it is darkened until light text is readable on it. The logo's plate
 * is the same in both, because a logo is drawn for one background.
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

/** Stylesheet with the custom properties of a brand. Colors are validated, so stored text can't inject CSS. */
export function brandStylesheet(colors: BrandColors): string {
  const [light, dark] = [propertiesOf(colors, 'light'), propertiesOf(colors, 'dark')]
  // `data-theme` on a page overrides the reader's preferred scheme, as in the themes.
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
