import { withoutPictures } from '../../domain/assets/references.ts'
import { type Html, html } from '../../html/html.ts'
import type { CandidateTexts } from '../../locales/languages.ts'
import { type IconName, icon } from './icon.ts'
import { fromMarkdown, withoutMarks } from './markdown.ts'
import { type Pictures, withPictures } from './pictures.ts'

// Shared by the candidate's pages and the portal's preview of them.

/** "20 minutes", "1 minute 30 seconds". */
export const wordDuration = (seconds: number): string =>
  [wordCount(Math.floor(seconds / 60), 'minute'), wordCount(seconds % 60, 'second')]
    .filter((part) => !part.startsWith('0 '))
    .join(' ')

export const wordCount = (number: number, noun: string): string => `${number} ${noun}${number === 1 ? '' : 's'}`

/** @property timeLimit seconds for the assessment. @property timed number of questions with a time limit. @property timedSeconds sum of their limits. */
type Assessed = { questions: number; totalPoints: number; timeLimit: number; timed: number; timedSeconds: number }
export type Expectation = [isShown: boolean, IconName, title: string, meaning: string]

/** Facts about an assessment for candidates. @param further requirements of the invite. */
export function expectations(t: CandidateTexts, assessed: Assessed, further: Expectation[] = []): Html {
  const all: Expectation[] = [
    [true, 'list-checks', t.text('expect.questions', { count: assessed.questions }), wordOrder(t, assessed)],
    [true, 'timer', ...wordTime(t, assessed)],
    ...further,
  ]
  return html`<ul class="mt-6 grid gap-3 sm:grid-cols-2">
${all.map(
  ([isShown, name, title, meaning]) =>
    isShown &&
    html`<li class="panel flex items-start gap-3 p-4"><span class="text-primary">${icon(name, 'size-5')}</span><div><strong class="font-medium">${title}</strong><p class="quiet text-sm">${meaning}</p></div></li>\n`,
)}</ul>`
}

function wordOrder(t: CandidateTexts, { questions, totalPoints: points }: Assessed): string {
  if (questions > 1) return points > 0 ? t.text('expect.order.points', { points }) : t.text('expect.order')
  return points > 0 ? t.text('expect.points', { points }) : ''
}

function wordTime(t: CandidateTexts, { questions, timeLimit, timed, timedSeconds }: Assessed): [title: string, meaning: string] {
  const time = t.duration(timedSeconds)
  if (timeLimit > 0) {
    const meaning = timed > 0 ? t.text('expect.limit.questions', { count: timed }) : t.text('expect.limit.meaning')
    return [t.duration(timeLimit), meaning]
  }
  if (timed === 0) return [t.text('expect.untimed'), t.text('expect.untimed.meaning')]
  if (timed === questions) return [t.text('expect.limit.total', { time }), t.text('expect.limit.each', { count: timed })]
  return [t.text('expect.unlimited'), t.text('expect.unlimited.questions', { count: timed, time })]
}

/** Text of a user with its direction and language. @param language code; null if unknown. */
export const written = (text: string, language: string | null = null): Html =>
  html`<p class="script" lang="${language ?? ''}" dir="auto">${text}</p>`

/** Text of a question, rendered by its format. @param language code; null if unknown. */
export const prompt = (
  { script, scriptFormat }: { script: string; scriptFormat: string },
  language: string | null,
  pictures: Pictures,
): Html =>
  scriptFormat === 'markdown'
    ? fromMarkdown(script, language, pictures)
    : html`<p class="script" lang="${language ?? ''}" dir="auto">${withPictures(script, pictures)}</p>`

/** Plain text of a question. Pictures become their alternative texts. */
export const promptInWords = ({ script, scriptFormat }: { script: string; scriptFormat: string }): string =>
  scriptFormat === 'markdown' ? withoutMarks(script) : withoutPictures(script)

/** Only these addresses become links: an organization could enter `javascript:`. */
export const isWebAddress = (text: string): boolean => /^https?:\/\//i.test(text) && URL.canParse(text)
