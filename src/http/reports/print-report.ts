import type { PrintedFact, PrintedQuestion, PrintedReport } from '../../domain/ports/printed-report.ts'
import type { ReportedQuestion, ResultReport } from '../../domain/submissions/grading/result-report.ts'
import { timeInWords } from '../../domain/time/format-time.ts'
import { promptInWords, wordCount } from '../pages/candidate-view.ts'

/** What a report says, for all its forms. */
export function printReport(report: ResultReport): PrintedReport {
  const { organization, assessment, candidate, result, message, questions } = report
  return {
    title: `Result of ${candidate.name ?? candidate.email}`,
    author: organization,
    facts: factsOf(report),
    message,
    questions: questions.map(printQuestion),
    closing: `${organization}, ${assessment}: version ${result.version} of the result, released ${timeInWords(result.releasedAt)}.`,
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
    ['Accepted', wordTime(times.acceptedAt)],
    ['Started', wordTime(times.startedAt)],
    ['Submitted', wordTime(times.submittedAt)],
    ['Released', wordTime(releasedAt)],
  ]
  return facts.flatMap(([label, text]) => (text ? [{ label, text }] : []))
}

const wordTime = (time: Date | null): string | null => time && timeInWords(time)

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
  points: ofPoints === 0 || points === null ? 'No points' : `${points} of ${wordCount(ofPoints, 'point')}`,
  script: promptInWords({ script, scriptFormat }),
  language,
  comment,
})
