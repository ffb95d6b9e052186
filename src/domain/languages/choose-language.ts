// Chooses the language of pages and emails for candidates, members, and visitors. The texts are in src/locales.

/** BCP 47 codes of the available languages, and of those reviewed by a native speaker. */
export type Languages = { codes: readonly string[]; reviewed: readonly string[] }

/** Languages of an organization; none offered: all reviewed ones. */
export type OrganizationLanguages = { language: string; languagesOffered: readonly string[] }

/** Settings that decide a candidate's language, apart from the browser's. */
export type LanguageSources = {
  language: string | null
  chosenLanguage: string | null
  assessment: { interfaceLanguage: string | null; languages: readonly { language: { code: string } }[] }
  organization: OrganizationLanguages
}

/** Prisma `select` of the columns that {@link chooseCandidateLanguage} needs. */
export const LANGUAGE_SOURCES = {
  assessment: {
    interfaceLanguage: true,
    languages: { select: { language: { select: { code: true } } }, orderBy: { position: 'asc' } },
  },
  organization: { language: true, languagesOffered: true },
} as const

export const FALLBACK_LANGUAGE = 'en'

/** Languages that an organization offers to all its candidates, in the order of the codes. */
export const offeredLanguages = ({ codes, reviewed }: Languages, { languagesOffered }: OrganizationLanguages): string[] =>
  codes.filter((code) => (languagesOffered.length > 0 ? languagesOffered : reviewed).includes(code))

/** Languages that a candidate can have, in the order of the codes: the organization's, and the assessment's own. */
function languagesFor(languages: Languages, { assessment, organization }: LanguageSources): string[] {
  const ofAssessment = [assessment.interfaceLanguage, ...codesOf(assessment)].map((code) => matchLanguage(code, languages.codes))
  const offered = [...offeredLanguages(languages, organization), ...ofAssessment]
  return languages.codes.filter((code) => offered.includes(code))
}

const codesOf = ({ languages }: LanguageSources['assessment']): string[] => languages.map(({ language }) => language.code)

/** Languages that a candidate may choose from; empty if the assessment has a fixed language, or there is only one. */
export function selectableLanguages(languages: Languages, invite: LanguageSources): string[] {
  const offered = languagesFor(languages, invite)
  return offered.length === 1 || matchLanguage(invite.assessment.interfaceLanguage, offered) !== null ? [] : offered
}

/**
 * Language for a candidate. The first possible one of: the assessment's fixed language, the candidate's choice, the invite's, the
 * browser's, the assessment's, the organization's, English.
 *
 * @param accepted see `readAcceptLanguage`; empty for a mail.
 */
export function chooseCandidateLanguage(languages: Languages, invite: LanguageSources, accepted: readonly string[] = []): string {
  const { assessment, organization } = invite
  const wanted = [assessment.interfaceLanguage, invite.chosenLanguage, invite.language, ...accepted]
  return firstMatch([...wanted, ...codesOf(assessment), organization.language], languagesFor(languages, invite))
}

/** Language of mails to a member: their choice, or the organization's. @param chosen null: none. */
export const chooseMemberLanguage = (languages: Languages, chosen: string | null, { language }: { language: string }): string =>
  firstMatch([chosen, language], languages.codes)

/** Language for an unknown visitor, from their browser. Unreviewed translations are used, too: these pages ask for no consent. */
export const chooseVisitorLanguage = ({ codes }: Languages, accepted: readonly string[]): string => firstMatch(accepted, codes)

const firstMatch = (wanted: readonly (string | null)[], offered: readonly string[]): string =>
  wanted.reduce<string | null>((found, code) => found ?? matchLanguage(code, offered), null) ?? FALLBACK_LANGUAGE

/** The offered language that a code means: itself, else one that only differs by country or script (pt-PT finds pt-BR); null: none. */
export function matchLanguage(code: string | null, offered: readonly string[]): string | null {
  const wanted = code === null ? null : canonicalLanguage(code)
  if (wanted === null) return null
  return (
    offered.find((language) => language === wanted) ?? offered.find((language) => baseOf(language) === baseOf(wanted)) ?? null
  )
}

const baseOf = (code: string): string => code.split('-', 1)[0]!

/** Canonical BCP 47 code: pt_br is pt-BR. Null for names such as "deutsch", which the grammar allows but no language has. */
function canonicalLanguage(code: string): string | null {
  const tag = code.trim().replaceAll('_', '-')
  if (!/^[a-z]{2,3}(?:-|$)/i.test(tag)) return null
  try {
    return Intl.getCanonicalLocales(tag)[0] ?? null
  } catch {
    return null
  }
}

/** More than anybody speaks. */
const MAX_ACCEPTED = 20

/** Languages of an Accept-Language header (RFC 9110, 12.5.4), most wanted first. */
export function readAcceptLanguage(header = ''): string[] {
  const acceptedLanguages = header.split(',', MAX_ACCEPTED).map((entry) => {
    const [code = '', ...parameters] = entry.split(';').map((part) => part.trim())
    const quality = parameters.find((parameter) => /^q=/i.test(parameter))
    return { code, weight: quality === undefined ? 1 : Number(quality.slice(2)) || 0 }
  })
  return acceptedLanguages
    .filter(({ weight }) => weight > 0)
    .sort((a, b) => b.weight - a.weight)
    .map(({ code }) => code)
}
