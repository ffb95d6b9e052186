import { createClient } from '@hey-api/openapi-ts'

/** One call of an operation. Parts that the operation doesn't have are empty or undefined. */
export type Call = {
  operationId: string
  /** In upper case. */
  method: string
  path: string
  pathParameters: Record<string, string>
  query: Record<string, unknown> | undefined
  headers: Record<string, string> | undefined
  body: object | undefined
  /** API key, if it differs from the program's. */
  key?: string | undefined
}
/** @property type media type without parameters. */
export type Answer = { status: number; type: string; body: object | string }

const text = (value: unknown) => JSON.stringify(value)
/** Formats an object literal, without empty members. */
const object = (members: Record<string, unknown>) =>
  text(
    Object.fromEntries(Object.entries(members).filter(([, value]) => value !== undefined && Object.keys(value ?? {}).length > 0)),
  )

/**
 * Generates a client from an OpenAPI document. Its functions validate requests and responses with zod schemas.
 *
 * @param documentUrl URL of the document. @param folder output folder.
 */
export async function generateClient(documentUrl: string, folder: string): Promise<void> {
  await createClient({
    input: documentUrl,
    output: { path: `${folder}/client`, module: { extension: '.ts' } },
    logs: { level: 'silent', file: false },
    plugins: ['@hey-api/typescript', '@hey-api/client-fetch', 'zod', { name: '@hey-api/sdk', validator: 'zod' }],
  })
}

/** The beginning of a program that uses the client. @param key API key. */
export const writeOpening = (key: string): string => `
  import { client } from './client/client.gen.ts'
  import * as sdk from './client/sdk.gen.ts'
  client.setConfig({ auth: () => ${text(key)}, throwOnError: true })
  const answerOf = async (call: Promise<{ data: object | string; response: Response }>) => {
    const { data, response } = await call
    const [type] = response.headers.get('content-type')!.split(';')
    return { status: response.status, type: type!, body: data }
  }`

/** An expression that resolves to the {@link Answer}, and throws if the body doesn't match the generated schema. */
export const writeCall = ({ operationId, pathParameters, query, headers, body, key }: Call): string => {
  const auth = key === undefined ? '' : `auth: () => ${text(key)}, `
  return `answerOf(sdk.${operationId}({ ...${object({ path: pathParameters, query, headers, body })}, ${auth}throwOnError: true }))`
}
