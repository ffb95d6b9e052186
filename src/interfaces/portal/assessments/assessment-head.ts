import { type AssessmentInput, toAssessmentInput } from '../../../domain/assessments/assessment-input.ts'
import { type Assessment, getAssessment } from '../../../domain/assessments/assessments.ts'
import { authorize, may } from '../../../domain/authorization/permissions.ts'
import type { Context } from '../../../domain/context.ts'
import type { Html } from '../../../html/html.ts'
import { wordCount, wordDuration } from '../../../http/pages/candidate-view.ts'
import { type Page, pathOf } from '../kit/layout.ts'
import { linkButton } from '../kit/parts.ts'
import { badge } from '../kit/status.ts'
import { wordLanguage } from './languages.ts'

/** What the head of an assessment's pages says. */
export type Headed = { ctx: Context; assessment: Assessment; input: AssessmentInput }

/** @throws DomainError not_permitted, assessment_not_found. */
export async function readHead(ctx: Context, assessmentId: string): Promise<Headed> {
  authorize(ctx, 'read_assessments')
  const assessment = await getAssessment(ctx, assessmentId)
  return { ctx, assessment, input: await toAssessmentInput(ctx, assessment) }
}

/** Where one is, what it is about, and what can be done with it. */
export const headOf = ({ ctx, assessment, input }: Headed, actions: Html | false): Omit<Page, 'body'> => ({
  title: assessment.name,
  trail: [['Assessments', pathOf(ctx, 'assessments')]],
  state: assessment.archivedAt !== null && badge('archived'),
  subtitle: [
    wordCount(assessment.questionCount, 'question'),
    wordCount(assessment.totalPoints, 'point'),
    input.timeLimit > 0 && wordDuration(input.timeLimit),
    input.languages.map(wordLanguage).join(', '),
  ]
    .filter(Boolean)
    .join(' · '),
  actions,
})

/** The main action of its pages. */
export const inviting = (ctx: Context, { id, archivedAt }: Assessment): Html | false =>
  archivedAt === null &&
  may(ctx, 'invite') &&
  linkButton(pathOf(ctx, `invites/new?assessment=${id}`), 'Invite a candidate', 'send', 'main')
