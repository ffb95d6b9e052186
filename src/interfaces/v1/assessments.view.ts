import { Type } from '@sinclair/typebox'
import { MEDIA_FORMATS, wholeAssessment } from '../../domain/assessments/assessments.ts'
import { DateTime, StringEnum, Uuid } from '../../http/schema/field-types.ts'
import { NAME } from '../../http/schema/schema-keywords.ts'
import { createViewBuilder } from '../../http/schema/view.ts'

const { column, view } = createViewBuilder(wholeAssessment)

const fields = {
  id: Uuid(),
  name: Type.String(),
  defaultQuestionFormat: StringEnum(MEDIA_FORMATS),
  defaultAnswerFormat: StringEnum(MEDIA_FORMATS),
  languages: column(Type.Array(Type.String(), { description: 'Codes of the languages used' }), 'languageCodes'),
  questionCount: Type.Integer({ description: 'Number of questions' }),
  inviteCount: Type.Integer({ description: 'Number of invites sent for this assessment' }),
  createdAt: DateTime(),
  updatedAt: DateTime(),
}

const example = {
  id: '0197a3f2-6c1e-7b52-9d0a-3f1c2b4d5e71',
  name: 'Customer support, spoken English',
  defaultQuestionFormat: 'audio',
  defaultAnswerFormat: 'audio',
  languages: ['en'],
  questionCount: 6,
  inviteCount: 42,
  createdAt: '2026-02-01T10:00:00.000Z',
  updatedAt: '2026-02-20T16:45:00.000Z',
}

/** v1.md, Assessment, in lists. */
export const assessmentView = view(fields, { [NAME]: 'Assessment', examples: [example] })

/** v1.md, Assessment, from the endpoint for a single assessment. */
export const assessmentDetailView = view(
  { ...fields, totalPoints: Type.Integer({ description: 'Total points available' }) },
  { [NAME]: 'AssessmentDetail', examples: [{ ...example, totalPoints: 60 }] },
)
