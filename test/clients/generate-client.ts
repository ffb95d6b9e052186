import { createClient } from '@hey-api/openapi-ts'

/** One call of an operation; every part is there only where the operation has it. */
export type Call = {
  operationId: string
  /** In capitals. */
  method: string
  path: string
  pathParameters: Record<string, string>
  query: Record<string, unknown> | undefined
  headers: Record<string, string> | undefined
  body: object | undefined
  /** The API key, where it is another than the program's. */
  key?: string | undefined
}
/** @property type of the media, without parameters. */
export type Answer = { status: number; type: string; body: object | string }

const text = (value: unknown) => JSON.stringify(value)
/** The members that there are, as an object's text. */
const object = (members: Record<string, unknown>) =>
  text(
    Object.fromEntries(Object.entries(members).filter(([, value]) => value !== undefined && Object.keys(value ?? {}).length > 0)),
  )

/**
 * Makes a client of an OpenAPI document: functions that hold requests and answers to zod schemas by themselves.
 *
 * @param documentUrl where the service publishes the document. @param folder where the client is to be.
 */
export async function generateClient(documentUrl: string, folder: string): Promise<void> {
  await createClient({
    input: documentUrl,
    output: { path: `${folder}/client`, module: { extension: '.ts' } },
    logs: { level: 'silent', file: false },
    plugins: ['@hey-api/typescript', '@hey-api/client-fetch', 'zod', { name: '@hey-api/sdk', validator: 'zod' }],
  })
}

/** The beginning of a program that uses the client. @param key of the API. */
export const writeOpening = (key: string): string => `
  import { client } from './client/client.gen.ts'
  import * as sdk from './client/sdk.gen.ts'
  client.setConfig({ auth: () => ${text(key)}, throwOnError: true })
  const answerOf = async (call: Promise<{ data: object | string; response: Response }>) => {
    const { data, response } = await call
    const [type] = response.headers.get('content-type')!.split(';')
    return { status: response.status, type: type!, body: data }
  }`

/** An expression that resolves to the {@link StoredResponse}, and throws when its body doesn't fit the generated schema. */
export const writeCall = ({ operationId, pathParameters, query, headers, body, key }: Call): string => {
  const auth = key === undefined ? '' : `auth: () => ${text(key)}, `
  return `answerOf(sdk.${operationId}({ ...${object({ path: pathParameters, query, headers, body })}, ${auth}throwOnError: true }))`
}
