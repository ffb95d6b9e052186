import type { Fault, Random } from '../domain/ports/question-kind.ts'
import type { Html } from '../html/html.ts'
import type { IconName } from '../http/pages/icon.ts'

/** A way to ask that an author is offered. @property line what it is for. */
export type Offer = { word: string; preset?: string; label: string; line: string; icon: IconName }

/** What an author's form shows: all of it as it would be sent, whether it was typed or is stored. */
export type AuthorForm = {
  values: URLSearchParams
  /** What is wrong with a field, in sentences. */
  wrong: (field: string) => string[]
  /** The row that was added last, which gets the focus. */
  focus: string | undefined
  /** Whether what is shown stays, and the key alone can be changed. */
  isKeyOnly?: boolean
}

/** What a form says. @property faults by the names of the form's fields. @property fieldOf the field that a path of the definition came from. */
export type Read = { spec: unknown; key: unknown; faults: Fault[]; fieldOf: (path: string) => string }

/** How questions of a kind are written: by a form that works without a script. */
export type Author = {
  offers: readonly Offer[]
  /** The fields of a new question. */
  begin: (random: Random, preset: string) => URLSearchParams
  /** The fields of one that is stored. */
  print: (spec: unknown, key: unknown, random: Random) => URLSearchParams
  read: (word: string, values: URLSearchParams) => Read
  fields: (word: string, form: AuthorForm) => Html
  /** Its fields that may show a picture, by name, with what they are called; undefined: none does. */
  pictured?: (values: URLSearchParams) => [name: string, label: string][]
}
