import { readFileSync } from 'node:fs'
import path from 'node:path'
import { LRUCache } from 'lru-cache'
import type { Candidate, Mail } from '../generated/locales/types.ts'
import type { Html } from '../html/html.ts'
import { createPageTexts, type PageTexts } from './page-texts.ts'
import type { Messages } from './texts.ts'

export type CandidateTexts = PageTexts<Candidate<string>, Candidate<string | Html>>
/** The keys of mails' texts, with what each needs. */
export type MailCatalog = Mail<string>
export type MailTexts = PageTexts<Mail<string>, Mail<string | Html>>

/** What the service says to people who have no page of settings: on the candidate's pages, and in mails; each in one language, its times in one zone. */
export type AllLanguages = {
  /** Of the languages that there are, and of those that a native speaker has reviewed. */
  codes: readonly string[]
  reviewed: readonly string[]
  candidate: (language: string, zone: string) => CandidateTexts
  mail: (language: string, zone: string) => MailTexts
}

type Catalogs = { candidate: Messages; mail: Messages }

/** Texts of a language in a zone, which take some memory. */
const MAX_KEPT = 200

/** @param read the messages of a language by their catalogs, asked for when it is first spoken. */
export function createLanguages(
  languages: Pick<AllLanguages, 'codes' | 'reviewed'>,
  read: (language: string) => Catalogs,
): AllLanguages {
  const spoken = new Map<string, Catalogs>()
  const catalogsOf = (language: string): Catalogs => {
    const catalogs = spoken.get(language) ?? read(language)
    spoken.set(language, catalogs)
    return catalogs
  }
  const keep = <Plain, Marked>(catalog: keyof Catalogs) => {
    const kept = new LRUCache<string, PageTexts<Plain, Marked>>({ max: MAX_KEPT })
    return (language: string, zone: string): PageTexts<Plain, Marked> => {
      const key = `${language} ${zone}`
      const texts = kept.get(key) ?? createPageTexts<Plain, Marked>(language, zone, catalogsOf(language)[catalog])
      kept.set(key, texts)
      return texts
    }
  }
  return { ...languages, candidate: keep('candidate'), mail: keep('mail') }
}

/** Those that come with the service. */
export const shippedLanguages: AllLanguages = createLanguages(readGenerated('languages'), readGenerated)

function readGenerated(name: string) {
  return JSON.parse(readFileSync(path.join(import.meta.dirname, `../generated/locales/${name}.json`), 'utf8'))
}
