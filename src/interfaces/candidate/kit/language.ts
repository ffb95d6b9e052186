import type { IncomingHttpHeaders } from 'node:http'
import {
  chooseCandidateLanguage,
  chooseVisitorLanguage,
  type LanguageSources,
  readAcceptLanguage,
} from '../../../domain/languages/choose-language.ts'
import { type Zoned, zoneOf } from '../../../domain/time/zones.ts'
import type { CandidateTexts, Languages } from '../../../locales/languages.ts'

export type LanguageRequest = { headers: IncomingHttpHeaders }

const acceptedBy = ({ headers }: LanguageRequest): string[] => readAcceptLanguage(headers['accept-language'])

export const textsFor = (languages: Languages, invite: LanguageSources & Zoned, asking: LanguageRequest): CandidateTexts =>
  languages.candidate(chooseCandidateLanguage(languages, invite, acceptedBy(asking)), zoneOf(invite))

/** Texts for pages without an invite. They show no times. */
export const textsForStranger = (languages: Languages, asking: LanguageRequest): CandidateTexts =>
  languages.candidate(chooseVisitorLanguage(languages, acceptedBy(asking)), 'UTC')
