import { type Static, Type } from '@sinclair/typebox'
import { AUDIENCES, wholeAssessment } from '../../domain/assessments/assessments.ts'
import { type RowOf, showing } from '../../domain/lists/listing.ts'
import { DateTime, isoTime, Uuid, Words } from '../../http/field-types.ts'
import { NAME } from '../../http/schema-keywords.ts'
import {
  CategoryView,
  InstructionView,
  LanguageView,
  OrganizationView,
  Reference,
  ReferenceOrNull,
  References,
} from './nested.view.ts'
import { OrganizationUserView } from './organization-users.view.ts'
import { TagView } from './tags.view.ts'

/** alternate.md, Assessment. */
export const AssessmentView = Type.Object(
  {
    id: Uuid(),
    question_count: Type.Integer(),
    tags: References(TagView),
    clients: References(OrganizationUserView),
    client_count: Type.Integer(),
    time_limit_minutes: Type.Integer({ description: 'Whole minutes of time_limit' }),
    time_limit_seconds: Type.Integer({ description: 'Seconds of time_limit beyond the whole minutes' }),
    deleted: Type.Boolean(),
    created_at: DateTime(),
    updated_at: DateTime(),
    name: Type.String(),
    type: Type.String({ description: 'How questions are put: text, audio, video, mixed' }),
    audience: Words(AUDIENCES),
    answer_type: Type.String({ description: 'How they are answered: text, audio, video, mixed' }),
    time_limit: Type.Integer({ description: 'Seconds; 0 when there is no limit' }),
    instruction: ReferenceOrNull(InstructionView),
    organization: Reference(OrganizationView),
    created_by: Type.String({ description: 'Identifier of the creating user; empty when unknown' }),
    languages: References(LanguageView),
    categories: References(CategoryView),
    skill_type: Type.Array(Type.String()),
  },
  { [NAME]: 'Assessment' },
)

/** What of an assessment is shown. */
export const shownOfAssessment = showing(wholeAssessment, [
  'id',
  'questionCount',
  'tagIds',
  'clientIds',
  'timeLimit',
  'createdAt',
  'updatedAt',
  'name',
  'defaultQuestionFormat',
  'audience',
  'defaultAnswerFormat',
  'instructionId',
  'organizationId',
  'createdById',
  'languageIds',
  'categoryIds',
  'skillTypes',
])

export const presentAssessment = (assessment: RowOf<typeof shownOfAssessment>): Static<typeof AssessmentView> => ({
  id: assessment.id,
  question_count: assessment.questionCount,
  tags: assessment.tagIds,
  clients: assessment.clientIds,
  client_count: assessment.clientIds.length,
  time_limit_minutes: Math.floor(assessment.timeLimit / 60),
  time_limit_seconds: assessment.timeLimit % 60,
  // What is deleted is not shown.
  deleted: false,
  created_at: isoTime(assessment.createdAt),
  updated_at: isoTime(assessment.updatedAt),
  name: assessment.name,
  type: assessment.defaultQuestionFormat,
  audience: assessment.audience,
  answer_type: assessment.defaultAnswerFormat,
  time_limit: assessment.timeLimit,
  instruction: assessment.instructionId,
  organization: assessment.organizationId,
  created_by: assessment.createdById ?? '',
  languages: assessment.languageIds,
  categories: assessment.categoryIds,
  skill_type: assessment.skillTypes,
})
