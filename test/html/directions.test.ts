import { globSync, readFileSync } from 'node:fs'
import { expect, it } from 'vitest'

/** Templates, scripts, and stylesheets of candidates' pages, which support right-to-left languages. */
const FILES = globSync([
  'src/{html,kinds,mail}/**/*.ts',
  'src/http/pages/**/*.{ts,css}',
  'src/interfaces/{candidate,mailbox}/**/*.ts',
])

const CLASS = new RegExp(
  [
    String.raw`(?<![\w-])-?(?:[mp][lr]|scroll-[mp][lr]|left|right)-(?:\d[\w./]*|\[[^\]]*\]|px|auto|full)`,
    String.raw`(?<![\w-])(?:text|float|clear)-(?:left|right)`,
    String.raw`(?<![\w-])(?:border|rounded)-(?:[lr]|[tb][lr])(?:-[\w[\]./-]+)?`,
  ]
    .map((one) => String.raw`${one}(?![\w-])`)
    .join('|'),
  'g',
)
const CLASSES = /\bclass(?:Name)?\s*[=:]\s*(["'`])(.*?)\1|@apply ([^;]+);/gs
const PROPERTY =
  /(?:margin|padding|border|inset|scroll-(?:margin|padding))-(?:left|right)\b|(?:text-align|float|clear):\s*(?:left|right)\b|[;{\s](?:left|right):\s*-?[\d.]+(?:px|rem|em|%)/g

/** Finds physical directions (left, right), which must be logical ones (start, end). */
const findPhysical = (text: string): string[] => [
  ...[...text.matchAll(CLASSES)].flatMap(([, , written, applied]) => (written ?? applied ?? '').match(CLASS) ?? []),
  ...(text.match(PROPERTY) ?? []),
]

it("has only logical directions (start, end) on candidates' pages", () => {
  expect(FILES.length).toBeGreaterThan(100)
  expect(FILES.flatMap((file) => findPhysical(readFileSync(file, 'utf8')).map((found) => `${file}: ${found}`))).toEqual([])
})

it.each([
  'class="ml-2"',
  'class="md:first:pl-5"',
  'class="btn -mr-1.5"',
  "class: 'absolute left-0'",
  '@apply text-right;',
  'class="border-l"',
  'class="rounded-tr-lg"',
  'margin-left:1rem',
  'text-align: right',
  '{ left: 4px }',
])('finds the physical direction %s', (written) => {
  expect(findPhysical(written)).toHaveLength(1)
})

it.each([
  'class="ms-2 pe-4 start-0 text-end border-s"',
  "word: 'right'",
  'left: () => left',
  'class="rounded-lg"',
  'inset-inline-start: 0',
])('accepts %s', (written) => {
  expect(findPhysical(written)).toEqual([])
})
