import { type Html, html } from '../../html/html.ts'

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

/** How many questions there are, and how much time for all of them: rows for a list of facts. */
export const expectations = (assessment: {
  questionCount: number
  totalPoints: number
  timeLimit: number
}): Html => html`<dt>Questions</dt><dd>${assessment.questionCount}${assessment.totalPoints > 0 && ` (${wordCount(assessment.totalPoints, 'point')} in all)`}</dd>
<dt>Time limit</dt><dd>${assessment.timeLimit > 0 ? wordDuration(assessment.timeLimit) : 'none for the whole'}</dd>
`

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
