import type { Html } from '../html/html.ts'
import type { CandidateTexts } from '../locales/languages.ts'

/** What the candidate's page has of a question: its spec, in which order its parts are shown to them, and what they have answered. */
export type Asked = { version: { responseType: string; spec: unknown }; shown: string[]; value: unknown; language: string | null }
/** Native fields named `answer`, which work without a script. */
export type Control = (t: CandidateTexts, asked: Asked) => Html
