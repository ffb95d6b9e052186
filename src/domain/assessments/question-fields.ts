import type { Prisma } from '../../generated/prisma/client.ts'
import { type FieldPolicy, shown, shownAndCopied } from '../values/field-policy.ts'

export const QUESTION_FIELDS = {
  id: shown('v1'),
  organizationId: shownAndCopied(),
  assessmentId: shown(),
  order: shownAndCopied('v1'),
  inputType: shownAndCopied('v1'),
  script: shownAndCopied('v1'),
  scriptFormat: shownAndCopied(),
  audioUrl: shownAndCopied('v1'),
  videoUrl: shownAndCopied('v1'),
  responseType: shownAndCopied('v1'),
  points: shownAndCopied('v1'),
  timeLimit: shownAndCopied('v1'),
  sourceLanguage: shownAndCopied('v1'),
  targetLanguage: shownAndCopied('v1'),
  versionId: shownAndCopied(),
  libraryQuestionId: shownAndCopied(),
  libraryNumber: shownAndCopied(),
  assetIds: shownAndCopied(),
  createdAt: shown('v1'),
  updatedAt: shown('v1'),
} satisfies Record<Prisma.QuestionScalarFieldEnum, FieldPolicy>
