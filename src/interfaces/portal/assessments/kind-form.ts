import { MEDIA_FORMATS } from '../../../domain/assessments/assessments.ts'
import type { Definition } from '../../../domain/assessments/define-question.ts'
import { hashDefinition } from '../../../domain/assessments/write-question.ts'
import type { Context } from '../../../domain/context.ts'
import type { Issue } from '../../../domain/errors.ts'
import { type Html, html } from '../../../html/html.ts'
import type { Offer } from '../../../kinds/author.ts'
import { authorOf, offers, readDefinition } from '../../../kinds/authors.ts'
import { changeRows, ROWS } from '../../../kinds/rows.ts'
import type { Form } from '../kit/forms.ts'
import { wordIssue } from '../kit/issue-words.ts'

// The part of a question's form that its kind writes.

/** What the form has of a kind. @property values all fields of the kind, as stored or as typed. @property hash of the definition that is stored. */
export type KindPart = { word: string; values: URLSearchParams; hash?: string }

/** The field that says which definition was seen. */
export const SEEN_DEFINITION = 'seenDefinition'

/** Why questions of a kind can't be asked here; undefined: they can. */
export const whyNoKinds = ({ deps }: Context): string | undefined =>
  deps.hasOwnPlayer
    ? undefined
    : 'Candidates take assessments in another player (PLAYER_URL), which would not know what to show: only text, audio and video can be asked there.'

/** How a question is answered that was asked for; else as the assessment has it. */
export const answeredBy = (asked: string, otherwise: string): string =>
  authorOf(asked) || MEDIA_FORMATS.some((format) => format === asked) ? asked : otherwise

/** @returns null: it is of no kind with a right answer. */
export function startKind({ deps }: Context, word: string, preset: string, typed: URLSearchParams): KindPart | null {
  const author = authorOf(word)
  if (!author) return null
  return { word, values: typed.size > 0 ? typed : author.begin(deps.random, preset) }
}

export function printKind({ deps }: Context, definition: Definition, typed: URLSearchParams): KindPart | null {
  const word = definition.responseType
  const author = authorOf(word)
  if (!author) return null
  const values = typed.size > 0 ? typed : author.print(definition.spec, definition.key, deps.random)
  return { word, values, hash: hashDefinition(definition) }
}

/** What a form says of the kind; null: it is of none. */
export function readKind(values: URLSearchParams): { definition: Definition; faults: Issue[] } | null {
  const word = values.get('responseType') ?? ''
  if (!authorOf(word)) return null
  const { definition, faults } = readDefinition(word, values)
  return { definition, faults: faults.map(({ field, text }) => ({ field, rule: 'malformed', text })) }
}

export const wantsRows = (values: URLSearchParams): boolean => values.has(ROWS)

/** What is known of the row to go on with: it stands among the fields, which nobody sends it in. */
const FOCUS = ' focus'

/** The form after the button that was pressed in it. */
export function changedForm({ deps }: Context, sent: URLSearchParams): Form {
  const { values, focus } = changeRows(sent, sent.get(ROWS) ?? '', deps.random)
  const next = new URLSearchParams([...values].filter(([name]) => name !== ROWS && name !== FOCUS))
  if (focus) next.set(FOCUS, focus)
  return { values: next, issues: [] }
}

/** The fields of the kind. @param isKeyOnly those of the key alone. */
export function kindFields(form: Form, { word, values }: KindPart, isKeyOnly = false): Html {
  const errorsOf = (field: string) => form.issues.filter((issue) => issue.field === field).map(wordIssue)
  return html`<input type="hidden" name="responseType" value="${word}">
${authorOf(word)!.fields(word, { values, errorsOf, focus: values.get(FOCUS) ?? undefined, isKeyOnly })}`
}

/** How a question is answered: a word of the organization's own stands for itself. */
export const wayOf = (word: string): Pick<Offer, 'label' | 'icon'> =>
  [...offers.graded, ...offers.scored].find((offer) => offer.word === word) ?? { label: word, icon: 'file-text' }
