import { sql } from '../../../db/builder.ts'
import { own, type SqlBool, sameOwner } from '../../../db/own.ts'
import { first } from '../../../db/statements.ts'
import { byDefault, insertForEach, time, uuid } from '../../../db/writes.ts'
import { checkText, findIssues } from '../../checking/checks.ts'
import { refuse } from '../../checking/refuse.ts'
import { MAX_ANSWER_LENGTH } from '../../limits.ts'
import { openAt, openOrJustOverAt } from './paper.ts'
import { refuseSession } from './refuse-session.ts'
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
  // One statement, for which both rows are held: whoever closes them at the same time comes before it, or after it.
  const questions = own(ctx, 'paperQuestions')
    .innerJoin('submissions', (join) =>
      join.on(sameOwner('submissions', 'paperQuestions')).onRef('submissions.id', '=', 'paperQuestions.submissionId'),
    )
    .where('paperQuestions.submissionId', '=', submission.id)
    .where('paperQuestions.number', '=', number)
    .where((eb) => (given === null ? openAt : openOrJustOverAt)(eb as never, now))
    .where('paperQuestions.responseType', 'not in', ['audio', 'video'])
    .where((eb) => writableBy(session)(eb as never))
    .forShare(['submissions', 'paperQuestions'])
  const insertion = insertForEach('takes', questions, (eb) => ({
    id: uuid(deps.newId()),
    organizationId: eb.ref('paperQuestions.organizationId'),
    submissionId: eb.ref('paperQuestions.submissionId'),
    questionNumber: eb.ref('paperQuestions.number'),
    kind: sql`'text'::take_kind`,
    state: sql`'complete'::take_state`,
    text: sql`${text}::text`,
    revision: sql`coalesce(${given}::integer, 1)`,
    createdAt: time(now),
    completedAt: sql<Date>`greatest(${eb.ref('paperQuestions.openedAt')}, ${typedAt}::timestamptz)`,
    mediaId: byDefault,
    cutOff: byDefault,
    chosenAt: byDefault,
  }))
  const save = insertion.onConflict((conflict) =>
    conflict
      .columns(['submissionId', 'questionNumber'])
      .where('kind', '=', sql.lit('text'))
      .doUpdateSet(({ ref }) => ({
        text: ref('excluded.text'),
        revision: sql<number>`coalesce(${given}::integer, ${ref('takes.revision')} + 1)`,
        completedAt: ref('excluded.completedAt'),
      }))
      .where(({ ref }) => sql<SqlBool>`(${given}::integer is null or ${ref('takes.revision')} < ${given}::integer)`),
  )
  const saved = await first(db, save.returning('takes.revision'))
  if (saved) return saved.revision
  await refuseUnlessWritable(session)
  if (given === null) refuseSession('closed')
  const where = { organizationId: organization.id, submissionId: submission.id, questionNumber: number, kind: 'text' } as const
  const later = await db.take.findFirst({ where: { ...where, revision: { gte: given } }, select: { revision: true } })
  return later?.revision ?? refuseSession('closed')
}
