/** Parts of an OpenAPI 3.1 document that the reference shows. */
export type OpenApiDocument = {
  info: { title: string; version: string; description?: string }
  tags: { name: string; description: string }[]
  paths: Record<string, Record<string, OperationObject>>
  components: { securitySchemes: { apiKey: { name: string } }; schemas: Record<string, Schema> }
}

type SharedComponents<T> = T | { $ref: string }

export type OperationObject = {
  operationId: string
  summary: string
  description?: string
  tags: string[]
  parameters?: SharedComponents<ParameterObject>[]
  requestBody?: SharedComponents<{ content: Content }>
  responses: Record<string, SharedComponents<ResponseObject>>
}

export type ParameterObject = {
  name: string
  in: 'path' | 'query' | 'header'
  required?: boolean
  description?: string
  schema: Schema
}
export type ResponseObject = { description?: string; headers?: Record<string, SharedComponents<HeaderObject>>; content?: Content }
type HeaderObject = { description?: string; schema: Schema }
type Content = Record<string, { schema: Schema; example?: unknown }>

/** Resolves a reference. */
export function resolveReference<T extends object>(document: OpenApiDocument, node: SharedComponents<T>): T {
  if (!('$ref' in node)) return node
  const [section = '', name = ''] = node.$ref.split('/').slice(-2)
  return (document.components as Record<string, Record<string, object>>)[section]?.[name] as T
}

export type Schema = {
  $ref?: string
  anyOf?: Schema[]
  oneOf?: Schema[]
  type?: string | string[]
  format?: string
  description?: string
  properties?: Record<string, Schema>
  required?: string[]
  items?: Schema
  enum?: unknown[]
  default?: unknown
  minimum?: number
  maximum?: number
  maxLength?: number
  maxItems?: number
  examples?: unknown[]
}
