import { type Static, Type } from '@sinclair/typebox'
import { type Assessment, AUDIENCES } from '../../domain/assessments/assessments.ts'
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

export const presentAssessment = (assessment: Assessment): Static<typeof AssessmentView> => ({
  id: assessment.id,
  question_count: assessment.questionCount,
  tags: assessment.tags.map(({ tagId }) => tagId),
  clients: assessment.clients.map(({ memberId }) => memberId),
  client_count: assessment.clients.length,
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
  languages: assessment.languages.map(({ language }) => language.id),
  categories: assessment.categories.map(({ categoryId }) => categoryId),
  skill_type: assessment.skillTypes,
})
