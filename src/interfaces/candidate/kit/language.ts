import type { IncomingHttpHeaders } from 'node:http'
import { languageOf, languageOfStranger, readAcceptLanguage, type SpokenTo } from '../../../domain/languages/languages.ts'
import { type Zoned, zoneOf } from '../../../domain/time/zones.ts'
import type { AllLanguages, CandidateTexts } from '../../../locales/languages.ts'

/** Who asks, as far as it says what they speak. */
export type Asking = { headers: IncomingHttpHeaders }

const acceptedBy = ({ headers }: Asking): string[] => readAcceptLanguage(headers['accept-language'])

/** What pages say to the candidate of an invite. */
export const textsFor = (languages: AllLanguages, invite: SpokenTo & Zoned, asking: Asking): CandidateTexts =>
  languages.candidate(languageOf(languages, invite, acceptedBy(asking)), zoneOf(invite))

/** What they say where it is not known whose page it is: no times. */
export const textsForStranger = (languages: AllLanguages, asking: Asking): CandidateTexts =>
  languages.candidate(languageOfStranger(languages, acceptedBy(asking)), 'UTC')
