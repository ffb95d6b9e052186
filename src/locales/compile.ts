// Compiles the texts in src/locales/<language>/ to src/generated/locales/: parsed messages, so that neither the service nor browsers need a
// parser, and types of all keys and their values, derived from English.
import { hash } from 'node:crypto'
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { type MessageFormatElement, type PluralOrSelectOption, parse, TYPE } from '@formatjs/icu-messageformat-parser'
import type { Plugin } from 'esbuild'
import type { Message, Part } from './format.ts'
import type { Messages } from './texts.ts'

/** Files of every language: candidates' pages, their scripts, the scripts of the device check, and mails. */
export const CATALOGS = ['candidate', 'browser', 'checks', 'mail'] as const
/** Catalogs that are bundled with scripts, each as a module. */
const IN_SCRIPTS = ['browser', 'checks'] as const
type Catalog = (typeof CATALOGS)[number]
/** @property defaultMessage in ICU's format. @property description for translators. */
type Source = Record<string, { defaultMessage: string; description?: string }>
/** Messages without values are text. */
type Parsed = Record<string, string | MessageFormatElement[]>
type Languages = Record<string, Record<Catalog, Parsed>>

const BASE = 'en'
/** Tags that messages may contain, see texts.ts. */
const TAGS = ['strong']
const GENERATED = path.join(import.meta.dirname, '../generated/locales')

/** esbuild plugin that compiles the texts before each build. */
export const textsPlugin: Plugin = { name: 'texts', setup: (build) => build.onStart(writeTexts) }

function writeTexts(): void {
  const languages = readLanguages()
  mkdirSync(GENERATED, { recursive: true })
  const write = (name: string, content: string) => writeFileSync(path.join(GENERATED, name), content)
  for (const [language, { candidate, mail }] of Object.entries(languages))
    write(`${language}.json`, JSON.stringify({ candidate: toMessages(candidate), mail: toMessages(mail) }))
  const type = "import type { Messages } from '../../locales/texts.ts'\n\n"
  for (const [language, catalogs] of Object.entries(languages))
    for (const catalog of IN_SCRIPTS)
      write(
        `${catalog}.${language}.ts`,
        `${type}export const messages: Messages = ${JSON.stringify(toMessages(catalogs[catalog]))}\n`,
      )
  const codes = Object.keys(languages)
  write('languages.json', JSON.stringify({ codes, reviewed: codes.filter((language) => isReviewed(language)) }))
  write('types.ts', CATALOGS.map((catalog) => typeOf(catalog, languages[BASE]![catalog])).join('\n'))
}

/** Language codes, English first. */
export function listLanguages(folder = import.meta.dirname): string[] {
  const folders = readdirSync(folder, { withFileTypes: true }).filter((entry) => entry.isDirectory())
  return [BASE, ...folders.map(({ name }) => name).filter((name) => name !== BASE)]
}

/** All texts, parsed. @throws Error for an invalid message, and for keys, values, or tags that differ from English. */
export function readLanguages(folder = import.meta.dirname): Languages {
  const languages = Object.fromEntries(listLanguages(folder).map((name) => [name, readLanguage(path.join(folder, name), name)]))
  for (const [language, catalogs] of Object.entries(languages))
    for (const catalog of CATALOGS) compare(`${language}/${catalog}.json`, catalogs[catalog], languages[BASE]![catalog])
  return languages
}

function readLanguage(folder: string, language: string): Record<Catalog, Parsed> {
  const read = (catalog: Catalog): Parsed => {
    const source: Source = JSON.parse(readFileSync(path.join(folder, `${catalog}.json`), 'utf8'))
    return Object.fromEntries(
      Object.entries(source).map(([key, { defaultMessage }]) => [
        key,
        parseMessage(`${language}/${catalog}.json: ${key}`, defaultMessage, language),
      ]),
    )
  }
  return { candidate: read('candidate'), browser: read('browser'), checks: read('checks'), mail: read('mail') }
}

/** @param where file and key for the error message. @returns text if the message has no values. @throws Error. */
export function parseMessage(where: string, message: string, language: string): string | MessageFormatElement[] {
  const refuse = (why: string): never => {
    throw new Error(`src/locales/${where}: ${why}`)
  }
  // ICU's quote character: l'{name} would print l{name}.
  if (message.includes("'")) refuse('a straight apostrophe, where ’ is meant')
  if (/[\u200E\u200F\u202A-\u202E\u2066-\u2069]/.test(message)) refuse('an invisible mark of direction')
  const elements = parse(message, { captureLocation: false, requiresOtherClause: true })
  const categories = new Intl.PluralRules(language).resolvedOptions().pluralCategories
  for (const why of flatten(elements).map((element) => findFault(element, categories))) if (why) refuse(why)
  const isPlain = elements.every(({ type }) => type === TYPE.literal)
  return isPlain ? elements.map((element) => (element.type === TYPE.literal ? element.value : '')).join('') : elements
}

/** Reason why format.ts can't print an element. @returns undefined for a valid one. */
function findFault(element: MessageFormatElement, categories: readonly string[]): string | undefined {
  if (element.type === TYPE.date || element.type === TYPE.time) return 'a date, which is given as text (t.time)'
  if (element.type === TYPE.tag && !TAGS.includes(element.value)) return `the tag ${element.value}, which nothing prints`
  if (element.type === TYPE.number && element.style) return 'a style of numbers, which nothing prints'
  if (element.type !== TYPE.plural) return undefined
  if (element.offset || element.pluralType === 'ordinal') return 'an offset or an ordinal, which nothing prints'
  const missing = categories.filter((category) => !element.options[category])
  return missing.length > 0 ? `no plural for ${missing.join(', ')}` : undefined
}

const toMessages = (messages: Parsed): Messages =>
  Object.fromEntries(
    Object.entries(messages).map(([key, message]) => [key, typeof message === 'string' ? message : toMessage(message)]),
  )

function toMessage(elements: MessageFormatElement[]): Message {
  const parts = elements.map(toPart)
  const [only = ''] = parts
  return parts.length <= 1 && typeof only === 'string' ? only : parts
}

function toPart(element: MessageFormatElement): Part {
  if (element.type === TYPE.literal) return element.value
  if (element.type === TYPE.pound) return []
  if (element.type === TYPE.number) return [element.value, 'number']
  if (element.type === TYPE.tag) return [element.value, 'tag', toMessage(element.children)]
  if (element.type !== TYPE.plural && element.type !== TYPE.select) return [element.value]
  const cases = Object.entries(element.options).map(([name, { value }]) => [name, toMessage(value)])
  return [element.value, element.type === TYPE.plural ? 'plural' : 'select', Object.fromEntries(cases)]
}

const flatten = (elements: MessageFormatElement[]): MessageFormatElement[] =>
  elements.flatMap((element) => [element, ...within(element).flatMap(flatten)])

function within(element: MessageFormatElement): MessageFormatElement[][] {
  if (element.type === TYPE.tag) return [element.children]
  return element.type === TYPE.plural || element.type === TYPE.select
    ? Object.values(element.options).map(({ value }) => value)
    : []
}

/** TypeScript type of a message's values. Tags are not values: texts.ts provides them. */
function needsOf(message: Parsed[string] | undefined): string {
  const elements = Array.isArray(message) ? flatten(message) : []
  const needs = elements.flatMap((element) => {
    if (element.type === TYPE.argument) return [`${element.value}: Text`]
    if (element.type === TYPE.number || element.type === TYPE.plural) return [`${element.value}: number`]
    return element.type === TYPE.select ? [`${element.value}: ${unionOf(element.options)}`] : []
  })
  return `{ ${[...new Set(needs)].sort().join('; ')} }`
}

/** ICU requires the case `other`. An empty one means that there are no other values. */
const unionOf = (options: Record<string, PluralOrSelectOption>): string =>
  Object.entries(options)
    .filter(([name, { value }]) => name !== 'other' || value.length > 0)
    .map(([name]) => `'${name}'`)
    .join(' | ')

function typeOf(catalog: Catalog, messages: Parsed): string {
  const name = catalog[0]!.toUpperCase() + catalog.slice(1)
  const keys = Object.entries(messages).map(([key, message]) => `  '${key}': ${needsOf(message)}`)
  return `export type ${name}<Text> = {\n${keys.join('\n')}\n}\n`
}

/** Keys of important texts (consent, time limits, device access, mails). A language without a review of these is not offered by default. */
const MUST_BE_REVIEWED: Record<Catalog, RegExp> = {
  candidate: /^(?:terms|consent|declined|invitation\.decline)\b/,
  browser: /^(?:clock|failed|text|take)\b/,
  checks: /^(?:screen|photo)\b/,
  mail: /^/,
}
/** By `catalog/key`. @property of hash of the English text. @property by reviewer. @property at date. */
type Reviews = Record<string, { of: string; by: string; at: string }>

/** True if all important texts were reviewed against the current English. */
function isReviewed(language: string, folder = import.meta.dirname): boolean {
  if (language === BASE) return true
  const read = (file: string) => JSON.parse(readFileSync(path.join(folder, file), 'utf8'))
  const reviews: Reviews = read(`${language}/review.json`)
  return CATALOGS.every((catalog) =>
    Object.entries(read(`${BASE}/${catalog}.json`) as Source).every(
      ([key, { defaultMessage }]) =>
        !MUST_BE_REVIEWED[catalog].test(key) || reviews[`${catalog}/${key}`]?.of === hashOf(defaultMessage),
    ),
  )
}

const hashOf = (message: string): string => hash('sha256', message).slice(0, 12)

const tagsOf = (message: Parsed[string] | undefined): string =>
  (Array.isArray(message) ? flatten(message) : [])
    .flatMap((element) => (element.type === TYPE.tag ? [element.value] : []))
    .sort()
    .join()

function compare(where: string, messages: Parsed, base: Parsed): void {
  const refuse = (why: string): never => {
    throw new Error(`src/locales/${where}: ${why}`)
  }
  for (const key of new Set([...Object.keys(messages), ...Object.keys(base)])) {
    if (messages[key] === undefined) refuse(`${key} is missing`)
    if (base[key] === undefined) refuse(`${key} is unknown`)
    if (needsOf(messages[key]) !== needsOf(base[key])) refuse(`${key} needs other values than English`)
    if (tagsOf(messages[key]) !== tagsOf(base[key])) refuse(`${key} has other tags than English`)
  }
}
