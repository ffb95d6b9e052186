import type { DefinitionFault, Random } from '../domain/ports/question-kind.ts'
import type { Html } from '../html/html.ts'
import type { IconName } from '../http/pages/icon.ts'

/** Entry in the list of question types. @property preset variant of the form. @property line description. */
export type QuestionType = { word: string; preset?: string; label: string; description: string; icon: IconName }

/** @property values the fields as they would be submitted. */
export type AuthorForm = {
  values: URLSearchParams
  /** Errors of a field, in sentences. */
  errorsOf: (field: string) => string[]
  /** Id of the row that gets the focus. */
  focus: string | undefined
  /** True if the question can't be changed, only its key. */
  isKeyOnly?: boolean
}

/** Parsed form. @property faults by field name. @property fieldOf maps a path of the definition to a field name. */
export type ParsedForm = { spec: unknown; key: unknown; faults: DefinitionFault[]; fieldOf: (path: string) => string }

/** The author's form of a kind. It works without JavaScript. */
export type KindForm = {
  offers: readonly QuestionType[]
  /** Fields of a new question. */
  begin: (random: Random, preset: string) => URLSearchParams
  /** Fields of a stored question. */
  print: (spec: unknown, key: unknown, random: Random) => URLSearchParams
  read: (word: string, values: URLSearchParams) => ParsedForm
  fields: (word: string, form: AuthorForm) => Html
  /** Names and labels of the fields that may contain pictures. */
  pictured?: (values: URLSearchParams) => [name: string, label: string][]
}
