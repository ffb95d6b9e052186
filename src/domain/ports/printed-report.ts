/** Texts of a report on a result. What people wrote in it stays in their languages. */
export type PrintedReport = {
  /** Language of the report's own texts. */
  language: string
  title: string
  /** The organization whose report it is. */
  author: string
  facts: PrintedFact[]
  /** Message to the candidate; empty if there is none. */
  message: string
  questions: PrintedQuestion[]
  /** The last line of it. */
  closing: string
  labels: ReportLabels
}
/** Headings and notices. */
type ReportLabels = {
  message: string
  questions: string
  comment: string
  /** "Page {page} of {pages}", filled when the pages are counted. */
  page: string
  /** Added to the closing if long texts are shortened. */
  shortened: string
}
export type PrintedFact = { label: string; text: string }
export type PrintedQuestion = {
  heading: string
  points: string
  /** Chosen levels of the rubric. */
  rubric: string[]
  /** Text of the question; empty if it was spoken. */
  script: string
  /** Its language, a code; null: not known. */
  language: string | null
  /** Empty if there is none. */
  comment: string
  /** On moments of the recorded answer. */
  notes: string[]
}

/**
 * Typesets a report as PDF. A fair queue limits how many run at once.
 *
 * @param request.queueKey reports with the same key wait for each other. @throws DomainError too_many_reports.
 */
export type TypesetReport = (
  report: PrintedReport,
  request: { queueKey: string; signal?: AbortSignal | undefined },
) => Promise<Uint8Array>
