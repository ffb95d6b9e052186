import { type Static, Type } from '@sinclair/typebox'
import { type Invite, wholeInvite } from '../../domain/invites/invites.ts'
import type { CompleteNewInvite } from '../../domain/invites/new-invite.ts'
import { COUNTS, MAX_EXTERNAL_ID_LENGTH, MAX_INVITE_TAGS } from '../../domain/limits.ts'
import { DateTime, Email, InviteStatus, Metadata, NonBlankText, Nullable, Uuid } from '../../http/schema/field-types.ts'
import { NAME } from '../../http/schema/schema-keywords.ts'
import { createViewBuilder } from '../../http/schema/view.ts'
import { assessmentView } from './assessments.view.ts'
import { OrganizationView, Reference, ReferenceOrNull, References } from './nested.view.ts'
import { organizationUserView } from './organization-users.view.ts'
import { tagView } from './tags.view.ts'

const { column, optional, computed, view } = createViewBuilder(wholeInvite)

/** alternate.md, Assessment invite. */
export const inviteView = view(
  {
    id: Uuid(),
    assessment_session: Nullable(Uuid('Reference of the session, once the candidate has started')),
    deleted: computed(Type.Boolean(), [], () => false), // deleted rows are never shown
    created_at: DateTime(),
    updated_at: DateTime(),
    email: column(Email('Candidate'), 'recipientEmail'),
    status: InviteStatus,
    face_photo_required: Type.Boolean(),
    id_photo_required: column(Type.Boolean(), 'requireIdCapture'),
    question_play_limit: column(Type.Integer(), 'questionReplayLimit'),
    answer_record_limit: Type.Integer(),
    expires_at: Nullable(DateTime('Null in the creation response')),
    organization: column(Reference(OrganizationView), 'organizationId'),
    assessment: column(Reference(assessmentView.schema), 'assessmentId'),
    user: computed(Nullable(Type.String({ description: 'Always null: candidates have no account' })), [], () => null),
    created_by: computed(
      Type.String({ description: 'Identifier of the creating user, or of the API key' }),
      ['createdById', 'createdByKeyId'],
      (row) => row.createdById ?? row.createdByKeyId ?? '',
    ),
    assigned_grader: column(ReferenceOrNull(organizationUserView.schema), 'assignedGraderId'),
    tags: column(References(tagView.schema), 'tagIds'),
    external_id: optional(Type.String({ description: 'Your own id of the invite' }), 'externalId'),
    metadata: optional(Metadata('Your own data about the invite'), 'metadata'),
  },
  { [NAME]: 'AssessmentInvite' },
)

const example = {
  email: 'candidate@example.com',
  assessment: '0197a3f2-6c1e-7b52-9d0a-3f1c2b4d5e71',
  question_play_limit: 2,
  answer_record_limit: 1,
  face_photo_required: true,
  id_photo_required: false,
  tags: [],
  assigned_grader: '0197a3f2-6c1e-7b52-9d0a-3f1c2b4d5e70',
}

const Limit = (description: string) => Type.Integer({ ...COUNTS, description })

/**
 * alternate.md, POST /assessment_invites body. All fields are required except the last two, which extend the contract. A setting decides if
 * assigned_grader may be null.
 */
export const NewInviteBody = ({ graderRequired }: { graderRequired: boolean }) =>
  Type.Object(
    {
      email: Email('Candidate'),
      assessment: Uuid('The assessment to take'),
      question_play_limit: Limit('Max plays of each question'),
      answer_record_limit: Limit('Max recordings of each answer'),
      face_photo_required: Type.Boolean(),
      id_photo_required: Type.Boolean(),
      tags: Type.Array(Uuid(), { maxItems: MAX_INVITE_TAGS, description: 'May be empty' }),
      assigned_grader: Type.Unsafe<string | null>(
        graderRequired
          ? Uuid('An active organization user with the role grader or admin')
          : Nullable(Uuid('An active organization user with the role grader or admin; null for none')),
      ),
      external_id: Type.Optional(
        Nullable(
          NonBlankText({
            maxLength: MAX_EXTERNAL_ID_LENGTH,
            description: 'Your own id of the invite. Not necessarily unique.',
          }),
        ),
      ),
      metadata: Type.Optional(Nullable(Metadata('Your own data about the invite, by key.'))),
    },
    { [NAME]: 'NewAssessmentInvite', examples: [example] },
  )

/** Settings without a field in this interface's body are off, or have the domain's defaults. */
export const toNewInvite = (body: Static<ReturnType<typeof NewInviteBody>>, expiresInDays: number): CompleteNewInvite => ({
  recipientEmail: body.email,
  recipientName: undefined,
  assessmentId: body.assessment,
  questionReplayLimit: body.question_play_limit,
  answerRecordLimit: body.answer_record_limit,
  facePhotoRequired: body.face_photo_required,
  requireIdCapture: body.id_photo_required,
  screenRecording: false,
  webcamMonitoring: false,
  extraTimePercent: undefined,
  customMessage: undefined,
  tagIds: body.tags,
  assignedGraderId: body.assigned_grader,
  externalId: body.external_id,
  metadata: body.metadata,
  returnUrl: undefined,
  language: undefined,
  expiresInDays,
  sendEmail: undefined,
})

/** alternate.md: expires_at is null in the creation response. */
export const presentNewInvite = (invite: Invite): Static<typeof inviteView.schema> => ({
  ...inviteView.present(invite),
  expires_at: null,
})
