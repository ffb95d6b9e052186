import type { Prisma } from '../../../generated/prisma/client.ts'
import type { Context, ServiceContext } from '../../context.ts'
import { MAX_FILE_BYTES, MAX_FILE_NAME_LENGTH, MAX_FILE_UPLOADS, MAX_PARTS } from '../../limits.ts'
import type { FileLimits } from '../../ports/question-kind.ts'
import { inTransaction } from '../../transaction.ts'
import { checkText, findIssues } from '../../validation/checks.ts'
import { throwIfIssues } from '../../validation/throw-if-issues.ts'
import { type MediaFile, toNewMediaRow } from '../media/media.ts'
import { lockRecording, recordFiles } from '../media/settle-recordings.ts'
import { attemptOnce } from '../taking/attempt-once.ts'
import { isPreparing, isQuestionOpen } from '../taking/paper.ts'
import { refuseSession } from '../taking/refuse-session.ts'
import { refuseWithoutSpace } from '../taking/refuse-without-space.ts'
import { lockSubmission, type PreparedSession, requireInProgress } from '../taking/session.ts'
import { lockQuestion } from './lock-question.ts'

// Files as answers. They are uploaded in parts, like recordings, and all files of a question are one answer.

/** @property name on the candidate's device. @property parts number of parts that it is sent in. */
export type NewFile = { name: string; bytes: number; parts: number }

type QuestionRef = { organizationId: string; submissionId: string; number: number }

/** @returns null for a question that takes no files. */
export async function findFileLimits({ db, deps }: ServiceContext, ref: QuestionRef): Promise<FileLimits | null> {
  const select = { version: { select: { responseType: true, spec: true } } }
  const version = (await db.submissionQuestion.findFirst({ where: ref, select }))?.version
  return (version && deps.kinds.get(version.responseType)?.files?.(version.spec)) ?? null
}

/**
 * Starts the upload of a file. It is part of the answer once all its parts have arrived.
 *
 * @throws DomainError session_refused: closed (the question is not open, or takes no files), preparing, submitted, taken_over, too_many,
 *   too_big, quota; invalid for a name that can't be stored; as {@link attemptOnce}.
 */
export async function beginFile(session: PreparedSession, number: number, file: NewFile): Promise<{ mediaId: string }> {
  requireInProgress(session)
  if (file.bytes > MAX_FILE_BYTES) refuseSession('too_big')
  const fileName = cleanName(file.name)
  throwIfIssues(findIssues([['name', checkText(fileName, MAX_FILE_NAME_LENGTH)]]))
  return attemptOnce(session, `file ${number} ${file.bytes} ${fileName}`, async (inside) => {
    await refuseWithoutSpace(inside)
    await lockSubmission({ ...session, ctx: inside })
    const question = await lockQuestion(inside, session.submission.id, number)
    const ref = { organizationId: inside.organization.id, submissionId: session.submission.id, number }
    const limits = await findFileLimits(inside, ref)
    if (!question || !limits || !isQuestionOpen(question, inside.deps.clock())) return refuseSession('closed')
    if (isPreparing(question, inside.deps.clock())) refuseSession('preparing')
    const attemptId = await findOrCreateAnswer(inside, ref)
    const files = { organizationId: ref.organizationId, attemptId }
    const storedFiles = await inside.db.mediaFile.count({ where: { ...files, state: { not: 'deleted' } } })
    const uploads = await inside.db.mediaFile.count({ where: files })
    if (storedFiles >= limits.maxFiles || uploads >= MAX_FILE_UPLOADS) refuseSession('too_many')
    const media = { ...toNewMediaRow(inside, ref.submissionId, 'answer'), attemptId, fileName, declaredParts: [file.parts] }
    await inside.db.mediaFile.create({ data: media })
    return { mediaId: media.id }
  })
}

/** Names are shown and stored as text. Control characters would break lines of lists, or turn the direction of writing around. */
function cleanName(name: string): string {
  const printable = name
    .normalize('NFC')
    .replace(/[\u202a-\u202e\u2066-\u2069]/g, '')
    .replace(/\p{Cc}+/gu, ' ')
    .trim()
  return [...printable].slice(0, MAX_FILE_NAME_LENGTH).join('') || 'file'
}

/** The question is locked: one request creates it. */
async function findOrCreateAnswer({ db, deps }: Context, { number, ...questionKey }: QuestionRef): Promise<string> {
  const answerKey = { ...questionKey, questionNumber: number, kind: 'text' } as const
  const answer = await db.answerAttempt.findFirst({ where: answerKey, select: { id: true } })
  if (answer) return answer.id
  const created = {
    ...answerKey,
    id: deps.newId(),
    state: 'complete',
    value: [] as Prisma.InputJsonValue,
    createdAt: deps.clock(),
  } as const
  await db.answerAttempt.create({ data: created })
  return created.id
}

/** Takes a file out of the answer. @throws DomainError session_refused: closed if the question is not open. */
export async function removeFile({ ctx }: PreparedSession, { id, attemptId }: MediaFile): Promise<void> {
  await inTransaction(ctx, async (inside) => {
    const { db, deps, organization } = inside
    await lockRecording(inside, id)
    const where = { organizationId: organization.id, attempts: { some: { organizationId: organization.id, id: attemptId! } } }
    const question = await db.submissionQuestion.findFirst({ where })
    if (!question || !isQuestionOpen(question, deps.clock())) refuseSession('closed')
    const data = { state: 'deleted', deletedAt: deps.clock() } as const
    await db.mediaFile.updateMany({ where: { organizationId: organization.id, id, state: { not: 'deleted' } }, data })
    await recordFiles(inside, attemptId!)
  })
}

/** Parts of the largest file, at the smallest size that is worth a request. */
export const MAX_FILE_PARTS = Math.min(MAX_PARTS, Math.ceil(MAX_FILE_BYTES / 100_000))
