import { type Static, Type } from '@sinclair/typebox'
import { type Assessment, MEDIA_FORMATS, wholeAssessment } from '../../domain/assessments/assessments.ts'
import { type RowOf, showing } from '../../domain/lists/listing.ts'
import { DateTime, isoTime, Uuid, Words } from '../../http/field-types.ts'
import { NAME } from '../../http/schema-keywords.ts'

const fields = {
  id: Uuid(),
  name: Type.String(),
  defaultQuestionFormat: Words(MEDIA_FORMATS),
  defaultAnswerFormat: Words(MEDIA_FORMATS),
  languages: Type.Array(Type.String(), { description: 'Codes of the languages used' }),
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

/** v1.md, Assessment, as lists show it. */
export const AssessmentView = Type.Object(fields, { [NAME]: 'Assessment', examples: [example] })

/** v1.md, Assessment, as the single-assessment endpoint shows it. */
export const AssessmentDetailView = Type.Object(
  { ...fields, totalPoints: Type.Integer({ description: 'Total points available' }) },
  { [NAME]: 'AssessmentDetail', examples: [{ ...example, totalPoints: 60 }] },
)

/** What of an assessment is shown. */
export const shownOfAssessment = showing(wholeAssessment, [
  'id',
  'name',
  'defaultQuestionFormat',
  'defaultAnswerFormat',
  'languageCodes',
  'questionCount',
  'inviteCount',
  'createdAt',
  'updatedAt',
])

export const presentAssessment = (assessment: RowOf<typeof shownOfAssessment>): Static<typeof AssessmentView> => ({
  id: assessment.id,
  name: assessment.name,
  defaultQuestionFormat: assessment.defaultQuestionFormat,
  defaultAnswerFormat: assessment.defaultAnswerFormat,
  languages: assessment.languageCodes,
  questionCount: assessment.questionCount,
  inviteCount: assessment.inviteCount,
  createdAt: isoTime(assessment.createdAt),
  updatedAt: isoTime(assessment.updatedAt),
})

export const presentAssessmentDetail = (assessment: Assessment): Static<typeof AssessmentDetailView> => ({
  ...presentAssessment(assessment),
  totalPoints: assessment.totalPoints,
})
