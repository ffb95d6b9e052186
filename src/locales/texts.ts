import type { Browser, Checks } from '../generated/locales/types.ts'
import { createFormat, type Message } from './format.ts'

/** By key. */
export type Messages = Readonly<Record<string, Message>>

/** Arguments for a key: the values of its message, or none. */
export type MessageArgs<Catalog, Key extends keyof Catalog> = keyof Catalog[Key] extends never ? [] : [values: Catalog[Key]]

/** Texts of a catalog in one language. There is no global instance: callers pass it on. */
export type Texts<Catalog> = {
  language: string
  text: <Key extends keyof Catalog & string>(key: Key, ...given: MessageArgs<Catalog, Key>) => string
  /** "one, two and three". */
  list: (items: readonly string[]) => string
}

export type BrowserTexts = Texts<Browser<string>>

/** Includes the texts of the device check. */
export type CheckTexts = Texts<Browser<string> & Checks<string>>

/** Plain texts, for attributes, subjects, and scripts. */
export function createTexts<Catalog>(language: string, messages: Messages): Texts<Catalog> {
  const format = createFormat(language)
  const list = new Intl.ListFormat(localeOf(language))
  return {
    language,
    text: (key, ...[values]) => String(format(messages[key]!, { ...values, strong: (content: string[]) => content.join('') })),
    list: (items) => list.format(items),
  }
}

/** Locale for dates and lists. Plain `en` would mean American English. */
export const localeOf = (language: string): string => (language === 'en' ? 'en-GB' : language)

export type Direction = 'ltr' | 'rtl'
const RIGHT_TO_LEFT = ['ar', 'fa', 'he', 'ur']

export const directionOf = (language: string): Direction => (RIGHT_TO_LEFT.includes(language.split('-', 1)[0]!) ? 'rtl' : 'ltr')

/** Intl options for a full time, on pages, in mails, and in scripts. */
export const FULL_TIME = {
  weekday: 'long',
  day: 'numeric',
  month: 'long',
  year: 'numeric',
  hour: '2-digit',
  minute: '2-digit',
} as const
