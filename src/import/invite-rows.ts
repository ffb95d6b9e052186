import { randomUUID } from 'node:crypto'
import { omitUndefined } from '../domain/fields/omit-undefined.ts'
import { withCurrentStatus } from '../domain/invites/expiry.ts'
import type { InviteStatus } from '../domain/invites/invites.ts'
import { withDefaults } from '../domain/invites/new-invite.ts'
import { DEFAULT_EXPIRES_IN_DAYS } from '../domain/limits.ts'
import { searchKey } from '../domain/text/fold-text.ts'
import { daysAfter } from '../domain/time/days.ts'
import { type InviteEntry, LATEST } from './format.ts'
import { distinct, type RowContext } from './rows.ts'
import type { WantedRow } from './save.ts'
import type { InviteRow } from './tables.ts'

type ProgressTime = 'acceptedAt' | 'startedAt' | 'completedAt' | 'revokedAt'
/** Fields that change as candidates, the organization, or the clock move the invite. */
type InviteProgress = Pick<InviteRow, ProgressTime | 'status' | 'sentAt' | 'expiresAt' | 'assessmentSession' | 'updatedAt'>

/** Timestamps required by each state, see guides/invites.md, "States of an invite". */
const REQUIRED_TIMES: Record<InviteStatus, ProgressTime[]> = {
  pending: [],
  accepted: ['acceptedAt'],
  started: ['acceptedAt', 'startedAt'],
  completed: ['acceptedAt', 'startedAt', 'completedAt'],
  expired: [],
  revoked: ['revokedAt'],
}

/**
 * The invite as the document defines it. A new invite gets the defaults of POST /invites, relative to its `sentAt`. An existing one keeps its
 * progress, unless `overwriteProgress`.
 */
export function wantInvite(
  entry: InviteEntry,
  place: RowContext,
  { overwriteProgress }: { overwriteProgress: boolean },
): WantedRow<InviteRow> {
  const { screenRecording, webcamMonitoring, requireIdCapture } = entry.proctoringSettings ?? {}
  const { recipientName } = entry
  return {
    id: place.id,
    values: omitUndefined({
      assessmentId: entry.assessmentId,
      recipientEmail: entry.recipientEmail,
      recipientName,
      recipientNameSearch: recipientName && searchKey(recipientName),
      questionReplayLimit: entry.questionReplayLimit,
      answerRecordLimit: entry.answerRecordLimit,
      screenRecording,
      webcamMonitoring,
      requireIdCapture,
      facePhotoRequired: entry.facePhotoRequired,
      customMessage: entry.customMessage,
      assignedGraderId: entry.assignedGraderId,
      createdById: entry.createdById,
      createdAt: entry.createdAt,
      tagIds: distinct(entry.tagIds),
    }),
    create: () => newInvite(entry, place),
    ...(overwriteProgress && { deriveValues: (current: InviteRow) => findProgress(entry, current, place.now) }),
  }
}

function newInvite(entry: InviteEntry, { id, organizationId, now }: RowContext): InviteRow {
  const sentAt = entry.sentAt ?? entry.createdAt ?? now
  const expiresAt = daysAfter(sentAt, DEFAULT_EXPIRES_IN_DAYS)
  const invite: InviteRow = {
    id,
    organizationId,
    assessmentId: entry.assessmentId,
    recipientEmail: entry.recipientEmail,
    recipientNameSearch: null,
    ...withDefaults({ requireIdCapture: entry.proctoringSettings?.requireIdCapture }),
    status: 'pending',
    mode: 'live',
    source: 'import',
    attempt: 1,
    linkVersion: 1,
    assessmentSession: null,
    waivedChecks: [],
    chosenLanguage: null,
    timeZone: null,
    remindersOff: false,
    createdById: null,
    createdByKeyId: null,
    sentAt,
    expiresAt: expiresAt < LATEST ? expiresAt : LATEST,
    acceptedAt: null,
    startedAt: null,
    completedAt: null,
    revokedAt: null,
    declinedAt: null,
    createdAt: sentAt,
    updatedAt: now,
    tagIds: [],
  }
  return { ...invite, ...findProgress(entry, invite, now) }
}

/**
 * Progress according to the document, as of now. If the document sets a status, timestamps that it omits are removed. Timestamps that the status
 * requires are kept or filled from the next later one, the last from the time of the last change.
 */
function findProgress(entry: InviteEntry, invite: InviteRow, now: Date): Partial<InviteRow> {
  const { status = invite.status, sentAt = invite.sentAt, expiresAt = invite.expiresAt, updatedAt = invite.updatedAt } = entry
  const stamp = (field: ProgressTime, next: Date): Date | null => {
    const entryTime = entry[field]
    if (entryTime) return entryTime
    if (REQUIRED_TIMES[status].includes(field)) return invite[field] ?? next
    return entry.status === undefined && entryTime === undefined ? invite[field] : null
  }
  // Candidates can't accept or start after the expiry.
  const inTime = (time: Date): Date => (time < expiresAt ? time : expiresAt)
  const completedAt = stamp('completedAt', updatedAt)
  const startedAt = stamp('startedAt', inTime(completedAt ?? updatedAt))
  const acceptedAt = stamp('acceptedAt', inTime(startedAt ?? updatedAt))
  const revokedAt = stamp('revokedAt', updatedAt)
  const assessmentSession = startedAt && (invite.assessmentSession ?? randomUUID())
  const progress: InviteProgress = {
    status,
    sentAt,
    expiresAt,
    acceptedAt,
    startedAt,
    completedAt,
    revokedAt,
    assessmentSession,
    updatedAt,
  }
  const { updatedAt: changedAt, ...otherProgress } = withCurrentStatus(progress, now)
  // Without a value in the document, `updatedAt` changes only together with other fields.
  return changedAt === invite.updatedAt ? otherProgress : { ...otherProgress, updatedAt: changedAt }
}
