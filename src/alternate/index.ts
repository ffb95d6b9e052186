import type { IncomingMessage, ServerResponse } from 'node:http'
import swagger from '@fastify/swagger'
import type { TypeBoxTypeProvider } from '@fastify/type-provider-typebox'
import type { TObject } from '@sinclair/typebox'
import type { FastifyBaseLogger, FastifyInstance, FastifySchema, RawServerDefault } from 'fastify'
import type { Deps } from '../domain/context.ts'
import { DomainError } from '../domain/errors.ts'
import { HttpError } from '../http/failure.ts'
import { guardInterface, type SendFailure } from '../http/guard.ts'
import { describeInterface } from '../http/openapi.ts'
import type { RateLimiter } from '../http/rate-limit.ts'
import { assessmentRoutes } from './assessments.routes.ts'
import { AssessmentView } from './assessments.view.ts'
import { DetailView, FieldErrorsView, sendFailure } from './errors.ts'
import { readFields } from './fields.ts'
import { readFilters } from './filters.ts'
import { inviteRoutes } from './invites.routes.ts'
import { InviteView } from './invites.view.ts'
import { withOtherMethodsAnswered } from './methods.ts'
import { CategoryView, InstructionView, LanguageView, OrganizationView, UserView } from './nested.view.ts'
import { organizationUserRoutes } from './organization-users.routes.ts'
import { OrganizationUserView } from './organization-users.view.ts'
import { tagRoutes } from './tags.routes.ts'
import { TagView } from './tags.view.ts'

/** A Fastify scope whose handlers are typed by their schemas. */
export type AlternateApp = FastifyInstance<
  RawServerDefault,
  IncomingMessage,
  /** Path under which the interface stands. */
  prefix: string
  ServerResponse,
  FastifyBaseLogger,
  TypeBoxTypeProvider
>

export type AlternateSettings = {
  /** Days until an invite made here expires: its body has no field for that. */
  expiresInDays: number
  /** Whether assigned_grader may not be null. */
  graderRequired: boolean
}

type Options = { deps: Deps; limiter: RateLimiter; settings: AlternateSettings }

const KEY_HEADER = 'x-service-docs-api-key'
const introduction = `A RESTful JSON API for assessments, assessment invites, organization users and tags.
An API key belongs to one organization. Organization ids in the query are filters, not credentials.`

/** The snake_case interface of alternate.md, in the idiom of Django REST framework, for a scope with a prefix of its own. */
export async function alternateInterface(app: FastifyInstance, { deps, limiter, settings }: Options): Promise<void> {
  const title = 'Assessment Invitation Service, alternate interface'
  await app.register(swagger, describeInterface({ title, introduction, keyHeader: 'X-SERVICE-DOCS-API-KEY' }))
  const resources = [AssessmentView, InviteView, OrganizationUserView, TagView]
  const nested = [OrganizationView, UserView, InstructionView, LanguageView, CategoryView]
  for (const schema of [DetailView, FieldErrorsView, ...nested, ...resources]) app.addSchema(schema)
  const sendInEnvelope: SendFailure = (failure, request, reply) => sendFailure(failure, request, reply, app.prefix)
  guardInterface(app, { deps, limiter, keyHeader: KEY_HEADER, sendFailure: sendInEnvelope })
  readWithSchemas(app)

  withOtherMethodsAnswered(app.withTypeProvider<TypeBoxTypeProvider>(), (typed: AlternateApp) => {
    assessmentRoutes(typed)
    inviteRoutes(typed, settings, '')
    organizationUserRoutes(typed)
    tagRoutes(typed)
  })
  await app.register(async (scope) => organizationScope(scope, settings), { prefix: '/organizations/:organization_id' })
}

/** The invite paths once more, below the organization: DESIGN's reading of "an organization-scoped variant exists". */
async function organizationScope(app: FastifyInstance, settings: AlternateSettings): Promise<void> {
  app.addHook<{ Params: { organization_id: string } }>('onRequest', async ({ params, ctx }) => {
    if (params.organization_id.toLowerCase() !== ctx.organization.id) throw new HttpError('organization_forbidden')
  })
  withOtherMethodsAnswered(app.withTypeProvider<TypeBoxTypeProvider>(), (typed: AlternateApp) => {
    inviteRoutes(typed, settings, 'OfOrganization')
  })
}

/** Bodies and query strings are read as Django REST framework reads them; path parameters are the domain's to find or not. */
function readWithSchemas(app: FastifyInstance): void {
  app.setValidatorCompiler<FastifySchema>(({ schema, httpPart }) => {
    if (httpPart !== 'body' && httpPart !== 'querystring') return () => true
    return (input) => {
      const { value, issues } =
        httpPart === 'body' ? readFields(schema as TObject, input ?? {}) : readFilters(schema as TObject, input)
      return issues.length > 0 ? { error: new DomainError('invalid', { issues }) } : { value }
    }
  })
}
