import { isDeepStrictEqual } from 'node:util'
import type { Prisma } from '../../../generated/prisma/client.ts'
import { KEY_EFFECTS, type KeyEffect, type NewestKey, readNewestKey } from '../../assessments/answer-keys.ts'
import { lockVersion } from '../../assessments/question-versions.ts'
import { recordAudit } from '../../audit/record-audit.ts'
import type { Context } from '../../context.ts'
import { DomainError, type Issue } from '../../errors.ts'
import { renewHashes } from '../../library/renew-hashes.ts'
import { MAX_COMMENT_LENGTH } from '../../limits.ts'
import { isUuid } from '../../text/uuid.ts'
import { inTransaction } from '../../transaction.ts'
import { checkChoice, checkName, findIssues } from '../../validation/checks.ts'
import { throwIfIssues } from '../../validation/throw-if-issues.ts'
import { authorizeCorrections } from './authorize-corrections.ts'
import { type CorrectionCounts, NO_COUNTS } from './rescore.ts'

// Correcting a key adds a new one. Submitted answers are scored by the new key; earlier scores stay in their history.

/** Effect on released results: `raise` changes only those that get more points. */
export const RELEASES = ['raise', 'all'] as const
export type ReleaseHandling = (typeof RELEASES)[number]

/** @property key the new key; ignored with the effects `full` and `none`. */
export type AnswerKeyChange = { effect: KeyEffect; key: unknown; reason: string }

/** Progress of a correction, and its results so far. */
export type CorrectionProgress = {
  /** The paper that was done last. */
  after: string | null
  papers: number
  done: number
  counts: Record<'live' | 'test', CorrectionCounts>
  /** Number of results that were released again. */
  releasedAnew: number
}

export type CorrectableVersion = {
  versionId: string
  responseType: string
  spec: unknown
  replacesId: string | null
  newest: NewestKey
  /** Text of the question, if known. */
  script: string
  scriptFormat: string
  /** The keys, the newest first. */
  keys: CorrectedKey[]
}

const prompt = { script: true, scriptFormat: true } as const
const byWhom = { user: { select: { firstName: true, lastName: true, email: true } } } as const
export type CorrectedKey = Prisma.AnswerKeyGetPayload<{ include: { createdBy: { select: typeof byWhom } } }>

export const isRunning = ({ number, appliedAt }: Pick<CorrectedKey, 'number' | 'appliedAt'>): boolean =>
  number > 1 && appliedAt === null

/** A version that somebody was asked, with its keys. @throws DomainError not_permitted; question_not_found. */
export async function getCorrectable(ctx: Context, versionId: string): Promise<CorrectableVersion> {
  authorizeCorrections(ctx)
  const { db, organization } = ctx
  const organizationId = organization.id
  const version = isUuid(versionId)
    ? await db.questionVersion.findFirst({ where: { organizationId, id: versionId, lockedAt: { not: null } } })
    : null
  if (!version) throw new DomainError('question_not_found')
  const where = { organizationId, versionId }
  const [newest, keys, question, askedQuestion] = await Promise.all([
    readNewestKey(ctx, versionId),
    db.answerKey.findMany({ where, include: { createdBy: { select: byWhom } }, orderBy: { number: 'desc' } }),
    db.question.findFirst({ where, select: prompt, orderBy: { id: 'asc' } }),
    db.submissionQuestion.findFirst({ where, select: prompt, orderBy: { submissionId: 'desc' } }),
  ])
  const { responseType, spec, replacesId } = version
  const { script, scriptFormat } = askedQuestion ?? question ?? { script: '', scriptFormat: 'plain' }
  return { versionId, responseType, spec, replacesId, newest, script, scriptFormat, keys }
}

/** @throws DomainError invalid: no reason; an invalid key; an unchanged key; another correction in progress. */
export function checkChange(
  ctx: Context,
  { responseType, spec, newest, keys }: CorrectableVersion,
  { effect, key, reason }: AnswerKeyChange,
): void {
  const kind = ctx.deps.kinds.get(responseType)
  const faults = kind?.faults(responseType, spec, key) ?? [{ field: 'key', text: 'There is no such kind of question any more.' }]
  const isSame = effect === newest.effect && (effect !== 'key' || isDeepStrictEqual(key, newest.key))
  throwIfIssues([
    ...faults.map(({ field, text }): Issue => createIssue(field, text)),
    ...findIssues([
      ['effect', checkChoice(effect, KEY_EFFECTS)],
      ['reason', checkName(reason, MAX_COMMENT_LENGTH)],
    ]),
    ...(faults.length === 0 && isSame ? [createIssue('effect', 'This is the key that it has: nothing would change.')] : []),
    ...(keys[0] && isRunning(keys[0]) ? [createIssue('effect', 'The last correction is not done yet.')] : []),
  ])
}

const createIssue = (field: string, text: string): Issue => ({ field, rule: 'malformed', text })

/**
 * Corrects a version's key in all assessments that use it. A job rescores submitted answers.
 *
 * @param seen number of the newest key at the preview. @throws DomainError not_permitted; question_not_found; invalid, also if the key was
 *   corrected since.
 */
export async function correctKey(
  ctx: Context,
  versionId: string,
  { releases, seen: seenNumber, ...change }: AnswerKeyChange & { releases: ReleaseHandling; seen: number },
): Promise<void> {
  await inTransaction(ctx, async (inside) => {
    const { db, deps, organization, actor } = inside
    authorizeCorrections(inside)
    if (actor.kind !== 'member') throw new DomainError('not_permitted')
    if (isUuid(versionId)) await lockVersion(inside, versionId)
    const version = await getCorrectable(inside, versionId)
    checkChange(inside, version, change)
    throwIfIssues(findIssues([['releases', checkChoice(releases, RELEASES)]]))
    throwIfIssues(
      seenNumber === version.newest.number
        ? []
        : [createIssue('effect', 'Somebody has corrected the key since: look at it again.')],
    )
    const versionRef = { organizationId: organization.id, versionId }
    const papers = await db.submissionQuestion
      .groupBy({ by: ['submissionId'], where: versionRef })
      .then((groups) => groups.length)
    const counts = { live: NO_COUNTS, test: NO_COUNTS }
    const progress: CorrectionProgress = { after: null, papers, done: 0, counts, releasedAnew: 0 }
    const { effect, reason } = change
    const number = version.newest.number + 1
    const key = change.key as Prisma.InputJsonValue
    const creation = { createdById: actor.id, createdAt: deps.clock() }
    await db.answerKey.create({ data: { ...versionRef, number, key, effect, reason, releases, progress, ...creation } })
    await renewHashes(inside, versionId)
    await deps.queue.enqueueAnswerKeyCorrection(db, { ...versionRef, number })
    const target = { kind: 'question_version', id: versionId } as const
    await recordAudit(inside, { action: 'corrected_key', target, details: { number, effect, reason, releases } })
  })
}

/** Restarts a correction whose job has failed too often. @throws DomainError as getCorrectable. */
export async function resumeCorrection(ctx: Context, versionId: string): Promise<void> {
  const { keys } = await getCorrectable(ctx, versionId)
  const [newest] = keys
  if (!newest || !isRunning(newest)) return
  const { db, deps, organization } = ctx
  await deps.queue.enqueueAnswerKeyCorrection(db, { organizationId: organization.id, versionId, number: newest.number })
}
