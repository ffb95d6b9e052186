import { readFileSync } from 'node:fs'
import path from 'node:path'
import { LRUCache } from 'lru-cache'
import type { Candidate, Mail } from '../generated/locales/types.ts'
import type { Html } from '../html/html.ts'
import { createPageTexts, type PageTexts } from './page-texts.ts'
import type { Messages } from './texts.ts'

export type CandidateTexts = PageTexts<Candidate<string>, Candidate<string | Html>>
/** Keys of mail texts and their values. */
export type MailCatalog = Mail<string>
export type MailTexts = PageTexts<Mail<string>, Mail<string | Html>>

/** Texts of the candidates' pages and mails, by language and time zone. */
export type Languages = {
  /** `reviewed`: languages that a native speaker has reviewed. */
  codes: readonly string[]
  reviewed: readonly string[]
  candidate: (language: string, zone: string) => CandidateTexts
  mail: (language: string, zone: string) => MailTexts
}

type Catalogs = { candidate: Messages; mail: Messages }

/** Entries are pairs of a language and a time zone. */
const MAX_CACHED = 200

/** @param read loads the messages of a language on its first use. */
export function createLanguages(
  languages: Pick<Languages, 'codes' | 'reviewed'>,
  read: (language: string) => Catalogs,
): Languages {
  const loaded = new Map<string, Catalogs>()
  const catalogsOf = (language: string): Catalogs => {
    const catalogs = loaded.get(language) ?? read(language)
    loaded.set(language, catalogs)
    return catalogs
  }
  const createCache = <Plain, Marked>(catalog: keyof Catalogs) => {
    const cache = new LRUCache<string, PageTexts<Plain, Marked>>({ max: MAX_CACHED })
    return (language: string, zone: string): PageTexts<Plain, Marked> => {
      const key = `${language} ${zone}`
      const texts = cache.get(key) ?? createPageTexts<Plain, Marked>(language, zone, catalogsOf(language)[catalog])
      cache.set(key, texts)
      return texts
    }
  }
  return { ...languages, candidate: createCache('candidate'), mail: createCache('mail') }
}

export const shippedLanguages: Languages = createLanguages(readGenerated('languages'), readGenerated)

function readGenerated(name: string) {
  return JSON.parse(readFileSync(path.join(import.meta.dirname, `../generated/locales/${name}.json`), 'utf8'))
}
