import type { Part, Verdict } from '../domain/ports/question-kind.ts'
import { type Html, html } from '../html/html.ts'

/** What a grader sees of an answer beside its key. @property value null: nothing was answered. */
export type Compared = { spec: unknown; key: unknown; shown: readonly string[]; value: unknown; parts: readonly Part[] }
export type Sheet = (compared: Compared) => Html

/** In words and signs, because not everybody tells green from red. */
const VERDICTS: Record<Verdict, { sign: string; word: string }> = {
  right: { sign: '✓', word: 'right' },
  wrong: { sign: '✗', word: 'wrong' },
  missed: { sign: '○', word: 'missed' },
  left: { sign: '–', word: 'rightly left out' },
}

/** A line of what was answered or is right. @param verdict undefined: nothing became of it. */
export function compared(text: string, verdict: Verdict | undefined, detail = ''): Html {
  const said = verdict && VERDICTS[verdict]
  return html`<li class="flex gap-3 py-1"><span class="w-6 text-center font-semibold" aria-hidden="true">${said ? said.sign : ''}</span><span class="min-w-0 grow"><span class="script" dir="auto">${text}</span>${said && html` <span class="quiet text-sm">${said.word}</span>`}${detail && html` <span class="quiet text-sm">${detail}</span>`}</span></li>`
}

/** One text that was typed, and what is accepted. */
export const comparedText = (answer: string, parts: readonly Part[], accepted: readonly string[]): Html =>
  html`<ul>${answer.trim() === '' ? compared('Nothing was answered', undefined) : compared(answer.trim(), parts[0]?.verdict)}</ul>
<h4>Accepted</h4>
<ul>${accepted.map((text) => compared(text, undefined))}</ul>`
