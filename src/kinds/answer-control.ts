import { isRecorded } from '../domain/submissions/needs.ts'
import type { Html } from '../html/html.ts'
import type { Pictures } from '../http/pages/pictures.ts'
import type { CandidateTexts } from '../locales/languages.ts'
import { kindOf, kinds } from './index.ts'
import { isRecordingWord } from './recording/kind.ts'
import { text as plainText } from './text/kind.ts'

type Open = {
  responseType: string
  version: { responseType: string; spec: unknown } | null
  shown: string[]
  text: { text: string; revision: number; value: unknown } | null
  targetLanguage: string | null
}

/**
 * What a question is answered by.
 *
 * @property recorder stands outside forms: its buttons send none. @property fields stand in one. One of them is null where there is one way
 *   only.
 */
export function answerControl(
  t: CandidateTexts,
  question: Open,
  pictures: Pictures,
): { recorder: Html | null; fields: Html | null } {
  const { shown, text, targetLanguage, responseType } = question
  const isWritten = !isRecorded(kinds, question)
  const kind = kindOf(question)
  const version = question.version ?? { responseType, spec: null }
  const asked = { version, shown, value: text?.value ?? null, text, language: targetLanguage, pictures, isWritten }
  const records = kind.answering(version.responseType).savedBy.includes('recording')
  if (!records) return { recorder: null, fields: kind.control(t, asked) }
  return { recorder: kind.control(t, asked), fields: isWritten ? plainText.control(t, asked) : null }
}

type Answered = Pick<Open, 'responseType' | 'version'> & { timeLimit: number }

/** How a question is answered, and within what time; of what shows that by itself the time alone. */
export function wordAnswering(t: CandidateTexts, { responseType, version, timeLimit }: Answered): string | null {
  const time = t.duration(timeLimit)
  if (version) return timeLimit > 0 ? t.text('question.limit', { time }) : null
  const kind = isRecordingWord(responseType) ? responseType : 'other'
  return `${timeLimit > 0 ? t.text('paper.answer.within', { kind, time }) : t.text('paper.answer', { kind })}.`
}
