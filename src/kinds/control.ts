import type { Html } from '../html/html.ts'
import type { Pictures } from '../http/pages/pictures.ts'
import type { CandidateTexts } from '../locales/languages.ts'

/**
 * Question and answer on the candidate's page.
 *
 * @property shown ids of the parts in the candidate's order. @property value stored answer in the kind's own form. @property text stored answer
 *   as text. @property language code of the language to answer in. @property isWritten true if a text is accepted instead of a recording.
 */
export type ControlInput = {
  version: { responseType: string; spec: unknown }
  shown: string[]
  value: unknown
  text: { text: string; revision: number } | null
  language: string | null
  pictures: Pictures
  isWritten: boolean
}
/** Renders native fields named `answer`, or `text` for a free text, which work without JavaScript. */
export type Control = (t: CandidateTexts, asked: ControlInput) => Html
