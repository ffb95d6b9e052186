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
import { type Container, containerOf } from '../../files/type-of-content.ts'
import {
  MAX_ATTEMPT_BYTES,
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
 * Keeps a part of a recording: in the store first, and known only then, so that a crash between the two leaves nothing that counts. The
 * same part again changes nothing. While 50 candidates record, 25 come in a second: it costs one question to the database and one write.
 *
 * Limits by bytes say little about parts of hardly any, which cost a row and a file all the same: of these there is a limit by number.
 *
 * @param tab of the candidate's browser, as the request names it.
 * @throws DomainError session_refused: not_found, taken_over, too_big, part_differs, closed, submitted, quota; not_media for a segment that
 *   does not begin as WebM or MP4, or not as the one before.
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
  const contentType = number === 0 ? requireContainer(content, target.contentType) : target.contentType

  const { organizationId, submissionId } = target
  const mediaId = part.mediaId
  await deps.media.put(partOf(target.key, { segment, number, sha256 }), content)
  const taken = {
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
  const tenant = tenantDb(db, { organization: { id: taken.organizationId }, mode: 'all' })
  const added = await insertPart(tenant, taken)
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

/** The recording is locked before the submission, and each limit holds for what is there by then. */
const insertPart = prepareScoped((db, given: PartToInsert) => {
  const bytes = sql<string>`${given.bytes}::bigint`
  const held = db
    .selectFrom('mediaFiles')
    .select('mediaFiles.id')
    .where('mediaFiles.id', '=', given.mediaId)
    .where('mediaFiles.state', '=', 'uploading')
    .where(({ ref }) => sql<SqlBool>`${ref('mediaFiles.bytes')} + ${bytes} <= ${given.limit}::bigint`)
    .forNoKeyUpdate()
  const roomy = db
    .updateTable('submissions')
    .where('submissions.id', '=', given.submissionId)
    .where('submissions.tab', '=', given.tab)
    .where(({ ref }) => sql<SqlBool>`${ref('submissions.mediaBytes')} + ${bytes} <= ${MAX_SUBMISSION_BYTES}::bigint`)
    .where(() => sql<SqlBool>`exists (select from held)`)
    .set(({ ref }) => ({ mediaBytes: sql<string>`${ref('submissions.mediaBytes')} + ${bytes}` }))
  const grown = db
    .updateTable('mediaFiles')
    .where('mediaFiles.id', '=', given.mediaId)
    .where(() => sql<SqlBool>`exists (select from roomy)`)
    .set(({ ref }) => ({
      bytes: sql<string>`${ref('mediaFiles.bytes')} + ${bytes}`,
      contentType: sql<string>`coalesce(nullif(${given.contentType}::text, ''), ${ref('mediaFiles.contentType')})`,
    }))
  const rows = db
    .with('held', () => held)
    .with('roomy', () => roomy.returning('submissions.id'))
    .with('grown', () => grown.returning('mediaFiles.id'))
    .selectFrom('roomy')
  return insertFromSelect(db, 'mediaFileParts', rows, () => ({
    mediaId: uuid(given.mediaId),
    segment: sql<number>`${given.segment}::integer`,
    number: sql<number>`${given.number}::integer`,
    organizationId: uuid(given.organizationId),
    bytes: sql<number>`${given.bytes}::integer`,
    sha256: sql<Uint8Array<ArrayBuffer>>`${given.sha256}::bytea`,
    createdAt: timestamp(given.now),
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
const findTargetQuery = prepare((given: PartTargetParams) =>
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
        .on('mediaFiles.id', '=', given.mediaId),
    )
    .leftJoin('answerAttempts', (join) =>
      join.on(sameOrganization('answerAttempts', 'mediaFiles')).onRef('answerAttempts.mediaId', '=', 'mediaFiles.id'),
    )
    .leftJoin('submissionQuestions', (join) =>
      join
        .on(sameOrganization('submissionQuestions', 'answerAttempts'))
        .onRef('submissionQuestions.submissionId', '=', 'answerAttempts.submissionId')
        .onRef('submissionQuestions.number', '=', 'answerAttempts.questionNumber'),
    )
    .leftJoin('mediaFileParts', (join) =>
      join
        .onRef('mediaFileParts.mediaId', '=', 'mediaFiles.id')
        .on('mediaFileParts.segment', '=', given.segment)
        .on('mediaFileParts.number', '=', given.number),
    )
    .where('invites.id', '=', given.inviteId)
    .where('invites.linkVersion', '=', given.linkVersion)
    .where('mediaFiles.kind', 'in', ['answer', 'webcam', 'screen'])
    .select(['submissions.organizationId', 'submissions.id as submissionId', 'submissions.state as submissionState'])
    .select([
      'submissions.tab',
      'submissions.mediaBytes as submissionBytes',
      'mediaFiles.key',
      'mediaFiles.kind',
      'mediaFiles.state',
    ])
    .select(['mediaFiles.contentType', 'mediaFiles.bytes', 'mediaFileParts.sha256'])
    .select(({ eb, ref, selectFrom }) => {
      const ends = [ref('submissionQuestions.closedAt'), ref('submissionQuestions.closesAt'), ref('submissions.submittedAt')]
      const all = selectFrom('mediaFileParts as part')
        .select(sql<number>`count(*)::int`.as('count'))
        .whereRef('part.mediaId', '=', 'mediaFiles.id')
      return [
        eb('invites.status', 'not in', ['started', 'completed']).$castTo<boolean>().as('isWithdrawn'),
        sql<Date | null>`least(${sql.join([...ends, ref('submissions.deadlineAt')])})`.as('endsAt'),
        sql<number>`case when ${given.bytes}::integer < ${SMALL_PART_BYTES}::integer then (${all}) else 0 end`.as('parts'),
      ]
    }),
)

function refuseUnlessSame(known: Uint8Array, given: Uint8Array): void {
  if (!Buffer.from(known).equals(given)) refuseSession('part_differs')
}

/** Bytes of all parts of a recording. */
const byteLimitOf = ({ kind }: Target): number => (kind === 'answer' ? MAX_ATTEMPT_BYTES : MAX_SUBMISSION_BYTES)

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

/** All segments of a recording have to be of one kind, to become one file. */
function requireContainer(content: Buffer, known: string): Container {
  const container = containerOf(content)
  if (!container || (known !== '' && known !== container)) return refuseSession('not_media')
  return container
}
