/** The parts of an OpenAPI 3.1 document that the page shows. */
export type OpenApiDocument = {
  info: { title: string; version: string; description?: string }
  paths: Record<string, Record<string, OperationObject>>
  components: { securitySchemes: { apiKey: { name: string } }; schemas: Record<string, Schema> }
}

export type OperationObject = {
  operationId: string
  summary: string
  description?: string
  tags: string[]
  parameters?: ParameterObject[]
  requestBody?: { content: Content }
  responses: Record<string, ResponseObject>
}

export type ParameterObject = {
  name: string
  in: 'path' | 'query' | 'header'
  required?: boolean
  description?: string
  schema: Schema
}
export type ResponseObject = { description?: string; headers?: Record<string, HeaderObject>; content?: Content }
type HeaderObject = { description?: string; schema: Schema }
type Content = Record<string, { schema: Schema; example?: unknown }>

export type Schema = {
  $ref?: string
  anyOf?: Schema[]
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
