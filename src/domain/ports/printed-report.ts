/** A report on a result as it is read, in English but for what people have written. */
export type PrintedReport = {
  title: string
  /** The organization whose report it is. */
  author: string
  facts: PrintedFact[]
  /** To the candidate; empty where there is none. */
  message: string
  questions: PrintedQuestion[]
  /** The last line of it. */
  closing: string
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
  /** Empty where there is none. */
  comment: string
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
