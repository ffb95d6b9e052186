import { type AssessmentInput, toAssessmentInput } from '../../../domain/assessments/assessment-input.ts'
import { type Assessment, getAssessment } from '../../../domain/assessments/assessments.ts'
import { authorize, may } from '../../../domain/authorization/permissions.ts'
import type { Context } from '../../../domain/context.ts'
import type { Html } from '../../../html/html.ts'
import { formatCount, formatDuration } from '../../../http/pages/candidate-view.ts'
import { type Page, pathOf } from '../kit/layout.ts'
import { linkButton } from '../kit/parts.ts'
import { badge } from '../kit/status.ts'
import { labelLanguageWithCode } from './languages.ts'

export type AssessmentHead = { ctx: Context; assessment: Assessment; input: AssessmentInput }

/** @throws DomainError not_permitted, assessment_not_found. */
export async function readAssessmentHead(ctx: Context, assessmentId: string): Promise<AssessmentHead> {
  authorize(ctx, 'read_assessments')
  const assessment = await getAssessment(ctx, assessmentId)
  return { ctx, assessment, input: await toAssessmentInput(ctx, assessment) }
}

export const assessmentHead = ({ ctx, assessment, input }: AssessmentHead, actions: Html | false): Omit<Page, 'body'> => ({
  title: assessment.name,
  trail: [['Assessments', pathOf(ctx, 'assessments')]],
  state: assessment.archivedAt !== null && badge('archived'),
  subtitle: [
    formatCount(assessment.questionCount, 'question'),
    formatCount(assessment.totalPoints, 'point'),
    input.timeLimit > 0 && formatDuration(input.timeLimit),
    input.languages.map(labelLanguageWithCode).join(', '),
  ]
    .filter(Boolean)
    .join(' · '),
  actions,
})

export const inviteButton = (ctx: Context, { id, archivedAt }: Assessment): Html | false =>
  archivedAt === null &&
  may(ctx, 'invite') &&
  linkButton(pathOf(ctx, `invites/new?assessment=${id}`), 'Invite a candidate', 'send', 'main')
