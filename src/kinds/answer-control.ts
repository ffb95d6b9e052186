import { isRecorded } from '../domain/submissions/needs.ts'
import type { Html } from '../html/html.ts'
import type { Pictures } from '../http/pages/pictures.ts'
import type { CandidateTexts } from '../locales/languages.ts'
import { kindOf, kinds } from './index.ts'
import { isRecordingWord } from './recording/kind.ts'
import { textKind as plainText } from './text/kind.ts'

type OpenQuestion = {
  responseType: string
  version: { responseType: string; spec: unknown } | null
  shown: string[]
  text: { text: string; revision: number; value: unknown } | null
  targetLanguage: string | null
}

/** Controls to answer a question, null if not applicable. @property recorder belongs outside of the form. @property fields belong inside. */
export function answerControl(
  t: CandidateTexts,
  question: OpenQuestion,
  pictures: Pictures,
): { recorder: Html | null; fields: Html | null } {
  const { shown, text, targetLanguage, responseType } = question
  const isWritten = !isRecorded(kinds, question)
  const kind = kindOf(question)
  const version = question.version ?? { responseType, spec: null }
  const input = { version, shown, value: text?.value ?? null, text, language: targetLanguage, pictures, isWritten }
  const { savedBy } = kind.answering(version.responseType)
  if (savedBy.includes('file')) return { recorder: kind.control(t, input), fields: null }
  if (!savedBy.includes('recording')) return { recorder: null, fields: kind.control(t, input) }
  return { recorder: kind.control(t, input), fields: isWritten ? plainText.control(t, input) : null }
}

type TimedQuestion = Pick<OpenQuestion, 'responseType' | 'version'> & { timeLimit: number; preparationTime: number }

/** Instruction how to answer, and the time limit. For kinds whose controls are self-explanatory only the limit. */
export function formatInstruction(
  t: CandidateTexts,
  { responseType, version, timeLimit, preparationTime }: TimedQuestion,
): string | null {
  const time = t.duration(timeLimit)
  if (version && timeLimit > 0) return t.text(preparationTime > 0 ? 'question.limit.prepared' : 'question.limit', { time })
  if (version) return null
  const kind = isRecordingWord(responseType) ? responseType : 'other'
  return `${timeLimit > 0 ? t.text('paper.answer.within', { kind, time }) : t.text('paper.answer', { kind })}.`
}
