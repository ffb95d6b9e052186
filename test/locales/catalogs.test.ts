import { hash } from 'node:crypto'
import { cpSync, globSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { gzipSync } from 'node:zlib'
import { expect, it, onTestFinished } from 'vitest'
import { CONSENT_VERSION } from '../../src/domain/submissions/taking/record-consent.ts'
import { toText } from '../../src/html/html.ts'
import { termsList } from '../../src/http/pages/consent-terms.ts'
import { CATALOGS, listLanguages, readLanguages } from '../../src/locales/compile.ts'
import { shippedLanguages } from '../../src/locales/languages.ts'
import { nameOfLanguage } from '../../src/locales/names.ts'
import { directionOf } from '../../src/locales/texts.ts'

const SOURCE = path.join(import.meta.dirname, '../../src')
const LOCALES = path.join(SOURCE, 'locales')
type Catalog = Record<string, { defaultMessage: string; description?: string }>

/** Returns the error of loading the catalogs after a change of one of them. */
function findCatalogError(file: string, change: (catalog: Catalog) => void): string {
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
  ['a missing key', 'de/candidate.json', (all: Catalog) => delete all['consent.agree'], 'consent.agree is missing'],
  ['a key that English lacks', 'de/mail.json', say('more', 'Mehr'), 'more is unknown'],
  ['another parameter', 'de/candidate.json', say('result.message', '{name} schreibt:'), 'result.message needs other values'],
  ['another tag', 'de/mail.json', say('webhook.disabled.gone', 'Weg: {host}'), 'webhook.disabled.gone has other tags'],
  [
    'a missing plural',
    'ar/candidate.json',
    say('paper.points', '{count, plural, one {#} two {#} few {#} other {#}}'),
    'paper.points: no plural for zero, many',
  ],
  ['a straight apostrophe', 'de/candidate.json', say('consent.agree', "l'{a}"), 'consent.agree: a straight apostrophe'],
  ['a directional mark', 'ar/candidate.json', say('consent.agree', '\u2067نعم'), 'consent.agree: an invisible mark'],
] as const)('rejects a catalog with %s, naming file and key', (_what, file, change, complaint) => {
  expect(findCatalogError(file, change)).toContain(`src/locales/${file}`)
  expect(findCatalogError(file, change)).toContain(complaint)
})

it('has no unused text in the catalogs', () => {
  const files = globSync('{interfaces,http,kinds,mail}/**/*.ts', { cwd: SOURCE })
  const source = files.map((file) => readFileSync(path.join(SOURCE, file), 'utf8')).join('\n')
  // Patterns of composed keys, such as `errors.${what}.title`. The compiler checks their parts.
  const patterns = [...source.matchAll(/`([a-z_.]*\$\{[^`}]+\}[a-z_.]*)`/g)].map(
    ([, key]) => new RegExp(`^${key!.replaceAll('.', '\\.').replaceAll(/\$\{[^}]+\}/g, '[a-z_]+')}$`),
  )
  const isNamed = (key: string) => source.includes(`'${key}'`) || patterns.some((pattern) => pattern.test(key))
  for (const catalog of CATALOGS) {
    const keys = Object.keys(JSON.parse(readFileSync(path.join(LOCALES, `en/${catalog}.json`), 'utf8')))
    expect(keys.filter((key) => !isNamed(key))).toEqual([])
  }
})

it('offers only reviewed languages by default: English, so far', () => {
  expect(shippedLanguages.codes).toEqual(listLanguages())
  expect([...shippedLanguages.codes].sort()).toEqual(['ar', 'de', 'en', 'es', 'fr', 'pt-BR'])
  expect(shippedLanguages.reviewed).toEqual(['en'])
})

/** Digests of the consent texts by version and language. Published versions never change: changed texts need a new version. */
const CONSENTS: Record<number, Record<string, string>> = {
  2: {
    ar: '5d87a6546ae8cd8f',
    de: '0eb8e523b5a02a95',
    en: '679ccc1979346fac',
    es: 'bb9f0c93f58a61de',
    fr: '40f2dfd2a92c5f23',
    'pt-BR': '27f5688f6e09403f',
  },
  3: {
    ar: '8695705a5314042d',
    de: '7a6e07919499bd19',
    en: 'eab32097d9573799',
    es: '3c3380aabc247bb4',
    fr: '774c6ab62b176a2f',
    'pt-BR': '9cd62782787e3399',
  },
}

/** Digest of all consent texts of a language: without recordings, and with all recordings as stills or video. */
function digestOfConsent(language: string): string {
  const all = { microphone: true, camera: true, screen: true, idPhoto: true, facePhoto: true, choice: true, transcription: true }
  const none = {
    microphone: false,
    camera: false,
    screen: false,
    idPhoto: false,
    facePhoto: false,
    choice: false,
    transcription: false,
  }
  const keptDays = { answers: 365, proctoring: 90, idPhoto: 1 }
  const t = shippedLanguages.candidate(language, 'UTC')
  const pages = [
    [none, 'stills', false],
    [all, 'stills', true],
    [{ ...all, choice: false, transcription: false }, 'video', true],
  ] as const
  const texts = pages.map(([needs, webcam, webcamMonitoring]) =>
    toText(termsList(t, { webcamMonitoring, organization: { name: 'Acme' } }, { needs, keptDays, webcam, addition: null })),
  )
  return hash('sha256', texts.join().replaceAll(/<[^>]*>/g, '\n')).slice(0, 16)
}

it('has a consent version that matches its texts', () => {
  const now = Object.fromEntries(shippedLanguages.codes.map((language) => [language, digestOfConsent(language)]))
  expect(
    now,
    'What candidates agree to has other words. Raise CONSENT_VERSION (record-consent.ts), and add a line of the new digests below the others.',
  ).toEqual(CONSENTS[CONSENT_VERSION])
})

it('gives each language its own name, direction, and digits', () => {
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

it.each(shippedLanguages.codes)("adds at most 4 kB gzip to the candidate's script with the texts of %s", (language) => {
  const sizeOf = (code: string) =>
    gzipSync(readFileSync(path.join(SOURCE, `generated/browser/candidate.${code}.js`)), { level: 9 }).length
  expect(sizeOf(language) - sizeOf('en')).toBeLessThan(4_000)
})
