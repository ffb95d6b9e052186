import { randomUUID } from 'node:crypto'
import { asOfNow } from '../domain/invites/expiry.ts'
import type { InviteStatus } from '../domain/invites/invites.ts'
import { withDefaults } from '../domain/invites/new-invite.ts'
import { DEFAULT_EXPIRES_IN_DAYS } from '../domain/limits.ts'
import { searchKey } from '../domain/text/fold-text.ts'
import { daysAfter } from '../domain/time/days.ts'
import { defined } from '../domain/values/defined.ts'
import { type InviteEntry, LATEST } from './format.ts'
import { distinct, type Place } from './rows.ts'
import type { Wanted } from './save.ts'
import type { InviteRow } from './tables.ts'

type Stamp = 'acceptedAt' | 'startedAt' | 'completedAt' | 'revokedAt'
/** How far an invite has come: what the service itself changes when a candidate, the organization or the clock moves it. */
type Progress = Pick<InviteRow, Stamp | 'status' | 'sentAt' | 'expiresAt' | 'assessmentSession' | 'updatedAt'>

/** The stamps without which an invite can't be in a state: guides/invites.md, States of an invite. */
const NEEDED: Record<InviteStatus, Stamp[]> = {
  pending: [],
  accepted: ['acceptedAt'],
  started: ['acceptedAt', 'startedAt'],
  completed: ['acceptedAt', 'startedAt', 'completedAt'],
  expired: [],
  revoked: ['revokedAt'],
}

/**
 * An invite as the document gives it. One that is new gets the defaults of POST /invites, as of the time it says it was sent. One that is
 * there keeps its progress, unless that is to be overwritten.
 */
export function wantInvite(
  entry: InviteEntry,
  place: Place,
  { overwriteProgress }: { overwriteProgress: boolean },
): Wanted<InviteRow> {
  const { screenRecording, webcamMonitoring, requireIdCapture } = entry.proctoringSettings ?? {}
  const { recipientName } = entry
  return {
    id: place.id,
    given: defined({
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
    ...(overwriteProgress && { alter: (current: InviteRow) => findProgress(entry, current, place.now) }),
  }
}

function newInvite(entry: InviteEntry, { id, organizationId, now }: Place): InviteRow {
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
 * The progress that the document gives to an invite, as of now. Where the document gives a state, it also takes away the stamps that it
 * doesn't give; those without which the invite can't be in that state are kept, or taken from the stamp after, the last from the time of
 * the last change.
 */
function findProgress(entry: InviteEntry, invite: InviteRow, now: Date): Partial<InviteRow> {
  const { status = invite.status, sentAt = invite.sentAt, expiresAt = invite.expiresAt, updatedAt = invite.updatedAt } = entry
  const stamp = (field: Stamp, next: Date): Date | null => {
    const given = entry[field]
    if (given) return given
    if (NEEDED[status].includes(field)) return invite[field] ?? next
    return entry.status === undefined && given === undefined ? invite[field] : null
  }
  // Nobody accepts or starts what has expired.
  const inTime = (time: Date): Date => (time < expiresAt ? time : expiresAt)
  const completedAt = stamp('completedAt', updatedAt)
  const startedAt = stamp('startedAt', inTime(completedAt ?? updatedAt))
  const acceptedAt = stamp('acceptedAt', inTime(startedAt ?? updatedAt))
  const revokedAt = stamp('revokedAt', updatedAt)
  const assessmentSession = startedAt && (invite.assessmentSession ?? randomUUID())
  const progress: Progress = {
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
  const { updatedAt: changedAt, ...rest } = asOfNow(progress, now)
  // Where the document is silent on it, it is the time at which something else changes.
  return changedAt === invite.updatedAt ? rest : { ...rest, updatedAt: changedAt }
}
