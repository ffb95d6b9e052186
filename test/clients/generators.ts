import { writeFile } from 'node:fs/promises'
import { createClient } from '@hey-api/openapi-ts'
import openapiTypescript, { astToString } from 'openapi-typescript'
import { generate as orval } from 'orval'

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
}
export type Answer = { status: number; body: object }
/** How the program reaches the service. */
export type Access = { address: string; keyHeader: string; key: string }

/** Makes a client of an OpenAPI document, and the text of a program that calls it. */
export type Generator = {
  /** @param documentUrl where the service publishes the document. @param folder where the client is to be. */
  generate: (documentUrl: string, folder: string) => Promise<void>
  /** The program's beginning. */
  open: (access: Access) => string
  /** An expression that resolves to the {@link Answer}, and throws when its body doesn't fit the generated schema. */
  call: (call: Call, access: Access) => string
}

const text = (value: unknown) => JSON.stringify(value)
const pascal = (name: string) => name.replace(/^./, (letter) => letter.toUpperCase())
/** The members that there are, as an object's text. */
const object = (members: Record<string, unknown>) =>
  text(
    Object.fromEntries(Object.entries(members).filter(([, value]) => value !== undefined && Object.keys(value ?? {}).length > 0)),
  )

/** Types alone: what they say of a call is checked when the program is compiled. */
const openapiTypescriptAndFetch: Generator = {
  async generate(documentUrl, folder) {
    await writeFile(`${folder}/document.ts`, astToString(await openapiTypescript(new URL(documentUrl))))
  },
  open: ({ address, keyHeader, key }) => `
    import createClient from 'openapi-fetch'
    import type { paths } from './document.ts'
    const client = createClient<paths>({
      baseUrl: ${text(address)},
      headers: { ${text(keyHeader)}: ${text(key)} },
      querySerializer: { array: { style: 'form', explode: false } },
    })
    const answerOf = async (call: Promise<{ data?: object; response: Response }>) => {
      const { data, response } = await call
      return { status: response.status, body: data }
    }`,
  call: ({ method, path, pathParameters, query, headers, body }) =>
    `answerOf(client.${method}(${text(path)}, { params: ${object({ path: pathParameters, query, header: headers })}${body ? `, body: ${text(body)}` : ''} }))`,
}

/** Functions that hold requests and answers to zod schemas by themselves. */
const heyApi: Generator = {
  async generate(documentUrl, folder) {
    await createClient({
      input: documentUrl,
      output: { path: `${folder}/client`, module: { extension: '.ts' } },
      logs: { level: 'silent', file: false },
      plugins: ['@hey-api/typescript', '@hey-api/client-fetch', 'zod', { name: '@hey-api/sdk', validator: 'zod' }],
    })
  },
  open: ({ key }) => `
    import { client } from './client/client.gen.ts'
    import * as sdk from './client/sdk.gen.ts'
    client.setConfig({ auth: () => ${text(key)}, throwOnError: true })
    const answerOf = async (call: Promise<{ data: object; response: Response }>) => {
      const { data, response } = await call
      return { status: response.status, body: data }
    }`,
  call: ({ operationId, pathParameters, query, headers, body }) =>
    `answerOf(sdk.${operationId}({ ...${object({ path: pathParameters, query, headers, body })}, throwOnError: true }))`,
}

/** Functions that take their parts one by one, and zod schemas beside them. */
const orvalFetchAndZod: Generator = {
  async generate(documentUrl, folder) {
    const input = { target: documentUrl }
    const baseUrl = { getBaseUrlFromSpecification: true as const }
    const client = { target: `${folder}/client.ts`, schemas: `${folder}/model`, client: 'fetch' as const, headers: true, baseUrl }
    const quietly = { logLevel: 'error' as const }
    await orval({ input, output: client }, undefined, quietly)
    await orval({ input, output: { target: `${folder}/zod.ts`, client: 'zod' } }, undefined, quietly)
  },
  open: () => `
    import * as api from './client.ts'
    import * as zod from './zod.ts'
    const answerOf = async (call: Promise<{ status: number; data: unknown }>, schema: { parse: (body: unknown) => unknown }) => {
      const { status, data } = await call
      return { status, body: schema.parse(data) }
    }`,
  call({ operationId, pathParameters, query, headers, body }, { keyHeader, key }) {
    const bodyText = body && `zod.${pascal(operationId)}Body.parse(${text(body)})`
    const parts = [...Object.values(pathParameters).map(text), bodyText, query && text(query), headers && text(headers)]
    const options = text({ headers: { [keyHeader]: key } })
    return `answerOf(api.${operationId}(${[...parts.filter((part) => part !== undefined), options].join(', ')}), zod.${pascal(operationId)}Response)`
  },
}

export const generators = { openapiTypescriptAndFetch, heyApi, orvalFetchAndZod }
