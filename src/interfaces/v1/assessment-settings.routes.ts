import { Type } from '@sinclair/typebox'
import { toAssessmentInput } from '../../domain/assessments/assessment-input.ts'
import { getAssessment } from '../../domain/assessments/assessments.ts'
import {
  changeAssessment,
  createAssessment,
  deleteAssessment,
  duplicateAssessment,
} from '../../domain/assessments/edit-assessments.ts'
import type { Context } from '../../domain/context.ts'
import { answerIdempotently, IdempotencyHeaders } from '../../http/requests/idempotency.ts'
import type { TypedApp } from '../../http/requests/typed-app.ts'
import {
  AssessmentChangeBody,
  AssessmentSettingsView,
  NewAssessmentBody,
  presentSettings,
  toAssessmentChange,
  toNewAssessment,
  toSeenTime,
} from './assessment-settings.view.ts'
import { reportConflicts } from './conflicts.ts'

export const AssessmentParams = Type.Object({
  assessmentId: Type.String({ format: 'uuid', description: 'Id of the assessment' }),
})
const tags = ['Assessments']
/** For operations that change data shared by live and test mode. */
export const managing = { keyRight: 'manage' } as const

const read = async (ctx: Context, id: string) => {
  const assessment = await getAssessment(ctx, id)
  return presentSettings(assessment, await toAssessmentInput(ctx, assessment))
}

/** Beyond v1.md: reads, creates, changes, copies, and deletes assessments, for keys with the right to manage. */
export function assessmentSettingsRoutes(app: TypedApp): void {
  makingRoutes(app)
  changingRoutes(app)
}

function makingRoutes(app: TypedApp): void {
  const locate = ({ assessment }: { assessment: { id: string } }) => `${app.prefix}/assessments/${assessment.id}`

  app.get(
    '/assessments/:assessmentId/settings',
    {
      schema: {
        tags,
        operationId: 'getAssessmentSettings',
        scope: 'assessments:read',
        summary: "Get an assessment's settings",
        description: 'All settings of an assessment.',
        params: AssessmentParams,
        response: { 200: AssessmentSettingsView },
        hasEtag: true,
        errors: ['assessment_not_found'],
      },
    },
    async ({ ctx, params }) => read(ctx, params.assessmentId),
  )

  app.post(
    '/assessments',
    {
      schema: {
        ...managing,
        tags,
        operationId: 'createAssessment',
        scope: 'assessments:write',
        summary: 'Create an assessment',
        description: 'The assessment has no questions yet: add them next. The portal does not invite anybody before.',
        headers: IdempotencyHeaders,
        body: NewAssessmentBody,
        response: { 201: AssessmentSettingsView },
      },
    },
    async (request, reply) =>
      answerIdempotently(
        request,
        reply,
        async (ctx) => ({
          status: 201,
          body: await read(ctx, await createAssessment(ctx, toNewAssessment(request.body))),
        }),
        locate,
      ),
  )

  app.post(
    '/assessments/:assessmentId/duplicate',
    {
      schema: {
        ...managing,
        tags,
        operationId: 'duplicateAssessment',
        scope: 'assessments:write',
        summary: 'Copy an assessment',
        description: 'Copies the assessment with its questions, without its invites.',
        params: AssessmentParams,
        headers: IdempotencyHeaders,
        response: { 201: AssessmentSettingsView },
        errors: ['assessment_not_found'],
      },
    },
    async (request, reply) =>
      answerIdempotently(
        request,
        reply,
        async (ctx) => ({ status: 201, body: await read(ctx, await duplicateAssessment(ctx, request.params.assessmentId)) }),
        locate,
      ),
  )
}

function changingRoutes(app: TypedApp): void {
  app.patch(
    '/assessments/:assessmentId',
    {
      schema: {
        ...managing,
        tags,
        operationId: 'updateAssessment',
        scope: 'assessments:write',
        summary: 'Change an assessment',
        description:
          'Omitted fields stay; a list replaces the present one. Existing invites keep their settings, and candidates who have started keep their questions.',
        params: AssessmentParams,
        body: AssessmentChangeBody,
        response: { 200: AssessmentSettingsView },
        errors: ['assessment_not_found', 'changed_meanwhile'],
      },
    },
    async ({ ctx, params, body }) => {
      await reportConflicts(changeAssessment(ctx, params.assessmentId, toAssessmentChange(body), toSeenTime(body)))
      return read(ctx, params.assessmentId)
    },
  )

  app.delete(
    '/assessments/:assessmentId',
    {
      schema: {
        ...managing,
        tags,
        operationId: 'deleteAssessment',
        scope: 'assessments:write',
        summary: 'Delete an assessment',
        description: 'Deletes an assessment without invites permanently, with its questions. Returns the deleted assessment.',
        params: AssessmentParams,
        response: { 200: AssessmentSettingsView },
        errors: ['assessment_not_found', 'state_conflict'],
      },
    },
    async ({ ctx, params }) => {
      const deleted = await read(ctx, params.assessmentId)
      await reportConflicts(deleteAssessment(ctx, params.assessmentId))
      return deleted
    },
  )
}
