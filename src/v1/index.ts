import type { IncomingMessage, ServerResponse } from 'node:http'
import swagger from '@fastify/swagger'
import type { TypeBoxTypeProvider } from '@fastify/type-provider-typebox'
import type { FastifyBaseLogger, FastifyInstance, RawServerDefault } from 'fastify'
import type { Deps } from '../domain/context.ts'
import { guardInterface } from '../http/guard.ts'
import { describeInterface } from '../http/openapi.ts'
import type { RateLimiter } from '../http/rate-limit.ts'
import { assessmentRoutes } from './assessments.routes.ts'
import { AssessmentDetailView, AssessmentView } from './assessments.view.ts'
import { ErrorView, sendFailure } from './errors.ts'
import { inviteOperationRoutes } from './invite-operations.routes.ts'
import { InviteEmailView, InviteLinkView } from './invite-operations.view.ts'
import { inviteRoutes } from './invites.routes.ts'
import { InviteDetailView, InviteView } from './invites.view.ts'
import { Pagination } from './list.ts'
import { memberRoutes } from './members.routes.ts'
import { MemberView } from './members.view.ts'
import { QuestionView } from './questions.view.ts'
import { tagRoutes } from './tags.routes.ts'
import { TagView } from './tags.view.ts'
import { validateWithSchemas } from './validation.ts'

/** A Fastify scope whose handlers are typed by their schemas. */
export type V1App = FastifyInstance<RawServerDefault, IncomingMessage, ServerResponse, FastifyBaseLogger, TypeBoxTypeProvider>

export const V1_PREFIX = '/api/v1'

const introduction = `Read an organization's assessments, questions and members, read and write its tags, and invite candidates.
An API key belongs to one organization; every answer is limited to it. Each invite is mailed to the candidate automatically.`

/** The camelCase interface of v1.md, for a scope of its own under {@link V1_PREFIX}. */
export async function v1Interface(app: FastifyInstance, { deps, limiter }: { deps: Deps; limiter: RateLimiter }): Promise<void> {
  await app.register(
    swagger,
    describeInterface({ title: 'Assessment Invitation Service, API v1', introduction, keyHeader: 'x-api-key' }),
  )
  const named = [
    ErrorView,
    Pagination,
    AssessmentView,
    AssessmentDetailView,
    QuestionView,
    MemberView,
    InviteView,
    InviteDetailView,
    InviteEmailView,
    InviteLinkView,
    TagView,
  ]
  for (const schema of named) app.addSchema(schema)
  guardInterface(app, {
    deps,
    limiter,
    keyHeader: 'x-api-key',
    sendFailure: (failure, request, reply) => sendFailure(failure, request, reply, V1_PREFIX),
  })
  validateWithSchemas(app)

  const typed: V1App = app.withTypeProvider<TypeBoxTypeProvider>()
  assessmentRoutes(typed)
  memberRoutes(typed)
  inviteRoutes(typed)
  inviteOperationRoutes(typed)
  tagRoutes(typed)
}
