import { MEDIA_FORMATS } from '../../../domain/assessments/assessments.ts'
import type { QuestionDefinition } from '../../../domain/assessments/define-question.ts'
import { hashDefinition } from '../../../domain/assessments/write-question.ts'
import type { Context } from '../../../domain/context.ts'
import type { Issue } from '../../../domain/errors.ts'
import { type Html, html } from '../../../html/html.ts'
import type { QuestionType } from '../../../kinds/author.ts'
import { authorOf, questionTypes, readDefinition } from '../../../kinds/authors.ts'
import { changeRows, ROWS_BUTTON } from '../../../kinds/rows.ts'
import type { Form } from '../kit/forms.ts'
import { formatIssue } from '../kit/issue-messages.ts'

/** @property values all fields of the kind, as stored or as typed. @property hash of the stored definition. */
export type KindPart = { word: string; values: URLSearchParams; hash?: string }

/** Field with the hash of the definition that the form was filled in from. */
export const DEFINITION_HASH_FIELD = 'seenDefinition'

/** Reason why questions that score themselves can't be asked here; undefined if they can. */
export const explainUnavailableKinds = ({ deps }: Context): string | undefined =>
  deps.hasOwnPlayer
    ? undefined
    : 'Your candidates use another player (PLAYER_URL), which supports only text, audio, and video answers.'

/** The requested response type if it is known, else the assessment's default. */
export const resolveResponseType = (requested: string, otherwise: string): string =>
  authorOf(requested) || MEDIA_FORMATS.some((format) => format === requested) ? requested : otherwise

/** @returns null if the response type has no answer key. */
export function createKindPart({ deps }: Context, word: string, preset: string, typed: URLSearchParams): KindPart | null {
  const author = authorOf(word)
  if (!author) return null
  return { word, values: typed.size > 0 ? typed : author.begin(deps.random, preset) }
}

export function toKindPart({ deps }: Context, definition: QuestionDefinition, typed: URLSearchParams): KindPart | null {
  const word = definition.responseType
  const author = authorOf(word)
  if (!author) return null
  const values = typed.size > 0 ? typed : author.print(definition.spec, definition.key, deps.random)
  return { word, values, hash: hashDefinition(definition) }
}

/** @returns null if the response type has no answer key. */
export function readKindDefinition(values: URLSearchParams): { definition: QuestionDefinition; faults: Issue[] } | null {
  const word = values.get('responseType') ?? ''
  if (!authorOf(word)) return null
  const { definition, faults } = readDefinition(word, values)
  return { definition, faults: faults.map(({ field, text }) => ({ field, rule: 'malformed', text })) }
}

export const changesRows = (values: URLSearchParams): boolean => values.has(ROWS_BUTTON)

/** Internal field with the row that gets the focus. Its leading space keeps it apart from fields that browsers send. */
const FOCUS = ' focus'

/** The form after a button that adds, moves, or removes a row. */
export function applyRowChange({ deps }: Context, sent: URLSearchParams): Form {
  const { values, focus } = changeRows(sent, sent.get(ROWS_BUTTON) ?? '', deps.random)
  const next = new URLSearchParams([...values].filter(([name]) => name !== ROWS_BUTTON && name !== FOCUS))
  if (focus) next.set(FOCUS, focus)
  return { values: next, issues: [] }
}

/** @param isKeyOnly leaves out all fields but those of the answer key. */
export function kindFields(form: Form, { word, values }: KindPart, isKeyOnly = false): Html {
  const errorsOf = (field: string) => form.issues.filter((issue) => issue.field === field).map(formatIssue)
  return html`<input type="hidden" name="responseType" value="${word}">
${authorOf(word)!.fields(word, { values, errorsOf, focus: values.get(FOCUS) ?? undefined, isKeyOnly })}`
}

/** A response type that the organization made up is its own label. */
export const responseTypeLabel = (word: string): Pick<QuestionType, 'label' | 'icon'> =>
  [...questionTypes.graded, ...questionTypes.scored].find((offer) => offer.word === word) ?? { label: word, icon: 'file-text' }
