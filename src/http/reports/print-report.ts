import type { PrintedFact, PrintedQuestion, PrintedReport } from '../../domain/ports/printed-report.ts'
import { formatNote } from '../../domain/submissions/grading/format-note.ts'
import type { ReportedQuestion, ResultReport } from '../../domain/submissions/grading/result-report.ts'
import { formatTime } from '../../domain/time/format-time.ts'
import { formatCount, plainQuestionText } from '../pages/candidate-view.ts'

/** Texts of a report for HTML and PDF. */
export function printReport(report: ResultReport): PrintedReport {
  const { organization, assessment, candidate, result, message, questions } = report
  return {
    title: `Result of ${candidate.name ?? candidate.email}`,
    author: organization,
    facts: factsOf(report),
    message,
    questions: questions.map(printQuestion),
    closing: `${organization}, ${assessment}: version ${result.version} of the result, released ${formatTime(result.releasedAt)}.`,
  }
}

function factsOf({ organization, assessment, candidate, result, decision, ...times }: ResultReport): PrintedFact[] {
  const { points, ofPoints, percent, releasedAt, band, knockedOut } = result
  const facts: [label: string, text: string | null][] = [
    ['Organization', organization],
    ['Assessment', assessment],
    ['Candidate', candidate.name],
    ['Address', candidate.email],
    ['Points', ofPoints === 0 ? 'None of the questions gives points' : `${points} of ${ofPoints}`],
    ['Percent', percent === null ? null : `${percent} %`],
    ['Band', band],
    ['Knocked out', knockedOut.length === 0 ? null : `by question ${knockedOut.join(', ')}`],
    ['Decision', decision && `${decision.name}, ${formatTime(decision.decidedAt)}`],
    ['Note', decision?.note ?? null],
    ['Accepted', formatTimeOrNull(times.acceptedAt)],
    ['Started', formatTimeOrNull(times.startedAt)],
    ['Submitted', formatTimeOrNull(times.submittedAt)],
    ['Released', formatTimeOrNull(releasedAt)],
  ]
  return facts.flatMap(([label, text]) => (text ? [{ label, text }] : []))
}

const formatTimeOrNull = (time: Date | null): string | null => time && formatTime(time)

const printQuestion = ({
  number,
  script,
  scriptFormat,
  language,
  points,
  ofPoints,
  comment,
  notes,
  decidedBy,
  rubric,
}: ReportedQuestion): PrintedQuestion => ({
  heading: `Question ${number}`,
  points:
    ofPoints === 0 || points === null
      ? 'No points'
      : `${points} of ${formatCount(ofPoints, 'point')}${formatDecision(decidedBy)}`,
  rubric: rubric.map(formatCriterion),
  script: plainQuestionText({ script, scriptFormat }),
  language,
  comment: [comment, ...notes.map(formatNote)].filter((text) => text !== '').join('\n'),
})

const DECISIONS = {
  two_graders: ', the mean of two graders',
  admin: ', decided by an admin because two graders differed',
  third_grader: ', decided by a third grader because two graders differed',
}

/** Words for the source of the points; empty with one grader. */
export const formatDecision = (decidedBy: ReportedQuestion['decidedBy']): string => (decidedBy ? DECISIONS[decidedBy] : '')

/** "Accuracy: complete and correct, 3 of 3". */
export const formatCriterion = ({ criterion, level, text, points, ofPoints }: ReportedQuestion['rubric'][number]): string =>
  `${criterion}: ${level === null ? 'no level' : `${text || `level ${level}`}, ${points} of ${ofPoints}`}`
