import fc from 'fast-check'
import { expect, it } from 'vitest'
import { brandStylesheet, contrast, type Scheme, themeOf } from '../../src/html/brand.ts'
import { palette } from '../../src/html/palette.ts'

const SCHEMES: Scheme[] = ['light', 'dark']
const color = fc.integer({ min: 0, max: 0xffffff }).map((value) => `#${value.toString(16).padStart(6, '0')}`)
const runs = { numRuns: 1_000 }

// Known values of WCAG, which verify the contrast function that the other tests use.
it.each([
  ['#000000', '#ffffff', 21],
  ['#777777', '#ffffff', 4.48],
  ['#ff0000', '#ffffff', 4],
])('contrast of %s and %s follows WCAG', (one, other, ratio) => {
  expect(contrast(one, other)).toBeCloseTo(ratio, 1)
  expect(contrast(other, one)).toBe(contrast(one, other))
})

it('themeOf makes buttons and links of 1,000 colors readable in light and dark', () => {
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

it('themeOf makes heads and plates of 1,000 colors readable, and heads dark on dark pages', () => {
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

it('themeOf keeps a readable color, and moves others no further than needed', () => {
  const yellow = { primaryColor: '#FFD400', backgroundColor: '#102A43' }
  expect(themeOf(yellow, 'dark')).toMatchObject({ primary: '#ffd400', 'primary-content': '#000000', head: '#102a43' })
  const { primary } = themeOf(yellow, 'light')
  expect(contrast(primary, palette.light['base-200'])).toBeLessThan(4.7)
  expect(themeOf({ primaryColor: '#2251c6', backgroundColor: null }, 'light')).toMatchObject({ primary: '#2251c6', head: null })
})

it('brandStylesheet has only custom properties, for any stored values', () => {
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
