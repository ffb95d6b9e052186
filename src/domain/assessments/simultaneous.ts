import { assetIdIn } from '../assets/references.ts'
import { RECORDED_KINDS } from '../ports/question-kind.ts'

type PromptedQuestion = { responseType: string; audioUrl: string; videoUrl: string }

/**
 * True if the answer can be recorded while the prompt plays: it is a recording, and the prompt is one file that the service stores. Files
 * elsewhere can't be loaded completely before they play.
 */
export function canBeSimultaneous({ responseType, audioUrl, videoUrl }: PromptedQuestion): boolean {
  const prompts = [audioUrl, videoUrl].filter((address) => address !== '')
  const isRecorded = RECORDED_KINDS.some((kind) => kind === responseType)
  return isRecorded && prompts.length === 1 && assetIdIn(prompts[0]!) !== null
}

/** True if the answer is recorded while the prompt plays, as in simultaneous interpreting: both once, without a pause. */
export const isSimultaneous = (question: PromptedQuestion & { simultaneous: boolean }): boolean =>
  question.simultaneous && canBeSimultaneous(question)
