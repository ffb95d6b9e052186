import { sql } from '../../../db/builder.ts'
import type { SqlBool } from '../../../db/queries.ts'
import { DEFAULT, insertFromSelect, timestamp, uuid } from '../../../db/writes.ts'
import { MAX_ANSWER_LENGTH } from '../../limits.ts'
import { checkText, findIssues } from '../../validation/checks.ts'
import { throwIfIssues } from '../../validation/throw-if-issues.ts'
import { acceptsTextAt, findOpenQuestion, isOpenAt, isPreparing } from './paper.ts'
import { refuseSession } from './refuse-session.ts'
import { type PreparedSession, refuseUnlessWritable, writableBy } from './session.ts'

/**
 * @param revision increases with each change; undefined: newer than any saved one. @param ago milliseconds since it was typed; undefined:
 *   0.
 */
export type TextAnswer = { text: string; revision?: number | undefined; ago?: number | undefined }

/**
 * Saves the text of an answer. Ignores revisions that are not newer. With a revision, which the page's script sends, it is accepted until
 * the grace period after the question's time ends, like recordings.
 *
 * @returns the saved revision. @throws DomainError session_refused: closed, also for a question that is answered by a recording; preparing,
 *   submitted, taken_over; invalid for a text beyond its limit.
 */
export async function saveText(session: PreparedSession, number: number, answer: TextAnswer): Promise<number> {
  throwIfIssues(findIssues([['text', checkText(answer.text, MAX_ANSWER_LENGTH)]]))
  const saved = await save(session, number, answer, undefined)
  if (saved !== undefined) return saved
  const kind = await findKind(session, number)
  return kind
    ? saveAnswer(session, number, { ...answer, value: kind.fromForm(readFields(answer.text)) })
    : refuseSave(session, number, answer)
}

/** Parses the form that a page's script sends for a question of a kind, encoded as in a URL. */
const readFields = (form: string): string[] => new URLSearchParams(form).getAll('answer')

/** Answer to a question of a kind. @property value in the kind's own form. */
export type KindAnswer = Omit<TextAnswer, 'text'> & { value: unknown }

/**
 * Saves an answer to a question of a kind, as {@link saveText} does for texts.
 *
 * @returns the saved revision. @throws DomainError session_refused as saveText; invalid if the value is no answer to that question.
 */
export async function saveAnswer(session: PreparedSession, number: number, { value, ...answer }: KindAnswer): Promise<number> {
  const kind = await findKind(session, number)
  if (!kind || kind.takesFiles) return refuseSession('closed')
  throwIfIssues(
    kind.isAnswer(value) ? [] : [{ field: 'answer', rule: 'malformed', text: 'The answer is none that the question takes' }],
  )
  const text = kind.describe(value)
  // Escapes in the form were not checked yet.
  throwIfIssues(findIssues([['answer', checkText(text, MAX_ANSWER_LENGTH)]]))
  return (await save(session, number, { ...answer, text }, value)) ?? refuseSave(session, number, answer)
}

/** Kind of a question and its spec; null without a kind. */
export async function findKind({ ctx, submission }: PreparedSession, number: number) {
  const where = { organizationId: ctx.organization.id, submissionId: submission.id, number }
  const select = { version: { select: { responseType: true, spec: true } } }
  const version = (await ctx.db.submissionQuestion.findFirst({ where, select }))?.version
  const kind = version && ctx.deps.kinds.get(version.responseType)
  if (!kind) return null
  const { spec, responseType } = version
  return {
    isAnswer: (answer: unknown) => kind.isAnswer(responseType, spec, answer),
    describe: (answer: unknown) => (kind.isEmpty(answer) ? '' : kind.describe(spec, answer)),
    understand: (words: string) => kind.understand(spec, words),
    makeUp: () => kind.makeUp(spec),
    fromForm: kind.fromForm,
    takesFiles: kind.files !== undefined,
  }
}

/** Why it was not saved; or the later revision that is. */
async function refuseSave(session: PreparedSession, number: number, { revision }: Pick<TextAnswer, 'revision'>): Promise<number> {
  const { ctx, submission } = session
  await refuseUnlessWritable(session)
  const question = await findOpenQuestion(session, number)
  if (question && isPreparing(question, ctx.deps.clock())) refuseSession('preparing')
  if (revision === undefined) refuseSession('closed')
  const where = {
    organizationId: ctx.organization.id,
    submissionId: submission.id,
    questionNumber: number,
    kind: 'text',
  } as const
  const later = await ctx.db.answerAttempt.findFirst({
    where: { ...where, revision: { gte: revision } },
    select: { revision: true },
  })
  return later?.revision ?? refuseSession('closed')
}

/** @param value undefined for questions without a kind. @returns the revision; undefined: it was not saved. */
async function save(
  session: PreparedSession,
  number: number,
  { text, revision, ago = 0 }: TextAnswer,
  value: unknown,
): Promise<number | undefined> {
  const { ctx, submission } = session
  const { deps } = ctx
  const now = deps.clock()
  const typedAt = new Date(Math.max(0, now.getTime() - ago))
  const knownRevision = revision ?? null
  const writable = ctx.db
    .selectFrom('submissions')
    .where('submissions.id', '=', submission.id)
    .where(writableBy(session))
    .select('submissions.id')
    .forShare()
  // Locks the submission and then the question, in the same order as closing a question.
  const questions = ctx.db
    .selectFrom('submissionQuestions')
    .where('submissionQuestions.submissionId', '=', submission.id)
    .where('submissionQuestions.number', '=', number)
    .where((eb) => (knownRevision === null ? isOpenAt : acceptsTextAt)(eb, now))
    .where((eb) => eb.or([eb('submissionQuestions.answersAt', 'is', null), eb('submissionQuestions.answersAt', '<=', now)]))
    .where('submissionQuestions.versionId', value === undefined ? 'is' : 'is not', null)
    .where((eb) =>
      eb.or([
        eb('submissionQuestions.versionId', 'is not', null),
        eb('submissionQuestions.responseType', 'not in', [...deps.kinds.recorded]),
      ]),
    )
    .where(({ exists }) => exists(writable))
    .forShare()
  const insertion = insertFromSelect(ctx.db, 'answerAttempts', questions, (eb) => ({
    id: uuid(deps.newId()),
    organizationId: eb.ref('submissionQuestions.organizationId'),
    submissionId: eb.ref('submissionQuestions.submissionId'),
    questionNumber: eb.ref('submissionQuestions.number'),
    kind: sql`'text'::answer_attempt_kind`,
    state: sql`'complete'::answer_attempt_state`,
    text: sql`${text}::text`,
    revision: sql`coalesce(${knownRevision}::integer, 1)`,
    createdAt: timestamp(now),
    completedAt: sql<Date>`greatest(${eb.ref('submissionQuestions.openedAt')}, ${typedAt}::timestamptz)`,
    mediaId: DEFAULT,
    wasInterrupted: DEFAULT,
    selectedAt: DEFAULT,
    interruptions: DEFAULT,
    restarted: DEFAULT,
    promptTiming: DEFAULT,
    value: sql`${value === undefined ? null : JSON.stringify(value)}::jsonb`,
  }))
  const insertionOrChange = insertion.onConflict((conflict) =>
    conflict
      .columns(['organizationId', 'submissionId', 'questionNumber'])
      .where('kind', '=', sql.lit('text'))
      .doUpdateSet(({ ref }) => ({
        text: ref('excluded.text'),
        value: ref('excluded.value'),
        revision: sql<number>`coalesce(${knownRevision}::integer, ${ref('answerAttempts.revision')} + 1)`,
        completedAt: ref('excluded.completedAt'),
      }))
      .where(
        ({ ref }) =>
          sql<SqlBool>`(${knownRevision}::integer is null or ${ref('answerAttempts.revision')} < ${knownRevision}::integer)`,
      ),
  )
  const saved = await insertionOrChange.returning('answerAttempts.revision').executeTakeFirst()
  return saved?.revision
}
