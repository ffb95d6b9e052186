import { type Static, Type } from '@sinclair/typebox'
import { DEFAULT_EXPIRES_IN_DAYS, type NewInvite } from '../../domain/invites/create.ts'
import type { Invite, InviteDetail } from '../../domain/invites/invites.ts'
import { DateTime, Email, InviteStatus, isoTime, isoTimeOrNull, MAX_INTEGER, OrNull, Text, Uuid } from '../../http/field-types.ts'
import { NAME } from '../../http/schema-keywords.ts'

const summary = {
  id: Uuid('Invite identifier'),
  assessmentId: Uuid('Assessment the invite belongs to'),
  assessmentName: Type.String({ description: 'Name of the assessment' }),
  recipientEmail: Email('Invited candidate'),
  recipientName: OrNull(Type.String({ description: "Invited candidate's name" })),
  status: InviteStatus,
  questionReplayLimit: Type.Integer({ description: 'Max replays of each question' }),
  answerRecordLimit: Type.Integer({ description: 'Max recording attempts per answer' }),
  sentAt: DateTime('When the invite was sent'),
  expiresAt: DateTime('When the invite expires'),
  acceptedAt: OrNull(DateTime('When accepted')),
  startedAt: OrNull(DateTime('When the candidate started')),
  completedAt: OrNull(DateTime('When the candidate completed')),
}

const example = {
  id: '0197a3f2-6c1e-7b52-9d0a-3f1c2b4d5e73',
  assessmentId: '0197a3f2-6c1e-7b52-9d0a-3f1c2b4d5e71',
  assessmentName: 'Customer support, spoken English',
  recipientEmail: 'candidate@example.com',
  recipientName: 'Sam Rivera',
  status: 'pending',
  questionReplayLimit: 2,
  answerRecordLimit: 1,
  sentAt: '2026-03-02T09:30:00.000Z',
  expiresAt: '2026-04-01T09:30:00.000Z',
  acceptedAt: null,
  startedAt: null,
  completedAt: null,
}

const Grader = Type.Object({ id: Type.String(), firstName: Type.String(), lastName: Type.String(), email: Email() })
const ProctoringSettings = Type.Object({
  screenRecording: Type.Boolean(),
  webcamMonitoring: Type.Boolean(),
  requireIdCapture: Type.Boolean(),
})

/** v1.md, Invite, summary form. */
export const InviteView = Type.Object(summary, { [NAME]: 'Invite', examples: [example] })

/** v1.md, Invite, detail form. */
export const InviteDetailView = Type.Object(
  {
    ...summary,
    assignedGrader: OrNull(
      Type.Object(Grader.properties, { description: "Grader assigned to review the candidate's submission" }),
    ),
    proctoringSettings: ProctoringSettings,
    customMessage: Type.String({ description: 'Custom message included with the invite; empty when there is none' }),
    revokedAt: OrNull(DateTime('When the invite was revoked, if applicable')),
  },
  {
    [NAME]: 'InviteDetail',
    examples: [
      {
        ...example,
        assignedGrader: null,
        proctoringSettings: { screenRecording: true, webcamMonitoring: true, requireIdCapture: false },
        customMessage: 'We look forward to hearing you.',
        revokedAt: null,
      },
    ],
  },
)

const Limit = (description: string) => Type.Optional(Type.Integer({ minimum: 1, maximum: MAX_INTEGER, default: 1, description }))
const Proctoring = (description: string) => Type.Optional(Type.Boolean({ default: true, description }))

/** v1.md, CreateInvite body; the last five fields go beyond the document. */
export const NewInviteBody = Type.Object(
  {
    assessmentId: Uuid('Assessment to invite the candidate to'),
    recipientEmail: Email("Candidate's address"),
    questionReplayLimit: Limit('Max replays of each question'),
    answerRecordLimit: Limit('Max recording attempts per answer'),
    expiresInDays: Type.Optional(
      Type.Integer({ minimum: 1, maximum: 3650, default: DEFAULT_EXPIRES_IN_DAYS, description: 'Days until the invite expires' }),
    ),
    proctoringSettings: Type.Optional(
      Type.Object(
        {
          screenRecording: Proctoring('Screen recording during the assessment'),
          webcamMonitoring: Proctoring('Webcam monitoring during the assessment'),
          requireIdCapture: Proctoring('ID capture required before starting'),
        },
        { default: { screenRecording: true, webcamMonitoring: true, requireIdCapture: true } },
      ),
    ),
    recipientName: Type.Optional(OrNull(Text({ maxLength: 200, description: "Candidate's name, for the mail's salutation" }))),
    customMessage: Type.Optional(Text({ maxLength: 5_000, description: 'Included in the mail' })),
    assignedGraderId: Type.Optional(
      OrNull(Uuid('Who will review the submission: an active member with the role grader or admin')),
    ),
    tagIds: Type.Optional(Type.Array(Uuid(), { maxItems: 100, description: 'Tags of the invite' })),
    sendEmail: Type.Optional(
      Type.Boolean({ default: true, description: 'false: nothing is mailed; the candidate gets the link from you' }),
    ),
  },
  {
    [NAME]: 'NewInvite',
    examples: [
      {
        assessmentId: '0197a3f2-6c1e-7b52-9d0a-3f1c2b4d5e71',
        recipientEmail: 'candidate@example.com',
        recipientName: 'Sam Rivera',
        questionReplayLimit: 2,
        proctoringSettings: { requireIdCapture: false },
      },
    ],
  },
)

export function toNewInvite(body: Static<typeof NewInviteBody>): NewInvite {
  const { screenRecording = true, webcamMonitoring = true, requireIdCapture = true } = body.proctoringSettings ?? {}
  return {
    assessmentId: body.assessmentId,
    recipientEmail: body.recipientEmail,
    recipientName: body.recipientName ?? null,
    questionReplayLimit: body.questionReplayLimit ?? 1,
    answerRecordLimit: body.answerRecordLimit ?? 1,
    expiresInDays: body.expiresInDays ?? DEFAULT_EXPIRES_IN_DAYS,
    screenRecording,
    webcamMonitoring,
    requireIdCapture,
    // v1 has one switch where the alternate interface has two.
    facePhotoRequired: requireIdCapture,
    customMessage: body.customMessage ?? '',
    assignedGraderId: body.assignedGraderId ?? null,
    tagIds: body.tagIds ?? [],
    sendEmail: body.sendEmail ?? true,
  }
}

export const presentInvite = (invite: Invite): Static<typeof InviteView> => ({
  id: invite.id,
  assessmentId: invite.assessmentId,
  assessmentName: invite.assessment.name,
  recipientEmail: invite.recipientEmail,
  recipientName: invite.recipientName,
  status: invite.status,
  questionReplayLimit: invite.questionReplayLimit,
  answerRecordLimit: invite.answerRecordLimit,
  sentAt: isoTime(invite.sentAt),
  expiresAt: isoTime(invite.expiresAt),
  acceptedAt: isoTimeOrNull(invite.acceptedAt),
  startedAt: isoTimeOrNull(invite.startedAt),
  completedAt: isoTimeOrNull(invite.completedAt),
})

export const presentInviteDetail = (invite: InviteDetail): Static<typeof InviteDetailView> => ({
  ...presentInvite(invite),
  assignedGrader: invite.assignedGrader && {
    id: invite.assignedGrader.id,
    firstName: invite.assignedGrader.user.firstName,
    lastName: invite.assignedGrader.user.lastName,
    email: invite.assignedGrader.email,
  },
  proctoringSettings: {
    screenRecording: invite.screenRecording,
    webcamMonitoring: invite.webcamMonitoring,
    requireIdCapture: invite.requireIdCapture,
  },
  customMessage: invite.customMessage,
  revokedAt: isoTimeOrNull(invite.revokedAt),
})
