import type { Html } from '../html/html.ts'
import type { Pictures } from '../http/pages/pictures.ts'
import type { CandidateTexts } from '../locales/languages.ts'

/**
 * What the candidate's page has of a question.
 *
 * @property version its spec; null: it has none. @property shown in which order its parts are shown to this candidate. @property value what
 *   they have answered, as the kind has it. @property text that in words, or the text that they typed. @property language a code, in which
 *   to answer. @property pictures those that its parts may show. @property isWritten whether it can be answered without a recording.
 */
export type Asked = {
  version: { responseType: string; spec: unknown }
  shown: string[]
  value: unknown
  text: { text: string; revision: number } | null
  language: string | null
  pictures: Pictures
  isWritten: boolean
}
/** Native fields named `answer`, which work without a script; of a text named `text`. */
export type Control = (t: CandidateTexts, asked: Asked) => Html
