import { withoutPictures } from '../../domain/assets/references.ts'
import { type Html, html } from '../../html/html.ts'
import type { CandidateTexts } from '../../locales/languages.ts'
import { type IconName, icon } from './icon.ts'
import { fromMarkdown, withoutMarks } from './markdown.ts'
import { type Pictures, withPictures } from './pictures.ts'

// What a candidate is shown of an assessment, on the candidate's pages and in the portal's preview of them.

/** "20 minutes", "1 minute 30 seconds". */
export const wordDuration = (seconds: number): string =>
  [wordCount(Math.floor(seconds / 60), 'minute'), wordCount(seconds % 60, 'second')]
    .filter((part) => !part.startsWith('0 '))
    .join(' ')

export const wordCount = (number: number, noun: string): string => `${number} ${noun}${number === 1 ? '' : 's'}`

type Assessed = { questionCount: number; totalPoints: number; timeLimit: number }
/** Something to expect, if it is so: its icon, what it is, and what that means. */
export type Expectation = [isSo: boolean, IconName, what: string, meaning: string]

/** What to expect of an assessment, at a glance. @param further what an invite to it asks besides. */
export function expectations(
  t: CandidateTexts,
  { questionCount, totalPoints: points, timeLimit }: Assessed,
  further: Expectation[] = [],
): Html {
  const order = points > 0 ? t.text('expect.order.points', { points }) : t.text('expect.order')
  const all: Expectation[] = [
    [true, 'list-checks', t.text('expect.questions', { count: questionCount }), order],
    [timeLimit > 0, 'timer', t.duration(timeLimit), t.text('expect.limit.meaning')],
    [timeLimit === 0, 'timer', t.text('expect.unlimited'), t.text('expect.unlimited.meaning')],
    ...further,
  ]
  return html`<ul class="mt-6 grid gap-3 sm:grid-cols-2">
${all.map(
  ([isSo, name, what, meaning]) =>
    isSo &&
    html`<li class="panel flex items-start gap-3 p-4"><span class="text-primary">${icon(name, 'size-5')}</span><div><strong class="font-medium">${what}</strong><p class="quiet text-sm">${meaning}</p></div></li>\n`,
)}</ul>`
}

/** What somebody has written, as it reads: in its direction and, for whoever has it read aloud, its language. @param language a code; null: not known. */
export const written = (text: string, language: string | null = null): Html =>
  html`<p class="script" lang="${language ?? ''}" dir="auto">${text}</p>`

/** The text of a question, in the format that it is written in. @param language a code; null: not known. */
export const prompt = (
  { script, scriptFormat }: { script: string; scriptFormat: string },
  language: string | null,
  pictures: Pictures,
): Html =>
  scriptFormat === 'markdown'
    ? fromMarkdown(script, language, pictures)
    : html`<p class="script" lang="${language ?? ''}" dir="auto">${withPictures(script, pictures)}</p>`

/** The text of a question in letters alone, its pictures named. */
export const promptInWords = ({ script, scriptFormat }: { script: string; scriptFormat: string }): string =>
  scriptFormat === 'markdown' ? withoutMarks(script) : withoutPictures(script)

/** Only these become links: what an organization gives as the address of a medium could also be a script's. */
export const isWebAddress = (text: string): boolean => /^https?:\/\//i.test(text) && URL.canParse(text)
