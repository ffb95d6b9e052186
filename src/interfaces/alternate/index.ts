import type { TypeBoxTypeProvider } from '@fastify/type-provider-typebox'
import type { TObject } from '@sinclair/typebox'
import type { FastifyInstance, FastifySchema } from 'fastify'
import type { ServiceContext } from '../../domain/context.ts'
import { DomainError } from '../../domain/errors.ts'
import { HttpError } from '../../http/errors/failure.ts'
import type { RateLimiter } from '../../http/limits/rate-limit.ts'
import { describeInterface } from '../../http/openapi/openapi.ts'
import { authenticateByApiKey, guardInterface } from '../../http/requests/guard.ts'
import { reportIgnoredInput } from '../../http/requests/ignored-input.ts'
import type { TypedApp } from '../../http/requests/typed-app.ts'
import { assessmentRoutes } from './assessments.routes.ts'
import { alternateEnvelope, errorDescription } from './errors.ts'
import { readFields } from './fields.ts'
import { readFilters } from './filters.ts'
import { inviteRoutes } from './invites.routes.ts'
import { withOtherMethodsAnswered } from './methods.ts'
import { organizationUserRoutes } from './organization-users.routes.ts'
import type { AlternateSettings } from './settings.ts'
import { tagRoutes } from './tags.routes.ts'
import { toUuid } from './uuid.ts'

type Options = { system: ServiceContext; limiter: RateLimiter; settings: AlternateSettings }

export const KEY_HEADER = 'x-service-docs-api-key'
const introduction = `A RESTful JSON API for assessments, assessment invites, organization users and tags.
An API key belongs to one organization. Organization ids in the query are filters, not credentials.`

const tags = {
  Assessments: 'Assessments of the organization. Read only.',
  'Assessment invites': 'Invites of candidates to assessments. Creating one mails the candidate.',
  'Organization users': 'Active members of the organization. Read only.',
  Tags: 'Labels of assessments, invites and users. Read only.',
}

/**
 * The snake_case interface of alternate.md, in the idiom of Django REST framework, for a scope with a prefix of its own.
 *
 * @returns its OpenAPI document, once the app is ready.
 */
export async function alternateInterface(app: FastifyInstance, { system, limiter, settings }: Options): Promise<() => object> {
  const title = 'Assessment Invitation Service, alternate interface'
  const document = describeInterface(app, {
    ...{ title, introduction, tags },
    keyHeader: 'X-SERVICE-DOCS-API-KEY',
    errors: errorDescription,
  })
  const envelope = alternateEnvelope(settings.prefix)
  guardInterface(app, { authenticate: authenticateByApiKey(system, KEY_HEADER), limiter, envelope })
  reportIgnoredInput(app, (place, name, suggestion) =>
    suggestion === undefined ? `Unknown ${place} "${name}".` : `Unknown ${place} "${name}". Did you mean "${suggestion}"?`,
  )
  readWithSchemas(app)
  app.addHook<{ Params: { id?: string } }>('onRequest', async ({ params }) => {
    if (params.id) params.id = toUuid(params.id)
  })

  withOtherMethodsAnswered(app.withTypeProvider<TypeBoxTypeProvider>(), (typed: TypedApp) => {
    assessmentRoutes(typed)
    inviteRoutes(typed, settings, '')
    organizationUserRoutes(typed)
    tagRoutes(typed)
  })
  await app.register(async (scope) => organizationScope(scope, settings), { prefix: '/organizations/:organization_id' })
  return document
}

/** The invite routes below the organization's path: decisions.md, "an organization-scoped variant exists". */
async function organizationScope(app: FastifyInstance, settings: AlternateSettings): Promise<void> {
  app.addHook<{ Params: { organization_id: string } }>('onRequest', async ({ params, ctx }) => {
    if (toUuid(params.organization_id) !== ctx.organization.id) throw new HttpError('organization_forbidden')
  })
  withOtherMethodsAnswered(app.withTypeProvider<TypeBoxTypeProvider>(), (typed: TypedApp) => {
    inviteRoutes(typed, settings, 'OfOrganization')
  })
}

/** Parses bodies and query strings like Django REST framework. Path parameters are not validated: the domain does not find an invalid id. */
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
