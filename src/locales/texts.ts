import type { Browser, Checks } from '../generated/locales/types.ts'
import { createFormat, type Message } from './format.ts'

/** The messages of a catalog. */
export type Messages = Readonly<Record<string, Message>>

/** What has to be given with a key: nothing, or what its message needs. */
export type Given<Catalog, Key extends keyof Catalog> = keyof Catalog[Key] extends never ? [] : [values: Catalog[Key]]

/** Says the texts of a catalog in one language. There is none without a language, and none for all: it is given to whatever says something. */
export type Texts<Catalog> = {
  language: string
  text: <Key extends keyof Catalog & string>(key: Key, ...given: Given<Catalog, Key>) => string
  /** "one, two and three". */
  list: (items: readonly string[]) => string
}

/** What the scripts of the candidate's pages say. */
export type BrowserTexts = Texts<Browser<string>>

/** What they say besides while devices are checked, before the start. */
export type CheckTexts = Texts<Browser<string> & Checks<string>>

/** As plain text, for attributes, subjects and scripts. */
export function createTexts<Catalog>(language: string, messages: Messages): Texts<Catalog> {
  const format = createFormat(language)
  const list = new Intl.ListFormat(localeOf(language))
  return {
    language,
    text: (key, ...[values]) => String(format(messages[key]!, { ...values, strong: (content: string[]) => content.join('') })),
    list: (items) => list.format(items),
  }
}

/** Where the language alone would write dates and lists as one of its countries does, and another is meant. */
export const localeOf = (language: string): string => (language === 'en' ? 'en-GB' : language)

export type Direction = 'ltr' | 'rtl'
/** Languages that are written from the right. */
const FROM_RIGHT = ['ar', 'fa', 'he', 'ur']

export const directionOf = (language: string): Direction => (FROM_RIGHT.includes(language.split('-', 1)[0]!) ? 'rtl' : 'ltr')

/** How a moment is written in full, on pages, in mails and by scripts. */
export const FULL_TIME = {
  weekday: 'long',
  day: 'numeric',
  month: 'long',
  year: 'numeric',
  hour: '2-digit',
  minute: '2-digit',
} as const
