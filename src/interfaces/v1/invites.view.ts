import { type Static, Type } from '@sinclair/typebox'
import { detailedInvite } from '../../domain/invites/invites.ts'
import { type CompleteNewInvite, INVITE_DEFAULTS } from '../../domain/invites/new-invite.ts'
import {
  COUNTS,
  DEFAULT_EXPIRES_IN_DAYS,
  EXPIRY_DAYS,
  MAX_EXTERNAL_ID_LENGTH,
  MAX_INVITE_TAGS,
  MAX_MESSAGE_LENGTH,
  MAX_NAME_LENGTH,
  MAX_URL_LENGTH,
} from '../../domain/limits.ts'
import { DateTime, Email, InviteStatus, Metadata, NonBlankText, Nullable, Text, Uuid } from '../../http/schema/field-types.ts'
import { NAME } from '../../http/schema/schema-keywords.ts'
import { createViewBuilder } from '../../http/schema/view.ts'

const { optional, computed, view } = createViewBuilder(detailedInvite)

const summary = {
  id: Uuid('Invite identifier'),
  assessmentId: Uuid('Assessment the invite belongs to'),
  assessmentName: Type.String({ description: 'Name of the assessment' }),
  recipientEmail: Email('Invited candidate'),
  recipientName: Nullable(Type.String({ description: "Invited candidate's name" })),
  status: InviteStatus,
  questionReplayLimit: Type.Integer({ description: 'Max replays of each question' }),
  answerRecordLimit: Type.Integer({ description: 'Max recording attempts per answer' }),
  sentAt: DateTime('When the invite was sent'),
  expiresAt: DateTime('When the invite expires'),
  acceptedAt: Nullable(DateTime('When accepted')),
  startedAt: Nullable(DateTime('When the candidate started')),
  completedAt: Nullable(DateTime('When the candidate completed')),
  externalId: optional(Type.String({ description: 'Your own id of the invite' }), 'externalId'),
  metadata: optional(Metadata('Your own data about the invite'), 'metadata'),
  returnUrl: optional(Type.String({ format: 'uri', description: 'Page of yours that the candidate can return to' }), 'returnUrl'),
  retakeOf: optional(Uuid('For a retake, the candidate’s earlier invite'), 'retakeOf'),
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

const Grader = Type.Object(
  { id: Type.String(), firstName: Type.String(), lastName: Type.String(), email: Email() },
  { description: "Grader assigned to review the candidate's submission" },
)
const ProctoringSettings = Type.Object({
  screenRecording: Type.Boolean(),
  webcamMonitoring: Type.Boolean(),
  requireIdCapture: Type.Boolean(),
})

/** v1.md, Invite, summary form. */
export const inviteView = view(summary, { [NAME]: 'Invite', examples: [example] })

/** v1.md, Invite, detail form. */
export const inviteDetailView = view(
  {
    ...summary,
    assignedGrader: computed(
      Nullable(Grader),
      ['assignedGrader'],
      ({ assignedGrader: grader }) =>
        grader && { id: grader.id, firstName: grader.user.firstName, lastName: grader.user.lastName, email: grader.email },
    ),
    proctoringSettings: computed(
      ProctoringSettings,
      ['screenRecording', 'webcamMonitoring', 'requireIdCapture'],
      ({ screenRecording, webcamMonitoring, requireIdCapture }) => ({ screenRecording, webcamMonitoring, requireIdCapture }),
    ),
    customMessage: Type.String({ description: 'Custom message included with the invite; empty when there is none' }),
    revokedAt: Nullable(DateTime('When the invite was revoked, if applicable')),
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
        externalId: 'application-4711',
        metadata: { job: 'support-2026', 'hr.region': 'EMEA' },
      },
    ],
  },
)

const { questionReplayLimit, answerRecordLimit, screenRecording, webcamMonitoring, requireIdCapture } = INVITE_DEFAULTS
const Limit = (preset: number, description: string) => Type.Optional(Type.Integer({ ...COUNTS, default: preset, description }))
const Proctoring = (preset: boolean, description: string) => Type.Optional(Type.Boolean({ default: preset, description }))

/** v1.md, CreateInvite body; the last seven fields go beyond the document. */
export const NewInviteBody = Type.Object(
  {
    assessmentId: Uuid('Assessment to invite the candidate to'),
    recipientEmail: Email("Candidate's address"),
    questionReplayLimit: Limit(questionReplayLimit, 'Max replays of each question'),
    answerRecordLimit: Limit(answerRecordLimit, 'Max recording attempts per answer'),
    expiresInDays: Type.Optional(
      Type.Integer({
        ...EXPIRY_DAYS,
        default: DEFAULT_EXPIRES_IN_DAYS,
        description: 'Days until the invite expires',
      }),
    ),
    proctoringSettings: Type.Optional(
      Type.Object(
        {
          screenRecording: Proctoring(screenRecording, 'Screen recording during the assessment'),
          webcamMonitoring: Proctoring(webcamMonitoring, 'Webcam monitoring during the assessment'),
          requireIdCapture: Proctoring(requireIdCapture, 'ID capture required before starting'),
        },
        { default: { screenRecording, webcamMonitoring, requireIdCapture } },
      ),
    ),
    recipientName: Type.Optional(
      Nullable(Text({ maxLength: MAX_NAME_LENGTH, description: "Candidate's name, for the mail's salutation" })),
    ),
    customMessage: Type.Optional(Text({ maxLength: MAX_MESSAGE_LENGTH, description: 'Included in the mail' })),
    assignedGraderId: Type.Optional(
      Nullable(Uuid('Who will review the submission: an active member with the role grader or admin')),
    ),
    tagIds: Type.Optional(Type.Array(Uuid(), { maxItems: MAX_INVITE_TAGS, description: 'Tags of the invite' })),
    sendEmail: Type.Optional(Type.Boolean({ default: true, description: 'false: no mail is sent; deliver the link yourself' })),
    externalId: Type.Optional(
      Nullable(
        NonBlankText({
          maxLength: MAX_EXTERNAL_ID_LENGTH,
          description: 'Your own id of the invite. Not necessarily unique.',
        }),
      ),
    ),
    returnUrl: Type.Optional(
      Nullable(
        Type.String({
          maxLength: MAX_URL_LENGTH,
          description:
            'Page of yours that the candidate can return to after completing: https, on a host that the organization has listed in its settings.',
        }),
      ),
    ),
    language: Type.Optional(
      Type.Unknown({
        description:
          'The candidate’s language, as in BCP 47, such as pt-BR. Unsupported languages, and values other than texts, are ignored.',
      }),
    ),
    metadata: Type.Optional(Nullable(Metadata('Your own data about the invite, by key.'))),
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

export const toNewInvite = (body: Static<typeof NewInviteBody>): CompleteNewInvite => ({
  assessmentId: body.assessmentId,
  recipientEmail: body.recipientEmail,
  recipientName: body.recipientName,
  questionReplayLimit: body.questionReplayLimit,
  answerRecordLimit: body.answerRecordLimit,
  expiresInDays: body.expiresInDays,
  screenRecording: body.proctoringSettings?.screenRecording,
  webcamMonitoring: body.proctoringSettings?.webcamMonitoring,
  requireIdCapture: body.proctoringSettings?.requireIdCapture,
  facePhotoRequired: undefined,
  extraTimePercent: undefined,
  customMessage: body.customMessage,
  assignedGraderId: body.assignedGraderId,
  tagIds: body.tagIds,
  sendEmail: body.sendEmail,
  externalId: body.externalId,
  metadata: body.metadata,
  returnUrl: body.returnUrl,
  language: typeof body.language === 'string' ? body.language : null,
})
