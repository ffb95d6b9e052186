import type { AnswerPart, PartVerdict } from '../domain/ports/question-kind.ts'
import { type Html, html } from '../html/html.ts'

/** An answer and its key, for graders. @property shown ids of the parts in the candidate's order. @property value null without an answer. */
export type GradedAnswer = { spec: unknown; key: unknown; shown: readonly string[]; value: unknown; parts: readonly AnswerPart[] }
export type GradingView = (compared: GradedAnswer) => Html

/** Signs and words instead of colors, for color-blind graders. */
const VERDICTS: Record<PartVerdict, { sign: string; word: string }> = {
  right: { sign: '✓', word: 'right' },
  wrong: { sign: '✗', word: 'wrong' },
  missed: { sign: '○', word: 'missed' },
  left: { sign: '–', word: 'rightly left out' },
}

/** A list item with a text and its verdict. */
export function comparisonItem(text: string, verdict: PartVerdict | undefined, detail = ''): Html {
  const label = verdict && VERDICTS[verdict]
  return html`<li class="flex gap-3 py-1"><span class="w-6 text-center font-semibold" aria-hidden="true">${label ? label.sign : ''}</span><span class="min-w-0 grow"><span class="script" dir="auto">${text}</span>${label && html` <span class="quiet text-sm">${label.word}</span>`}${detail && html` <span class="quiet text-sm">${detail}</span>`}</span></li>`
}

/** The typed answer and the accepted texts. */
export const textComparison = (answer: string, parts: readonly AnswerPart[], accepted: readonly string[]): Html =>
  html`<ul>${answer.trim() === '' ? comparisonItem('Nothing was answered', undefined) : comparisonItem(answer.trim(), parts[0]?.verdict)}</ul>
<h4>Accepted</h4>
<ul>${accepted.map((text) => comparisonItem(text, undefined))}</ul>`
