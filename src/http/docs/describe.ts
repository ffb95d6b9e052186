import { STATUS_CODES } from 'node:http'
import { EXAMPLE_ID, exampleOf } from './example.ts'
import {
  type OpenApiDocument,
  type OperationObject,
  type ParameterObject,
  type ResponseObject,
  resolveReference,
  type Schema,
} from './openapi-document.ts'

/** Part of a type. @property object name of an object, for a link. */
export type TypePart = { text: string; object?: string }
/** Parameter, header, or field of an object. */
export type Field = {
  name: string
  type: TypePart[]
  required: boolean
  description: string
  /** Limits, allowed values, and default, in words. */
  rules: string[]
  fields: Field[]
}
export type Parameter = Field & { in: ParameterObject['in']; words: unknown[]; example: string }
type Body = { fields: Field[]; example: string }
type Response = { status: string; reason: string; description: string; headers: Field[]; type: TypePart[]; fields: Field[] }
export type Operation = {
  id: string
  method: string
  path: string
  summary: string
  description: string
  parameters: Parameter[]
  body: Body | null
  responses: Response[]
  /** Body of a success. */
  example: string
  /** Kind of body of a success. */
  answers: 'JSON' | 'a file' | 'nothing'
}

/** Content of an interface's reference, in the order of its OpenAPI document. */
export type Description = {
  title: string
  version: string
  introduction: string
  keyHeader: string
  groups: { name: string; description: string; operations: Operation[] }[]
  objects: { name: string; description: string; type: TypePart[]; fields: Field[]; example: string }[]
}

export function describeDocument(document: OpenApiDocument): Description {
  const { info, components, paths, tags } = document
  const operations = Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({ operation, group: operation.tags[0] ?? '', method, path })),
  )
  const groups = Map.groupBy(operations, ({ group }) => group)
  return {
    title: info.title,
    version: info.version,
    introduction: info.description ?? '',
    keyHeader: components.securitySchemes.apiKey.name,
    groups: [...groups].map(([name, members]) => ({
      name,
      description: tags.find((tag) => tag.name === name)?.description ?? '',
      operations: members.map(({ operation, method, path }) => describeOperation(document, operation, method, path)),
    })),
    objects: Object.entries(components.schemas).map(([name, schema]) => ({
      name,
      description: schema.description ?? '',
      type: schema.oneOf ? describeType(schema) : [],
      fields: describeFields(document, schema),
      example: toJson(exampleOf(document, schema)),
    })),
  }
}

function describeOperation(document: OpenApiDocument, operation: OperationObject, method: string, path: string): Operation {
  const body = operation.requestBody && resolveReference(document, operation.requestBody).content['application/json']
  const responses = Object.entries(operation.responses).map(
    ([status, response]) => [status, resolveReference(document, response)] as const,
  )
  const content = responses.find(([status]) => status.startsWith('2'))?.[1].content
  const success = content?.['application/json']
  return {
    id: operation.operationId,
    method: method.toUpperCase(),
    path,
    summary: operation.summary,
    description: operation.description ?? '',
    parameters: (operation.parameters ?? []).map((parameter) =>
      describeParameter(document, resolveReference(document, parameter)),
    ),
    body: body
      ? { fields: describeFields(document, body.schema), example: toJson(body.example ?? exampleOf(document, body.schema)) }
      : null,
    responses: responses.map(([status, response]) => describeResponse(document, status, response)),
    example: success ? toJson(exampleOf(document, success.schema)) : '',
    answers: success ? 'JSON' : content ? 'a file' : 'nothing',
  }
}

function describeParameter(
  document: OpenApiDocument,
  { name, in: place, required = false, description, schema: shared }: ParameterObject,
): Parameter {
  const schema = resolveReference<Schema>(document, shared)
  return {
    ...describeField(document, name, { ...schema, ...(description !== undefined && { description }) }, required),
    in: place,
    example: String(exampleOf(document, schema) || EXAMPLE_ID),
    words: schema.enum ?? (schema.type === 'boolean' ? ['true', 'false'] : []),
  }
}

function describeResponse(document: OpenApiDocument, status: string, response: ResponseObject): Response {
  const { description = '', headers = {}, content } = response
  const schema = content?.['application/json']?.schema
  const isOk = status.startsWith('2')
  return {
    status,
    reason: STATUS_CODES[status] ?? '',
    description: isOk ? '' : description,
    headers: Object.entries(headers).map(([name, shared]) => {
      const header = resolveReference(document, shared)
      return describeField(document, name, { ...header.schema, ...header }, false)
    }),
    type: schema && !schema.properties ? describeType(schema) : [],
    fields: schema ? describeFields(document, schema) : [],
  }
}

const describeFields = (document: OpenApiDocument, { properties = {}, required = [] }: Schema): Field[] =>
  Object.entries(properties).map(([name, schema]) => describeField(document, name, schema, required.includes(name)))

const describeField = (document: OpenApiDocument, name: string, schema: Schema, required: boolean): Field => ({
  name,
  type: describeType(schema),
  required,
  description: schema.description ?? '',
  rules: describeRules(schema),
  fields: describeFields(document, schema.items ?? schema),
})

function describeType({ $ref, anyOf, oneOf, type = [], items, format }: Schema): TypePart[] {
  if ($ref !== undefined) return [objectNamed($ref)]
  const choices = anyOf ?? oneOf
  if (choices) return choices.flatMap((schema, i) => [...(i > 0 ? [{ text: ' or ' }] : []), ...describeType(schema)])
  if (type === 'array') return [{ text: 'array of ' }, ...describeType(items ?? {})]
  return [{ text: [type].flat().join(' or ') + (format === undefined ? '' : ` (${format})`) }]
}

function objectNamed($ref: string): TypePart {
  const name = $ref.slice($ref.lastIndexOf('/') + 1)
  return { text: name, object: name }
}

function describeRules({ minimum, maximum, maxLength, maxItems, enum: words, default: preset }: Schema): string[] {
  return [
    words && `one of ${words.join(', ')}`,
    describeRange(minimum, maximum),
    maxLength !== undefined && `at most ${maxLength} characters`,
    maxItems !== undefined && `at most ${maxItems} items`,
    preset !== undefined && typeof preset !== 'object' && `default ${preset}`,
  ].filter((rule) => typeof rule === 'string')
}

function describeRange(minimum: number | undefined, maximum: number | undefined): string | undefined {
  if (minimum !== undefined && maximum !== undefined) return `${minimum} to ${maximum}`
  if (minimum !== undefined) return `at least ${minimum}`
  return maximum === undefined ? undefined : `at most ${maximum}`
}

const toJson = (value: unknown): string => JSON.stringify(value, null, 2)
