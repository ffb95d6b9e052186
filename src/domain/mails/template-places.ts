import { type Languages, offeredLanguages, type SpeakingOrganization } from '../values/languages.ts'

// Which text a mail has: the organization's own where it has one, else ours.

/** Whose text it is: the organization's in the reader's language, or in its main one, whatever the reader's. */
export type Whose = 'organization' | 'main'
/** A text that somebody has written; one without a body is none. */
export type WrittenText = { language: string; subject: string; body: string }
/** @property language in which the whole mail is, what stands around the text as well. */
export type FoundText<Text extends WrittenText = WrittenText> = Text & { whose: Whose }
export type Place = { language: string; whose: Whose }

/** The language whose text takes the place of ours; null: ours stays, because nobody has chosen one, or candidates can not have it any more. */
export const mainLanguageOf = (
  languages: Languages,
  organization: SpeakingOrganization & { mainTemplateLanguage: string | null },
): string | null => offeredLanguages(languages, organization).find((code) => code === organization.mainTemplateLanguage) ?? null

/** Where the text of a mail is looked for, what comes first before the rest. @param mainLanguage see {@link mainLanguageOf}. */
export const placesOf = (language: string, mainLanguage: string | null): Place[] => [
  { language, whose: 'organization' },
  ...(mainLanguage !== null && mainLanguage !== language ? [{ language: mainLanguage, whose: 'main' as const }] : []),
]

/** The first text that there is. @param newest of each place the newest, where it has any. @returns null: ours. */
export function chooseText<Text extends WrittenText>(places: readonly Place[], newest: readonly Text[]): FoundText<Text> | null {
  const found = places.flatMap(({ language, whose }) => {
    const text = newest.find((one) => one.language === language)
    return text && text.body !== '' ? [{ ...text, whose }] : []
  })
  return found[0] ?? null
}
