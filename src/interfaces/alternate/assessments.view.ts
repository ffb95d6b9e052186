import { Type } from '@sinclair/typebox'
import { AUDIENCES, wholeAssessment } from '../../domain/assessments/assessments.ts'
import { DateTime, StringEnum, Uuid } from '../../http/schema/field-types.ts'
import { NAME } from '../../http/schema/schema-keywords.ts'
import { createViewBuilder } from '../../http/schema/view.ts'
import {
  CategoryView,
  InstructionView,
  LanguageView,
  OrganizationView,
  Reference,
  ReferenceOrNull,
  References,
} from './nested.view.ts'
import { organizationUserView } from './organization-users.view.ts'
import { tagView } from './tags.view.ts'

const { column, computed, view } = createViewBuilder(wholeAssessment)

/** alternate.md, Assessment. */
export const assessmentView = view(
  {
    id: Uuid(),
    question_count: Type.Integer(),
    tags: column(References(tagView.schema), 'tagIds'),
    clients: column(References(organizationUserView.schema), 'clientIds'),
    client_count: computed(Type.Integer(), ['clientIds'], ({ clientIds }) => clientIds.length),
    time_limit_minutes: computed(Type.Integer({ description: 'Whole minutes of time_limit' }), ['timeLimit'], ({ timeLimit }) =>
      Math.floor(timeLimit / 60),
    ),
    time_limit_seconds: computed(
      Type.Integer({ description: 'Seconds of time_limit beyond the whole minutes' }),
      ['timeLimit'],
      ({ timeLimit }) => timeLimit % 60,
    ),
    deleted: computed(Type.Boolean(), [], () => false), // deleted rows are never shown
    created_at: DateTime(),
    updated_at: DateTime(),
    name: Type.String(),
    type: column(Type.String({ description: 'How questions are put: text, audio, video, mixed' }), 'defaultQuestionFormat'),
    audience: StringEnum(AUDIENCES),
    answer_type: column(Type.String({ description: 'How they are answered: text, audio, video, mixed' }), 'defaultAnswerFormat'),
    time_limit: Type.Integer({ description: 'Seconds; 0 when there is no limit' }),
    instruction: column(ReferenceOrNull(InstructionView), 'instructionId'),
    organization: column(Reference(OrganizationView), 'organizationId'),
    created_by: computed(
      Type.String({ description: 'Identifier of the creating user; empty when unknown' }),
      ['createdById'],
      ({ createdById }) => createdById ?? '',
    ),
    languages: column(References(LanguageView), 'languageIds'),
    categories: column(References(CategoryView), 'categoryIds'),
    skill_type: column(Type.Array(Type.String()), 'skillTypes'),
  },
  { [NAME]: 'Assessment' },
)
