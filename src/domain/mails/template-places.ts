import { type Languages, type OrganizationLanguages, offeredLanguages } from '../languages/choose-language.ts'
import type { TemplateKind } from './candidate-mails.ts'

// Chooses a mail's text: the assessment's, the organization's, or the service's.

/** @property assessmentId null: all assessments without a text of their own. */
export type TextPlace = { kind: TemplateKind; language: string; assessmentId: string | null }
/** Origin of a text: the assessment or organization in the reader's language, or the organization in its main language. */
export type TextOrigin = 'assessment' | 'organization' | 'main'
export type PlaceWithOrigin = TextPlace & { origin: TextOrigin }
/** A place as the database has it. */
type StoredPlace = Omit<TextPlace, 'kind'> & { kind: string }
/** A text as its author wrote it; an empty body means no text. */
export type WrittenText = { subject: string; body: string }
/** @property language language of the whole email, including the text around the template. */
export type FoundText<Text extends WrittenText = WrittenText> = Text & { language: string; origin: TextOrigin }

/**
 * Language of the template used for languages without one; null: they use the service's text, because no language was chosen, or it is no
 * longer offered to candidates.
 */
export const mainLanguageOf = (
  languages: Languages,
  organization: OrganizationLanguages & { mainTemplateLanguage: string | null },
): string | null => offeredLanguages(languages, organization).find((code) => code === organization.mainTemplateLanguage) ?? null

/** Places to search, in order. @param mainLanguage see {@link mainLanguageOf}. */
export function placesOf(place: TextPlace, mainLanguage: string | null): PlaceWithOrigin[] {
  const general = { ...place, assessmentId: null }
  return [
    ...(place.assessmentId !== null ? [{ ...place, origin: 'assessment' as const }] : []),
    { ...general, origin: 'organization' },
    ...(mainLanguage !== null && mainLanguage !== place.language
      ? [{ ...general, language: mainLanguage, origin: 'main' as const }]
      : []),
  ]
}

/** The text of a place. */
export const findTextAt = <Text extends StoredPlace>(texts: readonly Text[], place: TextPlace): Text | undefined =>
  texts.find((text) => text.kind === place.kind && text.language === place.language && text.assessmentId === place.assessmentId)

/** First existing template in the order of places. @param newest newest version at each place. @returns null: the service's own text. */
export function chooseText<Text extends WrittenText & StoredPlace>(
  places: readonly PlaceWithOrigin[],
  newest: readonly Text[],
): FoundText<Text> | null {
  const found = places.flatMap((place) => {
    const text = findTextAt(newest, place)
    return text && text.body !== '' ? [{ ...text, language: place.language, origin: place.origin }] : []
  })
  return found[0] ?? null
}
