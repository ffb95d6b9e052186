import { type Static, Type } from '@sinclair/typebox'
import { type Invite, wholeInvite } from '../../domain/invites/invites.ts'
import type { NewInvite } from '../../domain/invites/new-invite.ts'
import { COUNTS, MAX_INVITE_TAGS } from '../../domain/limits.ts'
import { type RowOf, showing } from '../../domain/lists/listing.ts'
import { DateTime, Email, InviteStatus, isoTime, OrNull, Uuid } from '../../http/field-types.ts'
import { NAME } from '../../http/schema-keywords.ts'
import { AssessmentView } from './assessments.view.ts'
import { OrganizationView, Reference, ReferenceOrNull, References } from './nested.view.ts'
import { OrganizationUserView } from './organization-users.view.ts'
import { TagView } from './tags.view.ts'

/** alternate.md, Assessment invite. */
export const InviteView = Type.Object(
  {
    id: Uuid(),
    assessment_session: OrNull(Uuid('Reference of the session, once the candidate has started')),
    deleted: Type.Boolean(),
    created_at: DateTime(),
    updated_at: DateTime(),
    email: Email('Candidate'),
    status: InviteStatus,
    face_photo_required: Type.Boolean(),
    id_photo_required: Type.Boolean(),
    question_play_limit: Type.Integer(),
    answer_record_limit: Type.Integer(),
    expires_at: OrNull(DateTime('Null in the creation response')),
    organization: Reference(OrganizationView),
    assessment: Reference(AssessmentView),
    user: OrNull(Type.String({ description: 'Candidates have no account: null' })),
    created_by: Type.String({ description: 'Identifier of the creating user, or of the API key' }),
    assigned_grader: ReferenceOrNull(OrganizationUserView),
    tags: References(TagView),
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

/** alternate.md, POST /assessment_invites body: all fields required. Whether assigned_grader may be null is a setting. */
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
          : OrNull(Uuid('An active organization user with the role grader or admin; null for none')),
      ),
    },
    { [NAME]: 'NewAssessmentInvite', examples: [example] },
  )

/** What this interface's body has no field for is not asked of the candidate, or has the domain's defaults. */
export const toNewInvite = (body: Static<ReturnType<typeof NewInviteBody>>, expiresInDays: number): NewInvite => ({
  recipientEmail: body.email,
  assessmentId: body.assessment,
  questionReplayLimit: body.question_play_limit,
  answerRecordLimit: body.answer_record_limit,
  facePhotoRequired: body.face_photo_required,
  requireIdCapture: body.id_photo_required,
  screenRecording: false,
  webcamMonitoring: false,
  tagIds: body.tags,
  assignedGraderId: body.assigned_grader,
  expiresInDays,
})

/** What of an invite is shown. */
export const shownOfInvite = showing(wholeInvite, [
  'id',
  'assessmentSession',
  'createdAt',
  'updatedAt',
  'recipientEmail',
  'status',
  'facePhotoRequired',
  'requireIdCapture',
  'questionReplayLimit',
  'answerRecordLimit',
  'expiresAt',
  'organizationId',
  'assessmentId',
  'createdById',
  'createdByKeyId',
  'assignedGraderId',
  'tagIds',
])

export const presentInvite = (invite: RowOf<typeof shownOfInvite>): Static<typeof InviteView> => ({
  id: invite.id,
  assessment_session: invite.assessmentSession,
  // What is deleted is not shown.
  deleted: false,
  created_at: isoTime(invite.createdAt),
  updated_at: isoTime(invite.updatedAt),
  email: invite.recipientEmail,
  status: invite.status,
  face_photo_required: invite.facePhotoRequired,
  id_photo_required: invite.requireIdCapture,
  question_play_limit: invite.questionReplayLimit,
  answer_record_limit: invite.answerRecordLimit,
  expires_at: isoTime(invite.expiresAt),
  organization: invite.organizationId,
  assessment: invite.assessmentId,
  user: null,
  created_by: invite.createdById ?? invite.createdByKeyId ?? '',
  assigned_grader: invite.assignedGraderId,
  tags: invite.tagIds,
})

/** alternate.md: expires_at is null in the creation response. */
export const presentNewInvite = (invite: Invite): Static<typeof InviteView> => ({ ...presentInvite(invite), expires_at: null })
