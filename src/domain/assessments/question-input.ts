import type { Rubric } from './rubric.ts'

/** A question as people write it. */
export type QuestionInput = {
  /** Format of the question or answer: usually a media format, but an organization may use any word. */
  inputType: string
  responseType: string
  script: string
  /** `plain`, or `markdown`: how the script is read. */
  scriptFormat: string
  audioUrl: string
  videoUrl: string
  points: number
  /** Seconds; 0 is no limit. */
  timeLimit: number
  /** Seconds before answering begins; 0 is none. */
  preparationTime: number
  /** True: the answer is recorded while the prompt plays, see simultaneous.ts. */
  simultaneous: boolean
  /** Codes of languages, see language-codes.ts, empty for none. */
  sourceLanguage: string
  targetLanguage: string
  rubric: Rubric | null
}

/** Defaults of a new question. */
export const EMPTY_QUESTION: QuestionInput = {
  inputType: 'text',
  responseType: 'text',
  script: '',
  scriptFormat: 'plain',
  audioUrl: '',
  videoUrl: '',
  points: 0,
  timeLimit: 0,
  preparationTime: 0,
  simultaneous: false,
  sourceLanguage: '',
  targetLanguage: '',
  rubric: null,
}
