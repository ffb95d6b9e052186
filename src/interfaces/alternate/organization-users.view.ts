import { Type } from '@sinclair/typebox'
import { wholeMember } from '../../domain/members/members.ts'
import { DateTime, Uuid } from '../../http/schema/field-types.ts'
import { NAME } from '../../http/schema/schema-keywords.ts'
import { createViewBuilder } from '../../http/schema/view.ts'
import { LanguageView, OrganizationView, Reference, References, UserView } from './nested.view.ts'
import { tagView } from './tags.view.ts'

const { column, computed, view } = createViewBuilder(wholeMember)

/** alternate.md, Organization user. */
export const organizationUserView = view(
  {
    id: Uuid(),
    tags: column(References(tagView.schema), 'tagIds'),
    assigned_assessments_count: column(Type.Integer({ description: 'Assessments the user is a client of' }), 'clientOfCount'),
    deleted: computed(Type.Boolean(), [], () => false), // deleted rows are never shown
    created_at: DateTime(),
    updated_at: DateTime(),
    roles: Type.Array(Type.String(), { description: 'admin, grader, client, or values of your own' }),
    can_view_transcription: Type.Boolean(),
    organization: column(Reference(OrganizationView), 'organizationId'),
    user: column(Reference(UserView), 'userId'),
    grading_languages: column(References(LanguageView), 'gradingLanguageIds'),
  },
  { [NAME]: 'OrganizationUser' },
)
