import type { KeyScope } from '../../src/domain/authorization/permissions.ts'
import { compileDocument, follow, type InterfaceName, type OperationObject, readDocument } from './openapi.ts'
import type { Service } from './service.ts'

export type FieldSchema = {
  type?: string | string[]
  format?: string
  enum?: string[]
  pattern?: string
  minimum?: number
  maximum?: number
  maxLength?: number
  maxItems?: number
  properties?: Record<string, FieldSchema>
  items?: FieldSchema
  anyOf?: FieldSchema[]
  examples?: object[]
}
export type Parameter = { name: string; in: 'path' | 'query' | 'header'; schema: FieldSchema }

/** One operation of a published document. */
export type Operation = {
  interface: InterfaceName
  id: string
  method: string
  /** Path as written in the document, including the prefix. */
  path: string
  parameters: Parameter[]
  /** Fields of the body; null if the operation takes no body. */
  body: Record<string, FieldSchema> | null
  /** Example of a body in the document. */
  example: object | null
  scope: KeyScope
  /** True if it requires a test key. */
  isForTests: boolean
  /** True if it requires a live key. */
  isForLive: boolean
  /** True if it requires a key with the right to manage. */
  needsManage: boolean
  /** Validates a response. @returns null if the document has this status and the body matches its schema; otherwise the problem. */
  findFault: (status: number, body: unknown, type?: string) => string | null
}

export const KEY_HEADERS: Record<InterfaceName, string> = { v1: 'x-api-key', alternate: 'x-service-docs-api-key' }

/** Reads every operation of both interfaces from their published documents, which include new routes automatically. */
export async function readOperations(service: Service): Promise<Operation[]> {
  const names = ['v1', 'alternate'] as const
  return (await Promise.all(names.map((name) => readInterface(service, name)))).flat()
}

export async function readInterface(service: Service, name: InterfaceName): Promise<Operation[]> {
  const document = await readDocument(service, name)
  const findSchema = await compileDocument(service, name)
  const schemaOf = (node: object): FieldSchema => follow(document, node)
  const describeBody = ({ requestBody }: OperationObject): Pick<Operation, 'body' | 'example'> => {
    if (!requestBody) return { body: null, example: null }
    const { properties = {}, examples = [] } = schemaOf(follow(document, requestBody).content['application/json'].schema)
    const body = Object.entries(properties).map(([field, schema]) => [field, schemaOf(schema)])
    return { body: Object.fromEntries(body), example: examples[0] ?? null }
  }
  const mayRefuse = ({ responses }: OperationObject, code: string) =>
    JSON.stringify(follow(document, responses[403] ?? {})).includes(`"${code}"`)
  return Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({
      interface: name,
      id: operation.operationId,
      method,
      path,
      parameters: (operation.parameters ?? []).map((node) => {
        const parameter = follow(document, node)
        const schema = schemaOf(parameter.schema)
        return { ...parameter, schema: schema.items ? { ...schema, items: schemaOf(schema.items) } : schema }
      }),
      ...describeBody(operation),
      scope: operation.security[0]!.apiKey[0]!,
      isForTests: mayRefuse(operation, 'test_key_required'),
      isForLive: mayRefuse(operation, 'live_key_required'),
      needsManage: mayRefuse(operation, 'manage_required'),
      findFault: (status: number, body: unknown, type?: string) => {
        const validate = findSchema(method, path, status, type)
        if (!validate) return `${method} ${path} does not document ${status} of ${type ?? 'JSON'}`
        if (validate(body)) return null
        return (validate.errors ?? []).map(({ instancePath, message }) => `${instancePath} ${message}`).join(', ')
      },
    })),
  )
}
