import type { Context } from '../../context.ts'
import { isQuestionOpen, type SubmissionQuestion, type SubmissionSection, type Timed } from './paper.ts'

type TimedSection = Pick<SubmissionSection, 'number' | 'navigation' | 'openedAt' | 'closesAt' | 'currentNumber'>
type Numbered = Timed & Pick<SubmissionQuestion, 'number' | 'sectionNumber'>

/**
 * Position of a candidate.
 *
 * @property open the open question.
 * @property next the next question to open. Without both, the candidate is at the overview of an open section with free navigation or,
 *   without a section, at the end.
 * @property section section of the open or next question; null: none. If it isn't open yet, it is opened next.
 */
export type Position<Q, S> = { open: Q | undefined; next: Q | undefined; section: S | null }

export function findPosition<Q extends Numbered, S extends TimedSection>(
  paper: readonly Q[],
  sections: readonly S[],
  now: Date,
): Position<Q, S> {
  const sectionOf = (question: Q | undefined) => sections.find(({ number }) => number === question?.sectionNumber) ?? null
  const openQuestion = paper.find((question) => isQuestionOpen(question, now))
  const section = sectionOf(openQuestion)
  if (section?.navigation === 'free') {
    const current = paper.find((question) => question.number === section.currentNumber && isQuestionOpen(question, now))
    return { open: current, next: undefined, section }
  }
  if (openQuestion) return { open: openQuestion, next: undefined, section }
  const isOver = ({ closesAt }: TimedSection) => closesAt !== null && closesAt <= now
  const next = paper.find((question) => {
    const itsSection = sectionOf(question)
    return question.openedAt === null && !(itsSection && isOver(itsSection))
  })
  return { open: openQuestion, next, section: sectionOf(next) }
}

/** Position in a paper, with its questions. */
export async function readPosition({ db, deps, organization }: Context, submissionId: string) {
  const where = { organizationId: organization.id, submissionId }
  const select = { number: true, sectionNumber: true, openedAt: true, closesAt: true, closedAt: true }
  const paper = await db.submissionQuestion.findMany({ where, select, orderBy: { number: 'asc' } })
  return { paper, ...findPosition(paper, await readSections(db, where, paper), deps.clock()) }
}

/** The sections of a paper. Most have none. */
export const readSections = async (
  db: Context['db'],
  where: { organizationId: string; submissionId: string },
  paper: readonly Pick<SubmissionQuestion, 'sectionNumber'>[],
): Promise<SubmissionSection[]> =>
  paper.some(({ sectionNumber }) => sectionNumber !== null)
    ? db.submissionSection.findMany({ where, orderBy: { number: 'asc' } })
    : []
