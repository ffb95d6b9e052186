import { type Static, Type } from '@sinclair/typebox'
import { type RowOf, showing } from '../../domain/lists/listing.ts'
import { wholeMember } from '../../domain/members/members.ts'
import { DateTime, isoTime, Uuid } from '../../http/field-types.ts'
import { NAME } from '../../http/schema-keywords.ts'
import { LanguageView, OrganizationView, Reference, References, UserView } from './nested.view.ts'
import { TagView } from './tags.view.ts'

/** alternate.md, Organization user. */
export const OrganizationUserView = Type.Object(
  {
    id: Uuid(),
    tags: References(TagView),
    assigned_assessments_count: Type.Integer({ description: 'Assessments the user is a client of' }),
    deleted: Type.Boolean(),
    created_at: DateTime(),
    updated_at: DateTime(),
    roles: Type.Array(Type.String(), { description: "admin, grader, client, or words of the organization's own" }),
    can_view_transcription: Type.Boolean(),
    organization: Reference(OrganizationView),
    user: Reference(UserView),
    grading_languages: References(LanguageView),
  },
  { [NAME]: 'OrganizationUser' },
)

/** What of a member is shown. */
export const shownOfMember = showing(wholeMember, [
  'id',
  'tagIds',
  'clientOfCount',
  'createdAt',
  'updatedAt',
  'roles',
  'canViewTranscription',
  'organizationId',
  'userId',
  'gradingLanguageIds',
])

export const presentOrganizationUser = (member: RowOf<typeof shownOfMember>): Static<typeof OrganizationUserView> => ({
  id: member.id,
  tags: member.tagIds,
  assigned_assessments_count: member.clientOfCount,
  // What is deleted is not shown.
  deleted: false,
  created_at: isoTime(member.createdAt),
  updated_at: isoTime(member.updatedAt),
  roles: member.roles,
  can_view_transcription: member.canViewTranscription,
  organization: member.organizationId,
  user: member.userId,
  grading_languages: member.gradingLanguageIds,
})
