// What src/bundle.ts makes of the texts in src/locales/<language>/: their parsed forms, so that neither the service nor a browser parses
// any, and from English the types of all keys with what each needs. They stand in src/generated/locales/.
import { hash } from 'node:crypto'
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { type MessageFormatElement, type PluralOrSelectOption, parse, TYPE } from '@formatjs/icu-messageformat-parser'
import type { Plugin } from 'esbuild'
import type { Message, Part } from './format.ts'
import type { Messages } from './texts.ts'

/**
 * Each is a file of every language: what the candidate's pages say, what their scripts say in browsers, what those say that check devices
 * before the start, and what mails say.
 */
export const CATALOGS = ['candidate', 'browser', 'checks', 'mail'] as const
/** Those that scripts bring with them, each in a module. */
const IN_SCRIPTS = ['browser', 'checks'] as const
type Catalog = (typeof CATALOGS)[number]
/** A key, the message in ICU's format, and what a translator has to know of it. */
type Source = Record<string, { defaultMessage: string; description?: string }>
/** Messages as the parser has them; those that need nothing are text. */
type Parsed = Record<string, string | MessageFormatElement[]>
type Languages = Record<string, Record<Catalog, Parsed>>

const BASE = 'en'
/** What messages may have around words, see texts.ts. */
const TAGS = ['strong']
const GENERATED = path.join(import.meta.dirname, '../generated/locales')

/** Compiles the texts before esbuild reads what imports them, anew each time. */
export const texts: Plugin = { name: 'texts', setup: (build) => build.onStart(writeTexts) }

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

/** The codes of the languages that there are, English first. */
export function listLanguages(folder = import.meta.dirname): string[] {
  const folders = readdirSync(folder, { withFileTypes: true }).filter((entry) => entry.isDirectory())
  return [BASE, ...folders.map(({ name }) => name).filter((name) => name !== BASE)]
}

/** All texts, parsed. @throws Error for a text that can't be formatted, or of whose language it is not true what is true of English. */
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

/** @param where for who has to mend it. @returns text, where nothing is put into it. */
export function parseMessage(where: string, message: string, language: string): string | MessageFormatElement[] {
  const refuse = (why: string): never => {
    throw new Error(`src/locales/${where}: ${why}`)
  }
  // In ICU it quotes: l'{name} would print l{name}.
  if (message.includes("'")) refuse('a straight apostrophe, where ’ is meant')
  if (/[\u200E\u200F\u202A-\u202E\u2066-\u2069]/.test(message)) refuse('an invisible mark of direction')
  const elements = parse(message, { captureLocation: false, requiresOtherClause: true })
  const categories = new Intl.PluralRules(language).resolvedOptions().pluralCategories
  for (const why of flatten(elements).map((element) => faultOf(element, categories))) if (why) refuse(why)
  const isPlain = elements.every(({ type }) => type === TYPE.literal)
  return isPlain ? elements.map((element) => (element.type === TYPE.literal ? element.value : '')).join('') : elements
}

/** What format.ts can't print, or no language of ours may have. */
function faultOf(element: MessageFormatElement, categories: readonly string[]): string | undefined {
  if (element.type === TYPE.date || element.type === TYPE.time) return 'a date, which is given as text (t.time)'
  if (element.type === TYPE.tag && !TAGS.includes(element.value)) return `the tag ${element.value}, which nothing prints`
  if (element.type === TYPE.number && element.style) return 'a style of numbers, which nothing prints'
  if (element.type !== TYPE.plural) return undefined
  if (element.offset || element.pluralType === 'ordinal') return 'an offset or an ordinal, which nothing prints'
  const missing = categories.filter((category) => !element.options[category])
  return missing.length > 0 ? `no plural for ${missing.join(', ')}` : undefined
}

/** As format.ts reads them, without a parser. */
const toMessages = (messages: Parsed): Messages =>
  Object.fromEntries(
    Object.entries(messages).map(([key, message]) => [key, typeof message === 'string' ? message : toMessage(message)]),
  )

/** Text alone where that is all there is. */
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

/** What a message needs, by its type; what it has around words comes with it. */
function needsOf(message: Parsed[string] | undefined): string {
  const elements = Array.isArray(message) ? flatten(message) : []
  const needs = elements.flatMap((element) => {
    if (element.type === TYPE.argument) return [`${element.value}: Text`]
    if (element.type === TYPE.number || element.type === TYPE.plural) return [`${element.value}: number`]
    return element.type === TYPE.select ? [`${element.value}: ${unionOf(element.options)}`] : []
  })
  return `{ ${[...new Set(needs)].sort().join('; ')} }`
}

/** ICU wants an `other`: an empty one says that there is no other. */
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

/** What somebody agrees to, loses by, or is asked for outside of the pages: without a review of these a language is not offered from the start. */
const MUST_BE_REVIEWED: Record<Catalog, RegExp> = {
  candidate: /^(?:terms|consent|declined|invitation\.decline)\b/,
  browser: /^(?:clock|failed|text|take)\b/,
  checks: /^(?:screen|photo)\b/,
  mail: /^/,
}
/** By `catalog/key`: of which English text a native speaker has found the translation right, who, and when. */
type Reviews = Record<string, { of: string; by: string; at: string }>

/** Whether a native speaker has read all that matters most, as the English is now. */
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

/** What tells one English text from the one that it becomes. */
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
