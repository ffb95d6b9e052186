import type { PrintedFact, PrintedQuestion, PrintedReport } from '../../domain/ports/printed-report.ts'
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

function factsOf({ organization, assessment, candidate, result, ...times }: ResultReport): PrintedFact[] {
  const { points, ofPoints, percent, releasedAt } = result
  const facts: [label: string, text: string | null][] = [
    ['Organization', organization],
    ['Assessment', assessment],
    ['Candidate', candidate.name],
    ['Address', candidate.email],
    ['Points', ofPoints === 0 ? 'None of the questions gives points' : `${points} of ${ofPoints}`],
    ['Percent', percent === null ? null : `${percent} %`],
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
}: ReportedQuestion): PrintedQuestion => ({
  heading: `Question ${number}`,
  points: ofPoints === 0 || points === null ? 'No points' : `${points} of ${formatCount(ofPoints, 'point')}`,
  script: plainQuestionText({ script, scriptFormat }),
  language,
  comment,
})
