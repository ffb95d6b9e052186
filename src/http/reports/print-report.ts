import type { PrintedFact, PrintedQuestion, PrintedReport } from '../../domain/ports/printed-report.ts'
import { formatPosition } from '../../domain/submissions/grading/format-note.ts'
import type { ReportedQuestion, ResultReport } from '../../domain/submissions/grading/result-report.ts'
import { type CandidateTexts, shippedLanguages } from '../../locales/languages.ts'
import { directionOf } from '../../locales/texts.ts'
import { plainQuestionText } from '../pages/candidate-view.ts'

/** Texts of a report for HTML and PDF. */
export function printReport(report: ResultReport): PrintedReport {
  const t = shippedLanguages.candidate(report.language, report.timeZone)
  const { organization, assessment, candidate, result, message, questions } = report
  const { version, releasedAt } = result
  return {
    language: t.language,
    title: t.text('report.title', { name: isolate(candidate.name ?? candidate.email, t) }),
    author: organization,
    facts: factsOf(report, t),
    message,
    questions: questions.map((question) => printQuestion(question, t)),
    closing: t.text('report.closing', {
      ...{ organization: isolate(organization, t), assessment: isolate(assessment, t), version },
      time: t.time(releasedAt),
    }),
    labels: {
      message: t.text('report.message'),
      questions: t.text('report.questions'),
      comment: t.text('report.comment'),
      page: t.text('report.page', { page: '{page}', pages: '{pages}' }),
      shortened: t.text('report.shortened'),
    },
  }
}

function factsOf(
  { organization, assessment, candidate, result, decision, ...times }: ResultReport,
  t: CandidateTexts,
): PrintedFact[] {
  const { points, ofPoints, percent, releasedAt, band, knockedOut } = result
  const time = (moment: Date | null) => moment && t.time(moment)
  const facts: [label: string, text: string | null][] = [
    [t.text('report.organization'), organization],
    [t.text('report.assessment'), assessment],
    [t.text('report.candidate'), candidate.name],
    [t.text('report.address'), candidate.email],
    [t.text('report.points'), ofPoints === 0 ? t.text('report.points.none') : t.text('report.points.of', { points, ofPoints })],
    [t.text('report.percent'), percent === null ? null : t.text('result.percent', { percent })],
    [t.text('report.band'), band],
    // Candidates' reports lack these three, so they are in English.
    ['Knocked out', knockedOut.length === 0 ? null : `by question ${knockedOut.join(', ')}`],
    ['Decision', decision && `${decision.name}, ${t.time(decision.decidedAt)}`],
    ['Note', decision?.note ?? null],
    [t.text('report.accepted'), time(times.acceptedAt)],
    [t.text('report.started'), time(times.startedAt)],
    [t.text('report.submitted'), time(times.submittedAt)],
    [t.text('report.released'), time(releasedAt)],
  ]
  return facts.flatMap(([label, text]) => (text ? [{ label, text }] : []))
}

const printQuestion = (
  { number, script, scriptFormat, language, points, ofPoints, comment, notes, decidedBy, rubric }: ReportedQuestion,
  t: CandidateTexts,
): PrintedQuestion => ({
  heading: t.text('result.question', { number }),
  points:
    ofPoints === 0 || points === null
      ? t.text('report.question.none')
      : `${t.text('result.points', { points, ofPoints })}${formatDecision(decidedBy)}`,
  rubric: rubric.map((criterion) => formatCriterion(criterion, t)),
  script: plainQuestionText({ script, scriptFormat }),
  language,
  comment,
  notes: notes.map((note) => formatNote(note, t)),
})

const DECISIONS = {
  two_graders: ', the mean of two graders',
  admin: ', decided by an admin because two graders differed',
  third_grader: ', decided by a third grader because two graders differed',
}

/** Words for the source of the points; empty with one grader. */
export const formatDecision = (decidedBy: ReportedQuestion['decidedBy']): string => (decidedBy ? DECISIONS[decidedBy] : '')

/** Texts of the portal's own reports and pages. */
export const english = (): CandidateTexts => shippedLanguages.candidate('en', 'UTC')

/** "Accuracy: complete and correct, 3 of 3". */
export function formatCriterion(
  { level, points, ofPoints, ...words }: ReportedQuestion['rubric'][number],
  t: CandidateTexts,
): string {
  const criterion = isolate(words.criterion, t)
  if (level === null || points === null) return t.text('report.criterion.none', { criterion })
  const chosen = isolate(words.text, t) || t.text('report.level', { level })
  return t.text('report.criterion', { criterion, level: chosen, points, ofPoints })
}

/** "0:18 Omission, 1 point off: the date is missing", as `formatNote` of the domain in English. */
function formatNote({ startMs, endMs, pointsOff, ...words }: ReportedQuestion['notes'][number], t: CandidateTexts): string {
  const [category, text] = [isolate(words.category, t), isolate(words.text, t)]
  const from = formatPosition(startMs)
  const moment = endMs === null ? from : t.text('report.note.range', { from, to: formatPosition(endMs) })
  const points = pointsOff === null ? '' : t.text('report.note.points', { points: pointsOff })
  const kind = category && points ? t.text('report.note.kind', { category, points }) : category || points
  return `${moment} ${kind && text ? t.text('report.note.text', { kind, text }) : kind || text}`
}

const [FIRST_STRONG_ISOLATE, POP_ISOLATE] = ['\u2068', '\u2069']

/** Isolates text by users, which may be in another script, so that it does not reorder a right-to-left sentence. */
const isolate = (text: string, { language }: CandidateTexts): string =>
  text && directionOf(language) === 'rtl' ? `${FIRST_STRONG_ISOLATE}${text}${POP_ISOLATE}` : text
