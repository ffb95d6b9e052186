import { readFileSync } from 'node:fs'
import { gzipSync } from 'node:zlib'
import { IntlMessageFormat } from 'intl-messageformat'
import { expect, it } from 'vitest'
import { messages as browser } from '../../src/generated/locales/browser.en.ts'
import { messages as checks } from '../../src/generated/locales/checks.en.ts'
import { CATALOGS } from '../../src/locales/compile.ts'
import { createFormat } from '../../src/locales/format.ts'
import type { Messages } from '../../src/locales/texts.ts'

type Source = Record<string, { defaultMessage: string }>
type Values = Record<string, unknown>

const read = (file: string) => JSON.parse(readFileSync(new URL(`../../src/${file}`, import.meta.url), 'utf8'))
const compiled: Record<string, Messages> = { ...read('generated/locales/en.json'), browser, checks }
const NUMBERS = [0, 1, 2, 1_234.5]
/** Values for texts: one that looks like markup, and an object. */
const GIVEN = ['<b>', { markup: true }]

/** Values for each case of a message, with numbers of all plural categories. */
function* valuesFor(message: string): Generator<Values> {
  const slots = [...message.matchAll(/\{(\w+)(?:, (\w+))?/g)]
  const cases = [...message.matchAll(/(\w+) \{/g)].map(([, name]) => name!)
  for (const number of NUMBERS)
    for (const chosen of cases.length > 0 ? cases : ['none'])
      for (const given of GIVEN) {
        const filler = (kind?: string) => (kind === 'select' ? chosen : kind === undefined ? given : number)
        yield {
          ...Object.fromEntries(slots.map(([, name, kind]) => [name, filler(kind)])),
          strong: (within: unknown[]) => ({ strong: joined(within) }),
        }
      }
}

/** Joins adjacent texts. */
function joined(said: unknown): unknown {
  if (!Array.isArray(said)) return said
  const parts: unknown[] = []
  for (const part of said.flat())
    if (typeof part === 'string' && typeof parts.at(-1) === 'string') parts.push(`${parts.pop()}${part}`)
    else parts.push(part)
  return parts.length === 1 ? parts[0] : parts
}

it.each(CATALOGS)('formats the catalog %s like the reference library of ICU messages', (catalog) => {
  const format = createFormat('en')
  const source: Source = read(`locales/en/${catalog}.json`)
  for (const [key, { defaultMessage }] of Object.entries(source))
    for (const values of valuesFor(defaultMessage)) {
      const expected = joined(new IntlMessageFormat(defaultMessage, 'en').format(values))
      expect([key, joined(format(compiled[catalog]![key]!, values))]).toEqual([key, expected])
    }
})

it("prefers exact numbers over the language's plural categories", () => {
  const cases = { '=0': 'none', one: ['one: ', []], few: ['few: ', []], many: ['many: ', []], other: ['other: ', []] } as const
  const say = (language: string, count: number) => createFormat(language)([['count', 'plural', cases]], { count })
  expect([0, 1, 2, 5, 1.5].map((count) => say('pl', count))).toEqual(['none', 'one: 1', 'few: 2', 'many: 5', 'other: 1,5'])
})

/** Reads a script with its static imports, without the parts that pages load later. */
function readWithImports(file: string, found = new Map<string, string>()): Map<string, string> {
  if (found.has(file)) return found
  const script = readFileSync(new URL(`../../src/generated/browser/${file}`, import.meta.url), 'utf8')
  found.set(file, script)
  for (const [, name] of script.matchAll(/(?:from|import)"\.\/([^"]+)"/g)) readWithImports(name!, found)
  return found
}

it("keeps the candidate's script below 32 kB gzip", () => {
  const sizes = [...readWithImports('candidate.en.js')].map(([, script]) => gzipSync(script).length)
  expect(sizes.reduce((sum, size) => sum + size)).toBeLessThan(32_000)
})
