import { hash } from 'node:crypto'
import { sql } from '../../../db/builder.ts'
import { violatedConstraint } from '../../../db/errors.ts'
import { prepareScoped, type SqlBool, sameOrganization } from '../../../db/queries.ts'
import { prepare } from '../../../db/statements.ts'
import { tenantDb } from '../../../db/tenant-db.ts'
import { unscoped } from '../../../db/unscoped.ts'
import { insertFromSelect, timestamp, uuid } from '../../../db/writes.ts'
import type { MediaState, SubmissionState } from '../../../generated/prisma/client.ts'
import type { ServiceContext } from '../../context.ts'
import { partOf } from '../../files/media-keys.ts'
import { type Container, containerOf, FILE_CONTENT_TYPES, fileTypeOf } from '../../files/type-of-content.ts'
import {
  MAX_ATTEMPT_BYTES,
  MAX_FILE_BYTES,
  MAX_PART_BYTES,
  MAX_SMALL_PARTS,
  MAX_SUBMISSION_BYTES,
  SMALL_PART_BYTES,
  UPLOAD_GRACE_SECONDS,
} from '../../limits.ts'
import type { InvitationRef } from '../../secrets/invitation-tokens.ts'
import { isUuid } from '../../text/uuid.ts'
import { refuseSession } from '../taking/refuse-session.ts'
import { isSubmitted } from '../taking/session.ts'
import { findFileLimits } from './answer-files.ts'

export type PartRef = { mediaId: string; segment: number; number: number }
/** A slice of a recording, as a candidate's browser sends it. */
export type RecordingPart = PartRef & { content: Buffer }

/** Columns that decide if a part is accepted. */
type Target = {
  organizationId: string
  submissionId: string
  submissionState: SubmissionState
  isWithdrawn: boolean
  tab: string | null
  submissionBytes: string
  key: string
  kind: string
  state: MediaState
  contentType: string
  bytes: string
  endsAt: Date | null
  sha256: Uint8Array | null
  /** Number of photos, for a small one. */
  parts: number
  /** Number of the answered question; null for screen and webcam. */
  questionNumber: number | null
  /** Null for a recording. */
  fileName: string | null
}

/**
 * Checks a part before its content is read.
 *
 * @param bytes of its content, by the request's header.
 * @returns the owner.
 * @throws DomainError session_refused as {@link putPart}, except for the content.
 */
export async function checkPart(
  service: ServiceContext,
  ref: InvitationRef,
  tab: string | undefined,
  { bytes, ...part }: PartRef & { bytes: number },
): Promise<{ organizationId: string }> {
  const target = await findOwnTarget(service, ref, tab, part, bytes)
  if (!target.sha256) refuseUnlessTaken(target, bytes, service.deps.clock())
  return target
}

/**
 * Stores a part of a recording in the media store, then its row, so that a crash in between leaves nothing that counts. Repeatable. 50
 * recording candidates send 25 parts a second, so this costs one query and one write.
 *
 * The number of parts is limited in addition to bytes, because even a tiny part costs a row and a file.
 *
 * @param tab the candidate's browser tab. @throws DomainError session_refused: not_found, taken_over, too_big, part_differs, closed,
 *   submitted, quota; not_media for a segment that does not start as WebM or MP4, or not like the previous one; wrong_type for a file.
 */
export async function putPart(
  service: ServiceContext,
  ref: InvitationRef,
  tab: string | undefined,
  part: RecordingPart,
): Promise<void> {
  const { db, deps } = service
  const { segment, number, content } = part
  const bytes = content.length
  const target = await findOwnTarget(service, ref, tab, part, bytes)
  const sha256 = new Uint8Array(hash('sha256', content, 'buffer'))
  if (target.sha256) return refuseUnlessSame(target.sha256, sha256)
  refuseUnlessTaken(target, bytes, deps.clock())
  const limit = byteLimitOf(target)
  const { organizationId, submissionId } = target
  const mediaId = part.mediaId
  const contentType = number === 0 ? await requireType(service, target, content) : target.contentType

  await deps.media.put(partOf(target.key, { segment, number, sha256 }), content)
  const columns = {
    organizationId,
    submissionId,
    mediaId,
    tab: target.tab!,
    segment,
    number,
    bytes,
    limit,
    contentType,
    sha256,
    now: deps.clock(),
  }
  const tenant = tenantDb(db, { organization: { id: columns.organizationId }, mode: 'all' })
  const added = await insertPart(tenant, columns)
    .execute()
    .catch((error) => {
      if (violatedConstraint(error) === 'media_file_parts_pkey') return []
      throw error
    })
  // Another request was faster, with this part, with what leaves no room for it, or by another tab: look again.
  if (added.length === 0) return putPart(service, ref, tab, part)
}

type PartToInsert = {
  organizationId: string
  submissionId: string
  mediaId: string
  tab: string
  segment: number
  number: number
  bytes: number
  limit: number
  contentType: string
  sha256: Uint8Array<ArrayBuffer>
  now: Date
}

/** Locks the recording, then the submission, so that the limits hold. */
const insertPart = prepareScoped((db, part: PartToInsert) => {
  const bytes = sql<string>`${part.bytes}::bigint`
  const lockedRecording = db
    .selectFrom('mediaFiles')
    .select('mediaFiles.id')
    .where('mediaFiles.id', '=', part.mediaId)
    .where('mediaFiles.state', '=', 'uploading')
    .where(({ ref }) => sql<SqlBool>`${ref('mediaFiles.bytes')} + ${bytes} <= ${part.limit}::bigint`)
    .forNoKeyUpdate()
  const roomy = db
    .updateTable('submissions')
    .where('submissions.id', '=', part.submissionId)
    .where('submissions.tab', '=', part.tab)
    .where(({ ref }) => sql<SqlBool>`${ref('submissions.mediaBytes')} + ${bytes} <= ${MAX_SUBMISSION_BYTES}::bigint`)
    .where(() => sql<SqlBool>`exists (select from held)`)
    .set(({ ref }) => ({ mediaBytes: sql<string>`${ref('submissions.mediaBytes')} + ${bytes}` }))
  const grown = db
    .updateTable('mediaFiles')
    .where('mediaFiles.id', '=', part.mediaId)
    .where(() => sql<SqlBool>`exists (select from roomy)`)
    .set(({ ref }) => ({
      bytes: sql<string>`${ref('mediaFiles.bytes')} + ${bytes}`,
      contentType: sql<string>`coalesce(nullif(${part.contentType}::text, ''), ${ref('mediaFiles.contentType')})`,
    }))
  const rows = db
    .with('held', () => lockedRecording)
    .with('roomy', () => roomy.returning('submissions.id'))
    .with('grown', () => grown.returning('mediaFiles.id'))
    .selectFrom('roomy')
  return insertFromSelect(db, 'mediaFileParts', rows, () => ({
    mediaId: uuid(part.mediaId),
    segment: sql<number>`${part.segment}::integer`,
    number: sql<number>`${part.number}::integer`,
    organizationId: uuid(part.organizationId),
    bytes: sql<number>`${part.bytes}::integer`,
    sha256: sql<Uint8Array<ArrayBuffer>>`${part.sha256}::bytea`,
    createdAt: timestamp(part.now),
  })).returning('mediaFileParts.number')
})

/** @throws DomainError session_refused: not_found, taken_over, too_big. */
async function findOwnTarget(
  service: ServiceContext,
  ref: InvitationRef,
  tab: string | undefined,
  part: PartRef,
  bytes: number,
): Promise<Target> {
  const target = await findTarget(service, ref, part, bytes)
  if (!target) return refuseSession('not_found')
  if (tab === undefined || target.tab !== tab.toLowerCase()) return refuseSession('taken_over')
  if (bytes > MAX_PART_BYTES) refuseSession('too_big')
  return target
}

async function findTarget(
  { db }: ServiceContext,
  { inviteId, linkVersion }: InvitationRef,
  { mediaId, segment, number }: PartRef,
  bytes: number,
): Promise<Target | undefined> {
  if (!isUuid(mediaId)) return undefined
  return findTargetQuery(db, { inviteId, linkVersion, mediaId, segment, number, bytes }).executeTakeFirst()
}

type PartTargetParams = { inviteId: string; linkVersion: number; mediaId: string; segment: number; number: number; bytes: number }
const findTargetQuery = prepare((part: PartTargetParams) =>
  unscoped()
    .selectFrom('invites')
    .innerJoin('submissions', (join) =>
      join
        .on(sameOrganization('submissions', 'invites'))
        .onRef('submissions.inviteId', '=', 'invites.id')
        .onRef('submissions.id', '=', 'invites.assessmentSession'),
    )
    .innerJoin('mediaFiles', (join) =>
      join
        .on(sameOrganization('mediaFiles', 'submissions'))
        .onRef('mediaFiles.submissionId', '=', 'submissions.id')
        .on('mediaFiles.id', '=', part.mediaId),
    )
    .leftJoin('answerAttempts', (join) =>
      join.on(sameOrganization('answerAttempts', 'mediaFiles')).onRef('answerAttempts.mediaId', '=', 'mediaFiles.id'),
    )
    .leftJoin('answerAttempts as fileAttempts', (join) =>
      join.on(sameOrganization('fileAttempts', 'mediaFiles')).onRef('fileAttempts.id', '=', 'mediaFiles.attemptId'),
    )
    .leftJoin('submissionQuestions', (join) =>
      join
        .on(sameOrganization('submissionQuestions', 'submissions'))
        .onRef('submissionQuestions.submissionId', '=', 'submissions.id')
        .on(({ eb, fn, ref }) =>
          eb(
            'submissionQuestions.number',
            '=',
            fn.coalesce(ref('answerAttempts.questionNumber'), ref('fileAttempts.questionNumber')),
          ),
        ),
    )
    .leftJoin('mediaFileParts', (join) =>
      join
        .onRef('mediaFileParts.mediaId', '=', 'mediaFiles.id')
        .on('mediaFileParts.segment', '=', part.segment)
        .on('mediaFileParts.number', '=', part.number),
    )
    .where('invites.id', '=', part.inviteId)
    .where('invites.linkVersion', '=', part.linkVersion)
    .where('mediaFiles.kind', 'in', ['answer', 'webcam', 'screen'])
    .select(['submissions.organizationId', 'submissions.id as submissionId', 'submissions.state as submissionState'])
    .select([
      'submissions.tab',
      'submissions.mediaBytes as submissionBytes',
      'mediaFiles.key',
      'mediaFiles.kind',
      'mediaFiles.state',
    ])
    .select(['mediaFiles.contentType', 'mediaFiles.bytes', 'mediaFiles.fileName', 'mediaFileParts.sha256'])
    .select('submissionQuestions.number as questionNumber')
    .select(({ eb, ref, selectFrom }) => {
      const ends = [ref('submissionQuestions.closedAt'), ref('submissionQuestions.closesAt'), ref('submissions.submittedAt')]
      const partCount = selectFrom('mediaFileParts as part')
        .select(sql<number>`count(*)::int`.as('count'))
        .whereRef('part.mediaId', '=', 'mediaFiles.id')
      return [
        eb('invites.status', 'not in', ['started', 'completed']).$castTo<boolean>().as('isWithdrawn'),
        sql<Date | null>`least(${sql.join([...ends, ref('submissions.deadlineAt')])})`.as('endsAt'),
        sql<number>`case when ${part.bytes}::integer < ${SMALL_PART_BYTES}::integer then (${partCount}) else 0 end`.as('parts'),
      ]
    }),
)

function refuseUnlessSame(expected: Uint8Array, part: Uint8Array): void {
  if (!Buffer.from(expected).equals(part)) refuseSession('part_differs')
}

/** Bytes of all parts of a recording. */
const byteLimitOf = ({ kind, fileName }: Target): number =>
  fileName !== null ? MAX_FILE_BYTES : kind === 'answer' ? MAX_ATTEMPT_BYTES : MAX_SUBMISSION_BYTES

/** @throws DomainError session_refused: closed, submitted, quota. */
function refuseUnlessTaken(target: Target, bytes: number, now: Date): void {
  refuseUnlessOpen(target, now)
  if (Number(target.bytes) + bytes > byteLimitOf(target) || Number(target.submissionBytes) + bytes > MAX_SUBMISSION_BYTES)
    refuseSession('quota')
  if (target.parts >= MAX_SMALL_PARTS) refuseSession('quota')
}

/** Accepts parts recorded in time for a grace period. */
function refuseUnlessOpen({ state, isWithdrawn, submissionState, endsAt }: Target, now: Date): void {
  const isOver = endsAt !== null && now.getTime() >= endsAt.getTime() + UPLOAD_GRACE_SECONDS * 1_000
  if (state === 'uploading' && !isWithdrawn && !isOver) return
  refuseSession(isSubmitted(submissionState) ? 'submitted' : 'closed')
}

/** Type of a recording or a file by its first bytes. @throws DomainError session_refused: not_media, wrong_type. */
async function requireType(service: ServiceContext, target: Target, content: Buffer): Promise<string> {
  if (target.fileName === null) return requireContainer(content, target.contentType)
  const type = fileTypeOf(content)
  const { organizationId, submissionId } = target
  const limits = await findFileLimits(service, { organizationId, submissionId, number: target.questionNumber! })
  return type && limits?.types.includes(type) ? FILE_CONTENT_TYPES[type] : refuseSession('wrong_type')
}

/** All segments of a recording must have the same type, to be joined to one file. */
function requireContainer(content: Buffer, expected: string): Container {
  const container = containerOf(content)
  if (!container || (expected !== '' && expected !== container)) return refuseSession('not_media')
  return container
}
