import type { Prisma } from '../../generated/prisma/client.ts'
import { type FieldPolicy, showAndCopyIn, showIn } from '../fields/field-policy.ts'

export const QUESTION_FIELDS = {
  id: showIn('v1'),
  organizationId: showAndCopyIn(),
  assessmentId: showIn(),
  order: showAndCopyIn('v1'),
  inputType: showAndCopyIn('v1'),
  script: showAndCopyIn('v1'),
  scriptFormat: showAndCopyIn(),
  audioUrl: showAndCopyIn('v1'),
  videoUrl: showAndCopyIn('v1'),
  responseType: showAndCopyIn('v1'),
  points: showAndCopyIn('v1'),
  timeLimit: showAndCopyIn('v1'),
  preparationTime: showAndCopyIn(),
  sourceLanguage: showAndCopyIn('v1'),
  targetLanguage: showAndCopyIn('v1'),
  versionId: showAndCopyIn(),
  libraryQuestionId: showAndCopyIn(),
  libraryNumber: showAndCopyIn(),
  assetIds: showAndCopyIn(),
  createdAt: showIn('v1'),
  updatedAt: showIn('v1'),
} satisfies Record<Prisma.QuestionScalarFieldEnum, FieldPolicy>
