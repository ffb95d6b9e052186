import { type Html, html } from '../../html/html.ts'
import { type IconName, icon } from './icon.ts'

// What a candidate is shown of an assessment, on the candidate's pages and in the portal's preview of them.

type Question = {
  script: string
  audioUrl: string
  videoUrl: string
  responseType: string
  timeLimit: number
  points: number
  sourceLanguage: string | null
}

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
export function expectations({ questionCount, totalPoints, timeLimit }: Assessed, further: Expectation[] = []): Html {
  const points = totalPoints > 0 ? `, ${wordCount(totalPoints, 'point')} in all` : ''
  const all: Expectation[] = [
    [true, 'list-checks', wordCount(questionCount, 'question'), `One at a time, and none comes back${points}`],
    [timeLimit > 0, 'timer', wordDuration(timeLimit), 'From when you press Start'],
    [timeLimit === 0, 'timer', 'No time limit for the whole', 'A question may have one of its own'],
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

/** The questions, in the order in which they are answered. */
export const questionList = (questions: Question[]): Html => html`<ol class="questions list-decimal space-y-5 pl-6">
${questions.map(
  ({ script, audioUrl, videoUrl, responseType, timeLimit, points, sourceLanguage }) => html`<li>
${script && written(script, sourceLanguage)}
${isWebAddress(audioUrl) && html`<p><a href="${audioUrl}" rel="noreferrer">Listen to the question</a></p>`}
${isWebAddress(videoUrl) && html`<p><a href="${videoUrl}" rel="noreferrer">Watch the question</a></p>`}
<p class="facts">Answer by ${responseType}${timeLimit > 0 && `, within ${wordDuration(timeLimit)}`}${points > 0 && `, ${wordCount(points, 'point')}`}</p>
</li>
`,
)}
</ol>`

/** Only these become links: what an organization gives as the address of a medium could also be a script's. */
export const isWebAddress = (text: string): boolean => /^https?:\/\//i.test(text) && URL.canParse(text)
