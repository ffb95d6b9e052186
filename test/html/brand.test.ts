import fc from 'fast-check'
import { expect, it } from 'vitest'
import { brandStylesheet, contrast, type Scheme, themeOf } from '../../src/html/brand.ts'
import { palette } from '../../src/html/palette.ts'

const SCHEMES: Scheme[] = ['light', 'dark']
const color = fc.integer({ min: 0, max: 0xffffff }).map((value) => `#${value.toString(16).padStart(6, '0')}`)
const runs = { numRuns: 1_000 }

/** WCAG's own example values, to hold the measure itself to something. */
it.each([
  ['#000000', '#ffffff', 21],
  ['#777777', '#ffffff', 4.48],
  ['#ff0000', '#ffffff', 4],
])('measures the contrast of %s and %s as WCAG does', (one, other, ratio) => {
  expect(contrast(one, other)).toBeCloseTo(ratio, 1)
  expect(contrast(other, one)).toBe(contrast(one, other))
})

it('makes of 1,000 colours buttons and links that can be read, in light and dark, on every ground that they stand on', () => {
  fc.assert(
    fc.property(color, (primaryColor) => {
      for (const scheme of SCHEMES) {
        const theme = themeOf({ primaryColor, backgroundColor: null }, scheme)
        expect(contrast(theme.primary, theme['primary-content'])).toBeGreaterThanOrEqual(4.5)
        for (const ground of [theme['base-100'], theme['base-200']])
          expect(contrast(theme.primary, ground)).toBeGreaterThanOrEqual(4.5)
      }
    }),
    runs,
  )
})

it('makes of 1,000 colours heads and plates that can be read, and dark heads for dark pages', () => {
  fc.assert(
    fc.property(color, (backgroundColor) => {
      for (const scheme of SCHEMES) {
        const theme = themeOf({ primaryColor: null, backgroundColor }, scheme)
        const css = brandStylesheet({ primaryColor: null, backgroundColor })
        const [, content] = new RegExp(`--brand-head:${theme.head};--brand-head-content:(#[\\da-f]{6})`).exec(css)!
        expect(contrast(theme.head!, content!)).toBeGreaterThanOrEqual(4.5)
        expect(contrast(theme.plate, theme['plate-content'])).toBeGreaterThanOrEqual(4.5)
        expect(theme.plate).toBe(backgroundColor)
      }
      const dark = themeOf({ primaryColor: null, backgroundColor }, 'dark')
      expect(contrast(dark.head!, dark['base-content'])).toBeGreaterThanOrEqual(4.5)
    }),
    runs,
  )
})

it('leaves a colour as it was chosen where it can be read, and moves it no further than it has to', () => {
  const yellow = { primaryColor: '#FFD400', backgroundColor: '#102A43' }
  expect(themeOf(yellow, 'dark')).toMatchObject({ primary: '#ffd400', 'primary-content': '#000000', head: '#102a43' })
  const { primary } = themeOf(yellow, 'light')
  expect(contrast(primary, palette.light['base-200'])).toBeLessThan(4.7)
  expect(themeOf({ primaryColor: '#2251c6', backgroundColor: null }, 'light')).toMatchObject({ primary: '#2251c6', head: null })
})

it('has nothing but custom properties in its stylesheet, whatever was stored', () => {
  const property = '--(?:color-primary(?:-content)?|brand-(?:head(?:-content)?|plate)):#[\\da-f]{6}'
  const block = `\\{${property}(?:;${property})*\\}`
  const whole = new RegExp(
    `^:root,\\[data-theme=light\\]${block}@media \\(prefers-color-scheme:dark\\)\\{:root:not\\(\\[data-theme\\]\\)${block}\\}\\[data-theme=dark\\]${block}$`,
  )
  const hostile = fc.constantFrom(
    '#fff',
    '#12345g',
    '#ffd400}body{display:none',
    'red',
    '',
    '#ffd400\n',
    ' #ffd400',
    'url(//evil)',
  )
  const anything = fc.oneof(color, hostile, fc.string({ unit: 'binary' }), fc.constant(null))
  fc.assert(
    fc.property(anything, anything, (primaryColor, backgroundColor) => {
      expect(brandStylesheet({ primaryColor, backgroundColor })).toMatch(whole)
    }),
    runs,
  )
})
