import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js'
import addFormats from 'ajv-formats'
import type { KeyScope } from '../../src/domain/authorization/permissions.ts'
import type { Service } from './service.ts'

export type InterfaceName = 'v1' | 'alternate'
type Reference = { $ref: string }
type Named = Record<string, unknown>
type Content = { 'application/json': { schema: Named } }
export type Response = { description?: string; headers: Record<string, object>; content: Content }
export type Parameter = { name: string; in: 'path' | 'query' | 'header'; required?: boolean; description?: string; schema: Named }
export type OperationObject = {
  operationId: string
  tags: string[]
  description?: string
  parameters?: (Parameter | Reference)[]
  requestBody?: { required: boolean; content: Content } | Reference
  responses: Record<string, Response | Reference>
  security: { apiKey: KeyScope[] }[]
}
export type OpenApiDocument = {
  openapi: string
  info: { version: string }
  servers: { url: string }[]
  tags: { name: string; description?: string }[]
  security: object[]
  paths: Record<string, Record<string, OperationObject>>
  webhooks: Record<string, Record<string, OperationObject>>
  components: {
    securitySchemes: object
    schemas: Record<string, { properties?: object; required?: string[]; examples?: unknown[] }>
    requestBodies: Record<string, { content: Content }>
    responses: Record<string, Response>
    headers: Record<string, { description?: string }>
  }
}

export const readDocument = async (service: Service, name: InterfaceName): Promise<OpenApiDocument> =>
  (await service.http().get(`/docs/${name}/openapi.json`)).body

/** Resolves a reference to its component. */
export function follow<Node extends object>(document: OpenApiDocument, node: Node | Reference): Node {
  if (!('$ref' in node)) return node
  const parts = (node.$ref as string).split('/').slice(1)
  return parts.reduce((found: unknown, part) => (found as Named)[part], document) as Node
}

/** Returns the names of the fields that are in every response: all except those whose description says that they may be missing. */
export const alwaysThere = (properties: object): string[] =>
  Object.entries<{ description?: string }>({ ...properties })
    .flatMap(([name, { description = '' }]) => (description.includes('Only there if it was given.') ? [] : [name]))
    .sort()

/** Finds the schema of an operation's response; undefined if the document has none. @param path written as in the document. */
export type FindSchema = (method: string, path: string, status: number, type?: string) => ValidateFunction | undefined

/** Compiles the schemas of responses in the published document of one interface. */
export async function compileDocument(service: Service, name: InterfaceName): Promise<FindSchema> {
  const ajv = new Ajv2020({ strict: false, allErrors: true })
  ;(addFormats as unknown as (ajv: Ajv2020) => void)(ajv)
  const document = await readDocument(service, name)
  ajv.addSchema(document, name)
  return (method, path, status, type = 'application/json') => {
    const response = document.paths[path]?.[method]?.responses[status]
    if (!response) return undefined
    const place = '$ref' in response ? response.$ref : pointerTo(['paths', path, method, 'responses', String(status)])
    return ajv.getSchema(`${name}${place}${pointerTo(['content', type, 'schema']).slice(1)}`)
  }
}

const pointerTo = (parts: string[]) =>
  `#${encodeURI(parts.map((part) => `/${part.replaceAll('~', '~0').replaceAll('/', '~1')}`).join(''))}`
