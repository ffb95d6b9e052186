import { STATUS_CODES } from 'node:http'
import type { TSchema } from '@sinclair/typebox'
import type { FastifyInstance, FastifySchema, RouteOptions } from 'fastify'
import type { KeyScope } from '../../domain/authorization/permissions.ts'
import type { FailureKind } from '../errors/failure.ts'
import { HEADERS, MEDIA_TYPES, NAME } from '../schema/schema-keywords.ts'
import { type Components, createComponents, pascalCase, publishSchema, type Reference } from './components.ts'
import { describeDeprecation } from './deprecation.ts'
import { type ErrorDescription, errorResponses } from './errors.ts'
import { describeHeaders, type HeaderName, STANDARD_HEADERS } from './headers.ts'
import { MISSING_RIGHT, requiredMode, WRONG_MODE } from './key-access.ts'
import { describeNotModified, IfNoneMatch, PreferHeader } from './request-headers.ts'

declare module 'fastify' {
  interface FastifySchema {
    /** Routes without one are not documented. */
    operationId?: string
    summary?: string
    description?: string
    tags?: readonly string[]
    /** Errors besides those that similar operations share, see errors.ts. */
    errors?: readonly FailureKind[]
  }
}

type Description = {
  title: string
  introduction: string
  keyHeader: string
  /** Descriptions by tag name. */
  tags: Record<string, string>
  webhooks?: Webhooks
  errors: ErrorDescription
}

/**
 * @property headers of each message. @property successDescription describes 2xx answers. @property failureDescription describes 4xx answers.
 */
export type Webhooks = {
  tag: string
  messages: Record<string, TSchema>
  headers: TSchema
  successDescription: string
  failureDescription: string
}

type RouteSchema = Pick<
  FastifySchema,
  | 'operationId'
  | 'summary'
  | 'description'
  | 'tags'
  | 'errors'
  | 'isForTestKeys'
  | 'keyRight'
  | 'scope'
  | 'hasEtag'
  | 'deprecated'
> & {
  params?: TSchema
  querystring?: TSchema
  headers?: TSchema
  body?: TSchema
  response?: Record<string, TSchema>
}
type Parameter = { name: string; in: 'path' | 'query' | 'header'; schema: object }
type Operation = {
  tags: readonly string[] | undefined
  operationId: string
  summary: string | undefined
  description: string | undefined
  security: { apiKey: KeyScope[] }[]
  parameters: (Parameter | Reference)[]
  requestBody?: object
  responses: Record<string, object>
}

/**
 * Describes all routes that are added to the scope after this call in an OpenAPI 3.1 document. A route declares only its success and its
 * own errors; shared errors, headers, and parameters become components.
 *
 * @returns a function that returns the document. Call it when all routes are registered.
 * @throws Error when a documented route has no scope.
 */
export function describeInterface(app: FastifyInstance, description: Description): () => object {
  const routes: RouteOptions[] = []
  app.addHook('onRoute', (route) => {
    const { operationId, scope } = readSchema(route)
    if (route.method === 'HEAD' || !operationId) return
    if (!scope)
      throw new Error(`The operation ${operationId} has no scope: add to its schema the scope that a restricted key needs.`)
    routes.push(route)
  })
  return () => writeDocument(routes, description)
}

const readSchema = ({ schema }: RouteOptions): RouteSchema => (schema ?? {}) as RouteSchema

function writeDocument(routes: RouteOptions[], description: Description): object {
  const components = createComponents()
  const paths: Record<string, Record<string, Operation>> = {}
  for (const route of routes) {
    const path = route.url.replaceAll(/:(\w+)/g, '{$1}')
    paths[path] = {
      ...paths[path],
      [String(route.method).toLowerCase()]: describeOperation(route, description.errors, components),
    }
  }
  shareParameters(
    Object.values(paths).flatMap((methods) => Object.values(methods)),
    components,
  )
  const { title, introduction, keyHeader, tags } = description
  return {
    openapi: '3.1.0',
    info: {
      title,
      version: '1.0.0',
      description: introduction,
      contact: { name: 'The operator who gave you the API key' },
      license: { name: 'Proprietary', identifier: 'LicenseRef-Proprietary' },
    },
    servers: [{ url: '/' }],
    security: [{ apiKey: [] }],
    tags: Object.entries(tags).map(([name, text]) => ({ name, description: text })),
    paths,
    ...(description.webhooks && { webhooks: describeWebhooks(description.webhooks, components) }),
    components: {
      securitySchemes: { apiKey: { type: 'apiKey', in: 'header', name: keyHeader } },
      ...components.sections,
    },
  }
}

function describeOperation(route: RouteOptions, errors: ErrorDescription, components: Components): Operation {
  const { operationId = '', summary, description, tags, params, querystring, headers, body, ...schema } = readSchema(route)
  const { hasEtag = false, deprecated, keyRight, scope } = schema
  const mode = requiredMode(schema)
  const traits = {
    hasBody: route.method !== 'GET',
    hasPathParameter: params !== undefined,
    isIdempotent: headers !== undefined,
    declared: [...(mode ? [WRONG_MODE[mode]] : []), ...(keyRight ? [MISSING_RIGHT[keyRight]] : []), ...(schema.errors ?? [])],
  }
  const extraHeaders: HeaderName[] = [
    ...(traits.isIdempotent ? (['Idempotent-Replayed'] as const) : []),
    ...(hasEtag ? (['ETag'] as const) : []),
    ...(traits.hasBody ? (['Ignored-Fields'] as const) : []),
    ...(deprecated ? (['Deprecation', 'Sunset'] as const) : []),
  ]
  const successes = Object.entries(schema.response ?? {}).map(([status, view]) => [
    status,
    describeSuccess(Number(status), view, extraHeaders, components),
  ])
  return {
    ...{ tags, operationId, summary, description },
    ...(deprecated && describeDeprecation(deprecated, description)),
    security: [{ apiKey: scope ? [scope] : [] }],
    parameters: [
      ...describeParameters('path', params, components),
      ...describeParameters('query', querystring, components),
      ...describeParameters('header', headers, components),
      ...(body ? describeParameters('header', PreferHeader, components) : []),
      ...(hasEtag ? describeParameters('header', IfNoneMatch, components) : []),
    ],
    ...(body && { requestBody: describeBody(body, components) }),
    responses: {
      ...Object.fromEntries(successes),
      ...(hasEtag && { 304: describeNotModified(components) }),
      ...errorResponses(errors, traits, components),
    },
  }
}

function describeParameters(place: Parameter['in'], schema: TSchema | undefined, components: Components): Parameter[] {
  const fields: [string, TSchema][] = Object.entries(schema?.properties ?? {})
  return fields.map(([name, { description, ...field }]) => ({
    name,
    in: place,
    ...(schema?.required?.includes(name) && { required: true }),
    ...(description && { description }),
    ...(field.deprecated && { deprecated: true }),
    // Items separated by commas in a single parameter.
    ...(field.type === 'array' && { style: 'form', explode: false }),
    schema: publishSchema(field, components),
  }))
}

/**
 * The whole body is a component, not only its schema: some client generators treat fields with a default in a referenced schema as required.
 * The body is optional if an empty object is valid.
 */
function describeBody({ [NAME]: name, ...schema }: TSchema, components: Components): object {
  const required = schema.required?.length > 0 || schema.minProperties > 0
  return components.put('requestBodies', name, {
    required,
    content: { 'application/json': { schema: publishSchema(schema, components) } },
  })
}

function describeSuccess(status: number, schema: TSchema, extraHeaders: HeaderName[], components: Components): object {
  const names: HeaderName[] = [
    ...STANDARD_HEADERS,
    ...(status === 201 ? (['Location'] as const) : []),
    ...extraHeaders,
    ...(schema[HEADERS] ?? []),
  ]
  const suffixes = [
    status === 201 && 'Created',
    extraHeaders.includes('ETag') && 'Read',
    extraHeaders.includes('Sunset') && 'Deprecated',
  ]
  const name: string | undefined = schema[NAME] && [schema[NAME], ...suffixes.filter(Boolean)].join('')
  return components.put('responses', name, {
    description: schema.description ?? STATUS_CODES[status],
    headers: describeHeaders(names, components),
    content: describeContent(schema, components),
  })
}

function describeContent({ [MEDIA_TYPES]: types = ['application/json'], ...schema }: TSchema, components: Components) {
  const published = publishSchema(schema, components)
  const isText = (type: string) => type === 'application/json' || type.startsWith('text/')
  return Object.fromEntries(
    types.map((type: string) => [type, { schema: isText(type) ? published : { ...published, format: 'binary' } }]),
  )
}

function describeWebhooks(
  { tag, messages, headers, successDescription, failureDescription }: Webhooks,
  components: Components,
): object {
  const parameters = describeParameters('header', headers, components).map((parameter) =>
    components.put('parameters', `${pascalCase(parameter.name)}Header`, parameter),
  )
  const describe = (name: string, schema: TSchema) => ({
    post: {
      tags: [tag],
      operationId: `receive${pascalCase(name)}`,
      summary: name,
      description: schema.description,
      security: [],
      parameters,
      requestBody: { required: true, content: { 'application/json': { schema: publishSchema(schema, components) } } },
      responses: { '2XX': { description: successDescription }, '4XX': { description: failureDescription } },
    },
  })
  return Object.fromEntries(Object.entries(messages).map(([name, schema]) => [name, describe(name, schema)]))
}

/** Turns parameters that several operations have into components. */
function shareParameters(operations: Operation[], components: Components): void {
  const uses = new Map<string, { parameter: Parameter; operations: Operation[] }>()
  for (const operation of operations) {
    for (const parameter of operation.parameters) {
      if ('$ref' in parameter) continue
      const text = JSON.stringify(parameter)
      uses.set(text, { parameter, operations: [...(uses.get(text)?.operations ?? []), operation] })
    }
  }
  const shared = new Map<string, Parameter | Reference>()
  for (const [text, { parameter, operations }] of uses) {
    if (operations.length === 1) continue
    const name = pascalCase(parameter.name)
    const isFree = components.sections.parameters[name] === undefined
    const ownName = isFree ? name : `${pascalCase(operations[0]!.operationId)}${name}`
    shared.set(text, components.put('parameters', ownName, parameter))
  }
  for (const operation of operations) {
    operation.parameters = operation.parameters.map((parameter) => shared.get(JSON.stringify(parameter)) ?? parameter)
  }
}
