import { Ajv2020 } from 'ajv/dist/2020.js'
import addFormats from 'ajv-formats'
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
}
export type Parameter = { name: string; in: 'path' | 'query' | 'header'; schema: FieldSchema }
export type InterfaceName = 'v1' | 'alternate'

/** One operation of a published document. */
export type Operation = {
  interface: InterfaceName
  method: string
  /** As the document writes it, prefix included. */
  path: string
  parameters: Parameter[]
  /** Fields of the body, and the example of one; null when it takes none. */
  body: Record<string, FieldSchema> | null
  /** What is wrong with an answer; null when the document has this status and the answer its shape. */
  findFault: (status: number, body: unknown) => string | null
}

export const KEY_HEADERS: Record<InterfaceName, string> = { v1: 'x-api-key', alternate: 'x-service-docs-api-key' }

type DocumentedOperation = {
  parameters?: Parameter[]
  requestBody?: { content: { 'application/json': { schema: { properties: Record<string, FieldSchema> } } } }
}

/** Every operation of both interfaces, as they are published: a new route is there by itself. */
export async function readOperations(service: Service): Promise<Operation[]> {
  const names = ['v1', 'alternate'] as const
  return (await Promise.all(names.map((name) => readDocument(service, name)))).flat()
}

async function readDocument(service: Service, name: InterfaceName): Promise<Operation[]> {
  const ajv = new Ajv2020({ strict: false, allErrors: true })
  ;(addFormats as unknown as (ajv: Ajv2020) => void)(ajv)
  const { body: document } = await service.http().get(`/docs/${name}/openapi.json`)
  ajv.addSchema(document, name)
  const paths: [string, Record<string, DocumentedOperation>][] = Object.entries(document.paths)
  return paths.flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, { parameters = [], requestBody }]) => ({
      interface: name,
      method,
      path,
      parameters,
      body: requestBody?.content['application/json'].schema.properties ?? null,
      findFault: (status: number, body: unknown) => {
        const validate = ajv.getSchema(`${name}#${pointerTo(['paths', path, method, 'responses', String(status)])}`)
        if (!validate) return `${method} ${path} does not document ${status}`
        return validate(body) ? null : ajv.errorsText(validate.errors)
      },
    })),
  )
}

const pointerTo = (parts: string[]) =>
  encodeURI(
    [...parts, 'content', 'application/json', 'schema']
      .map((part) => `/${part.replaceAll('~', '~0').replaceAll('/', '~1')}`)
      .join(''),
  )
