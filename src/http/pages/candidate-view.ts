import { withoutPictures } from '../../domain/assets/references.ts'
import { type Html, html } from '../../html/html.ts'
import type { CandidateTexts } from '../../locales/languages.ts'
import { type IconName, icon } from './icon.ts'
import { fromMarkdown, markdownToText } from './markdown.ts'
import { type Pictures, renderWithPictures } from './pictures.ts'

// Shared by the candidate's pages and the portal's previews.

/** "20 minutes", "1 minute 30 seconds". */
export const formatDuration = (seconds: number): string =>
  [formatCount(Math.floor(seconds / 60), 'minute'), formatCount(seconds % 60, 'second')]
    .filter((part) => !part.startsWith('0 '))
    .join(' ')

export const formatCount = (number: number, noun: string): string => `${number} ${noun}${number === 1 ? '' : 's'}`

/**
 * @property timeLimit seconds for the assessment. @property timed number of questions with a time limit. @property timedSeconds sum of their
 *   limits and preparation times. @property prepared number of questions with a preparation time. @property sectionSeconds sum of the sections'
 *   limits. @property goesBack true if candidates go back and forth in some section.
 */
type AssessmentFacts = {
  questions: number
  totalPoints: number
  timeLimit: number
  timed: number
  timedSeconds: number
  prepared: number
  sections: number
  timedSections: number
  sectionSeconds: number
  goesBack: boolean
}
export type Expectation = [isShown: boolean, IconName, title: string, meaning: string]

/** Facts about an assessment for candidates. @param further requirements of the invite. */
export function expectations(t: CandidateTexts, assessed: AssessmentFacts, further: Expectation[] = []): Html {
  const expected: Expectation[] = [
    [true, 'list-checks', t.text('expect.questions', { count: assessed.questions }), labelOrder(t, assessed)],
    [true, 'timer', ...labelTime(t, assessed)],
    [assessed.sections > 1, 'layers', t.text('expect.sections', { count: assessed.sections }), labelSections(t, assessed)],
    [
      assessed.prepared > 0,
      'hourglass',
      t.text('expect.preparation'),
      t.text('expect.preparation.meaning', { count: assessed.prepared }),
    ],
    ...further,
  ]
  return html`<ul class="mt-6 grid gap-3 sm:grid-cols-2">
${expected.map(
  ([isShown, name, title, meaning]) =>
    isShown &&
    html`<li class="panel flex items-start gap-3 p-4"><span class="text-primary">${icon(name, 'size-5')}</span><div><strong class="font-medium">${title}</strong><p class="quiet text-sm">${meaning}</p></div></li>\n`,
)}</ul>`
}

function labelOrder(t: CandidateTexts, { questions, totalPoints: points, goesBack }: AssessmentFacts): string {
  if (questions > 1 && goesBack) return points > 0 ? t.text('expect.order.free.points', { points }) : t.text('expect.order.free')
  if (questions > 1) return points > 0 ? t.text('expect.order.points', { points }) : t.text('expect.order')
  return points > 0 ? t.text('expect.points', { points }) : ''
}

const labelSections = (t: CandidateTexts, { timedSections: count, sectionSeconds }: AssessmentFacts): string =>
  count > 0 ? t.text('expect.sections.timed', { count, time: t.duration(sectionSeconds) }) : ''

function labelTime(
  t: CandidateTexts,
  { questions, timeLimit, timed, timedSeconds, ...assessed }: AssessmentFacts,
): [title: string, meaning: string] {
  const time = t.duration(timedSeconds)
  if (timeLimit > 0) {
    const meaning = timed > 0 ? t.text('expect.limit.questions', { count: timed }) : t.text('expect.limit.meaning')
    return [t.duration(timeLimit), meaning]
  }
  if (timed === 0 && assessed.timedSections > 0)
    return [
      t.text('expect.unlimited'),
      assessed.sections > 1 ? '' : t.text('expect.sections.timed', { count: 1, time: t.duration(assessed.sectionSeconds) }),
    ]
  if (timed === 0) return [t.text('expect.untimed'), t.text('expect.untimed.meaning')]
  if (timed === questions) return [t.text('expect.limit.total', { time }), t.text('expect.limit.each', { count: timed })]
  return [t.text('expect.unlimited'), t.text('expect.unlimited.questions', { count: timed, time })]
}

/** Text of a user with its direction and language. @param language code; null if unknown. */
export const userText = (text: string, language: string | null = null): Html =>
  html`<p class="script" lang="${language ?? ''}" dir="auto">${text}</p>`

/** Text of a question, rendered by its format. @param language code; null if unknown. */
export const questionText = (
  { script, scriptFormat }: { script: string; scriptFormat: string },
  language: string | null,
  pictures: Pictures,
): Html =>
  scriptFormat === 'markdown'
    ? fromMarkdown(script, language, pictures)
    : html`<p class="script" lang="${language ?? ''}" dir="auto">${renderWithPictures(script, pictures)}</p>`

/** Plain text of a question. Pictures become their alternative texts. */
export const plainQuestionText = ({ script, scriptFormat }: { script: string; scriptFormat: string }): string =>
  scriptFormat === 'markdown' ? markdownToText(script) : withoutPictures(script)

/** Only these addresses become links: an organization could enter `javascript:`. */
export const isWebAddress = (text: string): boolean => /^https?:\/\//i.test(text) && URL.canParse(text)
