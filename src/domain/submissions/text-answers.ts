import { checkText, findIssues } from '../checks.ts'
import { MAX_ANSWER_LENGTH } from '../limits.ts'
import { refuse } from '../refuse.ts'
import { openAt, openOrJustOverAt } from './paper.ts'
import { refuseSession } from './refusals.ts'
import { type PreparedSession, refuseUnlessWritable, writableBy } from './session.ts'

/**
 * @param revision rises with each change; undefined: this is the latest, whatever was saved before.
 * @param ago how many milliseconds before now it was typed; undefined: just now.
 */
export type TextAnswer = { text: string; revision?: number | undefined; ago?: number | undefined }

/**
 * Saves the text of an answer; a revision that comes after a later one, or once more, changes nothing. With a revision, which the page's
 * script gives, it is taken for a while after the end of the question's time, as recordings are.
 *
 * @returns the revision that is saved now.
 * @throws DomainError session_refused: closed, also for a question that is answered by a recording; submitted, taken_over; invalid for a
 *   text beyond its limit.
 */
export async function saveText(
  session: PreparedSession,
  number: number,
  { text, revision, ago = 0 }: TextAnswer,
): Promise<number> {
  const { ctx, submission } = session
  const { db, deps, organization } = ctx
  refuse(findIssues([['text', checkText(text, MAX_ANSWER_LENGTH)]]))
  const now = deps.clock()
  const typedAt = new Date(Math.max(0, now.getTime() - ago))
  const given = revision ?? null
  const isTaken = given === null ? openAt(now) : openOrJustOverAt(now)
  // One statement, for which both rows are held: whoever closes them at the same time comes before it, or after it.
  const [saved] = await db.$queryRaw<{ revision: number }[]>`
    INSERT INTO takes (
      id, organization_id, submission_id, question_number, kind, state, text, revision, created_at, completed_at
    )
    SELECT ${deps.newId()}::uuid, p.organization_id, p.submission_id, p.number, 'text', 'complete', ${text},
      COALESCE(${given}::integer, 1), ${now}, GREATEST(p.opened_at, ${typedAt}::timestamptz)
    FROM paper_questions p JOIN submissions s ON s.organization_id = p.organization_id AND s.id = p.submission_id
    WHERE p.organization_id = ${organization.id}::uuid AND p.submission_id = ${submission.id}::uuid AND p.number = ${number}
      AND ${isTaken} AND p.response_type NOT IN ('audio', 'video') AND ${writableBy(session)}
    FOR SHARE OF s, p
    ON CONFLICT (submission_id, question_number) WHERE kind = 'text' DO UPDATE SET
      text = excluded.text, revision = COALESCE(${given}::integer, takes.revision + 1), completed_at = excluded.completed_at
    WHERE ${given}::integer IS NULL OR takes.revision < ${given}::integer
    RETURNING revision`
  if (saved) return saved.revision
  await refuseUnlessWritable(session)
  if (given === null) refuseSession('closed')
  const where = { organizationId: organization.id, submissionId: submission.id, questionNumber: number, kind: 'text' } as const
  const later = await db.take.findFirst({ where: { ...where, revision: { gte: given } }, select: { revision: true } })
  return later?.revision ?? refuseSession('closed')
}
