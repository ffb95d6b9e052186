import { readFileSync } from 'node:fs'
import path from 'node:path'
import type { Candidate, Mail } from '../generated/locales/types.ts'
import type { Html } from '../html/html.ts'
import { createPageTexts, type PageTexts } from './page-texts.ts'
import type { Messages } from './texts.ts'

export type CandidateTexts = PageTexts<Candidate<string>, Candidate<string | Html>>
export type MailTexts = PageTexts<Mail<string>, Mail<string | Html>>

/** What the service says in one language to people who have no page of settings: on the candidate's pages, and in mails. */
export type Language = { candidate: CandidateTexts; mail: MailTexts }

/** @param messages by their catalogs. */
export const createLanguage = (language: string, messages: { candidate: Messages; mail: Messages }): Language => ({
  candidate: createPageTexts(language, messages.candidate),
  mail: createPageTexts(language, messages.mail),
})

/** The only language there is. */
export const english: Language = createLanguage(
  'en',
  JSON.parse(readFileSync(path.join(import.meta.dirname, '../generated/locales/en.json'), 'utf8')),
)
