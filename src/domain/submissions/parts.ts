import { hash } from 'node:crypto'
import { violatedConstraint } from '../../db/errors.ts'
import type { MediaState, SubmissionState } from '../../generated/prisma/client.ts'
import type { ServiceContext } from '../context.ts'
import type { InvitationRef } from '../invites/tokens.ts'
import {
  MAX_PART_BYTES,
  MAX_SMALL_PARTS,
  MAX_SUBMISSION_BYTES,
  MAX_TAKE_BYTES,
  SMALL_PART_BYTES,
  UPLOAD_GRACE_SECONDS,
} from '../limits.ts'
import { isUuid } from '../uuid.ts'
import { partOf } from './media.ts'
import { refuseSession } from './refusals.ts'
import { isHandedIn } from './session.ts'
import { type Container, containerOf } from './type-of-content.ts'

/** Which slice of a recording. */
export type PartRef = { mediaId: string; segment: number; number: number }
/** A slice of a recording, as a candidate's browser sends it. */
export type Part = PartRef & { content: Buffer }

/** Of the link, the recording and the part itself, all that decides whether it is taken. */
type Target = {
  organizationId: string
  submissionId: string
  submissionState: SubmissionState
  isWithdrawn: boolean
  tab: string | null
  submissionBytes: bigint
  key: string
  kind: string
  state: MediaState
  contentType: string
  bytes: bigint
  endsAt: Date | null
  sha256: Uint8Array | null
  /** How many there are, for one that is small. */
  parts: bigint
}

/**
 * Whether a part would be taken, as far as can be said before anything of it is read.
 *
 * @param bytes of its content, as the request announces them.
 * @returns whose it is.
 * @throws DomainError session_refused as {@link putPart}, but for what the content says.
 */
export async function admitPart(
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
export async function putPart(service: ServiceContext, ref: InvitationRef, tab: string | undefined, part: Part): Promise<void> {
  const { db, deps } = service
  const { segment, number, content } = part
  const bytes = content.length
  const target = await findOwnTarget(service, ref, tab, part, bytes)
  const sha256 = new Uint8Array(hash('sha256', content, 'buffer'))
  if (target.sha256) return refuseUnlessSame(target.sha256, sha256)
  refuseUnlessTaken(target, bytes, deps.clock())
  const limit = limitOf(target)
  const contentType = number === 0 ? typeOfFirst(content, target.contentType) : target.contentType

  const { organizationId, submissionId } = target
  const mediaId = part.mediaId
  await deps.media.put(partOf(target.key, { segment, number, sha256 }), content)
  // The recording is locked before the submission, and each limit holds for what is there by then.
  const added = await db.$executeRaw`
    WITH held AS (
      SELECT id FROM media
      WHERE organization_id = ${organizationId}::uuid AND id = ${mediaId}::uuid AND state = 'uploading' AND bytes + ${bytes} <= ${limit}
      FOR NO KEY UPDATE
    ), roomy AS (
      UPDATE submissions SET media_bytes = media_bytes + ${bytes}
      WHERE organization_id = ${organizationId}::uuid AND id = ${submissionId}::uuid AND media_bytes + ${bytes} <= ${MAX_SUBMISSION_BYTES}
        AND tab = ${target.tab}::uuid AND EXISTS (SELECT FROM held)
      RETURNING id
    ), grown AS (
      UPDATE media SET bytes = bytes + ${bytes}, content_type = COALESCE(NULLIF(${contentType}, ''), content_type)
      WHERE organization_id = ${organizationId}::uuid AND id = ${mediaId}::uuid AND EXISTS (SELECT FROM roomy)
    )
    INSERT INTO media_parts (media_id, segment, number, organization_id, bytes, sha256, created_at)
    SELECT ${mediaId}::uuid, ${segment}, ${number}, ${organizationId}::uuid, ${bytes}, ${sha256}, ${deps.clock()} FROM roomy`.catch(
    (error) => {
      if (violatedConstraint(error) === 'media_parts_pkey') return 0
      throw error
    },
  )
  // Another request was faster, with this part, with what leaves no room for it, or by another tab: look again.
  if (added === 0) return putPart(service, ref, tab, part)
}

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
  const [target] = await db.$queryRaw<Target[]>`
    SELECT s.organization_id AS "organizationId", s.id AS "submissionId", s.state AS "submissionState", s.tab,
      i.status NOT IN ('started', 'completed') AS "isWithdrawn", s.media_bytes AS "submissionBytes", m.key, m.kind, m.state,
      m.content_type AS "contentType", m.bytes, LEAST(q.closed_at, q.closes_at, s.submitted_at, s.deadline_at) AS "endsAt", p.sha256,
      CASE WHEN ${bytes} < ${SMALL_PART_BYTES} THEN (SELECT count(*) FROM media_parts WHERE media_id = m.id) ELSE 0 END AS parts
    FROM invites i
    JOIN submissions s ON s.organization_id = i.organization_id AND s.invite_id = i.id AND s.id = i.assessment_session
    JOIN media m ON m.organization_id = s.organization_id AND m.submission_id = s.id AND m.id = ${mediaId}::uuid
    LEFT JOIN takes t ON t.organization_id = m.organization_id AND t.media_id = m.id
    LEFT JOIN paper_questions q
      ON q.organization_id = t.organization_id AND q.submission_id = t.submission_id AND q.number = t.question_number
    LEFT JOIN media_parts p ON p.media_id = m.id AND p.segment = ${segment} AND p.number = ${number}
    WHERE i.id = ${inviteId}::uuid AND i.link_version = ${linkVersion} AND m.kind IN ('answer', 'webcam', 'screen')`
  return target
}

function refuseUnlessSame(known: Uint8Array, given: Uint8Array): void {
  if (!Buffer.from(known).equals(given)) refuseSession('part_differs')
}

/** Of all parts of a recording, in bytes. */
const limitOf = ({ kind }: Target): number => (kind === 'answer' ? MAX_TAKE_BYTES : MAX_SUBMISSION_BYTES)

/** @throws DomainError session_refused: closed, submitted, quota. */
function refuseUnlessTaken(target: Target, bytes: number, now: Date): void {
  refuseUnlessOpen(target, now)
  if (Number(target.bytes) + bytes > limitOf(target) || Number(target.submissionBytes) + bytes > MAX_SUBMISSION_BYTES)
    refuseSession('quota')
  if (target.parts >= MAX_SMALL_PARTS) refuseSession('quota')
}

/** What was recorded in time is taken for a while after it. */
function refuseUnlessOpen({ state, isWithdrawn, submissionState, endsAt }: Target, now: Date): void {
  const isOver = endsAt !== null && now.getTime() >= endsAt.getTime() + UPLOAD_GRACE_SECONDS * 1_000
  if (state === 'uploading' && !isWithdrawn && !isOver) return
  refuseSession(isHandedIn(submissionState) ? 'submitted' : 'closed')
}

/** All segments of a recording have to be of one kind, to become one file. */
function typeOfFirst(content: Buffer, known: string): Container {
  const container = containerOf(content)
  if (!container || (known !== '' && known !== container)) return refuseSession('not_media')
  return container
}
