import type { Html } from '../html/html.ts'
import type { CandidateTexts } from '../locales/languages.ts'
import { choiceControl } from './choice/candidate.ts'
import type { Asked, Control } from './control.ts'
import { numberControl } from './number/candidate.ts'
import { shortTextControl } from './short-text/candidate.ts'

const controls: Record<string, Control> = {
  single_choice: choiceControl,
  multiple_choice: choiceControl,
  number: numberControl,
  short_text: shortTextControl,
}

type Open = { shown: string[]; text: { value: unknown } | null; targetLanguage: string | null }

/** The fields by which a question of a kind is answered. @throws Error for a kind that there is not. */
export function answerControl(t: CandidateTexts, version: Asked['version'], { shown, text, targetLanguage }: Open): Html {
  const control = controls[version.responseType]
  if (!control) throw new Error(`No question is answered as ${version.responseType}`)
  return control(t, { version, shown, value: text?.value ?? null, language: targetLanguage })
}
