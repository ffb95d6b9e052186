import { DEFAULT_EXPIRES_IN_DAYS, expiryAfter } from '../domain/invites/create.ts'
import type { InviteEntry } from './format.ts'
import { distinct, given, type Place } from './rows.ts'
import type { Wanted } from './save.ts'
import type { InviteRow } from './tables.ts'

/** An invite as the document gives it. One that is new gets the defaults of POST /invites, as of the time it says it was sent. */
export function wantInvite(entry: InviteEntry, place: Place): Wanted<InviteRow> {
  const { screenRecording, webcamMonitoring, requireIdCapture } = entry.proctoringSettings ?? {}
  return {
    id: place.id,
    given: given({
      assessmentId: entry.assessmentId,
      recipientEmail: entry.recipientEmail,
      recipientName: entry.recipientName,
      status: entry.status,
      questionReplayLimit: entry.questionReplayLimit,
      answerRecordLimit: entry.answerRecordLimit,
      screenRecording,
      webcamMonitoring,
      requireIdCapture,
      facePhotoRequired: entry.facePhotoRequired,
      customMessage: entry.customMessage,
      assignedGraderId: entry.assignedGraderId,
      createdById: entry.createdById,
      sentAt: entry.sentAt,
      expiresAt: entry.expiresAt,
      acceptedAt: entry.acceptedAt,
      startedAt: entry.startedAt,
      completedAt: entry.completedAt,
      revokedAt: entry.revokedAt,
      createdAt: entry.createdAt,
      updatedAt: entry.updatedAt,
      tagIds: distinct(entry.tagIds),
    }),
    create: () => newInvite(entry, place),
  }
}

function newInvite(entry: InviteEntry, { id, organizationId, now }: Place): InviteRow {
  const sentAt = entry.sentAt ?? entry.createdAt ?? now
  return {
    id,
    organizationId,
    assessmentId: entry.assessmentId,
    recipientEmail: entry.recipientEmail,
    recipientName: null,
    status: 'pending',
    questionReplayLimit: 1,
    answerRecordLimit: 1,
    screenRecording: true,
    webcamMonitoring: true,
    requireIdCapture: true,
    facePhotoRequired: entry.proctoringSettings?.requireIdCapture ?? true,
    customMessage: '',
    mode: 'live',
    linkVersion: 1,
    assessmentSession: null,
    assignedGraderId: null,
    createdById: null,
    createdByKeyId: null,
    sentAt,
    expiresAt: expiryAfter(sentAt, DEFAULT_EXPIRES_IN_DAYS),
    acceptedAt: null,
    startedAt: null,
    completedAt: null,
    revokedAt: null,
    createdAt: sentAt,
    updatedAt: now,
    tagIds: [],
  }
}
