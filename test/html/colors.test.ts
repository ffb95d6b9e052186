import { globSync, readFileSync } from 'node:fs'
import { expect, it } from 'vitest'

/** Files with templates, and scripts that create elements. */
const TEMPLATES = globSync(['src/{html,http,interfaces,mail}/**/*.ts', 'src/http/**/*.js'])
/** Files with colors of tags: their examples in API documents, their form, and the message about an invalid color. */
const OF_TAGS = /tags\.(view|page|routes)\.ts$|kit\/issue-messages\.ts$/
/** Files that compute brand colors. */
const OF_BRANDS = /html\/brand\.ts$/

const NAMES =
  'red orange amber yellow lime green emerald teal cyan sky blue indigo violet purple fuchsia pink rose slate gray zinc stone'
/** Matches colors. The fragment `#add` is not one. */
const COLOR = new RegExp(
  [
    String.raw`(?<![&\w])#(?!add\b)(?:[\da-f]{3}|[\da-f]{6}|[\da-f]{8})\b`,
    String.raw`\b(?:rgba?|hsla?|hwb|lab|lch|oklab|oklch)\(\s*[\d.]`,
    String.raw`-(?:${NAMES.replaceAll(' ', '|')}|neutral)-\d{2,3}\b`,
    String.raw`\b(?:bg|text|border|fill|stroke|ring|outline|decoration|divide)-(?:white|black)\b`,
  ].join('|'),
  'gi',
)
const findColors = (text: string): string[] => text.match(COLOR) ?? []

it("has only the theme's colors in templates", () => {
  const said = TEMPLATES.filter((file) => !OF_TAGS.test(file) && !OF_BRANDS.test(file)).flatMap((file) =>
    findColors(readFileSync(file, 'utf8')).map((color) => `${file}: ${color}`),
  )
  expect(said).toEqual([])
})

it.each(['#fff', 'color:#1D4ED8', 'rgb(0, 0, 0)', 'oklch(62.8% 0.25 29)', 'text-red-500', 'hover:bg-white'])(
  'finds the color %s',
  (color) => {
    expect(findColors(`<p class="${color}">`)).toHaveLength(1)
  },
)

it.each(['text-error', 'bg-base-200', '&#39;', '#main', 'bg-neutral', 'text-primary-content'])('accepts %s', (word) => {
  expect(findColors(`<p class="${word}">`)).toEqual([])
})
