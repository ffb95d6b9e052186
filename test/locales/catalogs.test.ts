import { cpSync, globSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { gzipSync } from 'node:zlib'
import { expect, it, onTestFinished } from 'vitest'
import { CATALOGS, listLanguages, readLanguages } from '../../src/locales/compile.ts'
import { shippedLanguages } from '../../src/locales/languages.ts'
import { directionOf, nameOfLanguage } from '../../src/locales/names.ts'

const SOURCE = path.join(import.meta.dirname, '../../src')
const LOCALES = path.join(SOURCE, 'locales')
type Catalog = Record<string, { defaultMessage: string; description?: string }>

/** What is said of the catalogs when one text of German's is another. */
function complaintAbout(file: string, change: (catalog: Catalog) => void): string {
  const folder = mkdtempSync(path.join(tmpdir(), 'locales-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  for (const language of ['en', 'de', 'ar'])
    cpSync(path.join(LOCALES, language), path.join(folder, language), { recursive: true })
  const catalog: Catalog = JSON.parse(readFileSync(path.join(folder, file), 'utf8'))
  change(catalog)
  writeFileSync(path.join(folder, file), JSON.stringify(catalog))
  try {
    readLanguages(folder)
    return ''
  } catch (error) {
    return (error as Error).message
  }
}

const say = (key: string, defaultMessage: string) => (catalog: Catalog) => {
  catalog[key] = { defaultMessage }
}

it.each([
  ['a key that is missing', 'de/candidate.json', (all: Catalog) => delete all['consent.agree'], 'consent.agree is missing'],
  ['a key that English has not', 'de/mail.json', say('more', 'Mehr'), 'more is unknown'],
  ['another parameter', 'de/candidate.json', say('result.message', '{name} schreibt:'), 'result.message needs other values'],
  ['another tag', 'de/mail.json', say('webhook.disabled.gone', 'Weg: {host}'), 'webhook.disabled.gone has other tags'],
  [
    'a plural that is missing',
    'ar/candidate.json',
    say('paper.points', '{count, plural, one {#} two {#} few {#} other {#}}'),
    'paper.points: no plural for zero, many',
  ],
  ['a straight apostrophe', 'de/candidate.json', say('consent.agree', "l'{a}"), 'consent.agree: a straight apostrophe'],
  ['a mark of direction', 'ar/candidate.json', say('consent.agree', '\u2067نعم'), 'consent.agree: an invisible mark'],
] as const)('refuses %s, by file and key', (_what, file, change, complaint) => {
  expect(complaintAbout(file, change)).toContain(`src/locales/${file}`)
  expect(complaintAbout(file, change)).toContain(complaint)
})

it('has no text that no source names', () => {
  const files = globSync('{interfaces,http,kinds,mail}/**/*.ts', { cwd: SOURCE })
  const source = files.map((file) => readFileSync(path.join(SOURCE, file), 'utf8')).join('\n')
  // Keys that are put together, such as `errors.${what}.title`, whose parts are typed.
  const patterns = [...source.matchAll(/`([a-z_.]*\$\{[^`}]+\}[a-z_.]*)`/g)].map(
    ([, key]) => new RegExp(`^${key!.replaceAll('.', '\\.').replaceAll(/\$\{[^}]+\}/g, '[a-z_]+')}$`),
  )
  const isNamed = (key: string) => source.includes(`'${key}'`) || patterns.some((pattern) => pattern.test(key))
  for (const catalog of CATALOGS) {
    const keys = Object.keys(JSON.parse(readFileSync(path.join(LOCALES, `en/${catalog}.json`), 'utf8')))
    expect(keys.filter((key) => !isNamed(key))).toEqual([])
  }
})

it('offers by itself only what a native speaker has reviewed: English, so far', () => {
  expect(shippedLanguages.codes).toEqual(listLanguages())
  expect([...shippedLanguages.codes].sort()).toEqual(['ar', 'de', 'en', 'es', 'fr', 'pt-BR'])
  expect(shippedLanguages.reviewed).toEqual(['en'])
})

it('calls each language by its own name, in its direction, and counts in the digits of its pages', () => {
  expect(shippedLanguages.codes.map((code) => `${nameOfLanguage(code)} ${directionOf(code)}`).sort()).toEqual([
    'Deutsch ltr',
    'English ltr',
    'Español ltr',
    'Français ltr',
    'Português (Brasil) ltr',
    'العربية rtl',
  ])
  expect(shippedLanguages.candidate('ar', 'UTC').text('question.length', { limit: 1_234 })).toContain('1,234')
})

it.each(shippedLanguages.codes)('adds at most 4 kB gzip to the candidate’s script in the language %s', (language) => {
  const sizeOf = (code: string) =>
    gzipSync(readFileSync(path.join(SOURCE, `generated/browser/candidate.${code}.js`)), { level: 9 }).length
  expect(sizeOf(language) - sizeOf('en')).toBeLessThan(4_000)
})
