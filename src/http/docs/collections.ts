import type { Description, Operation, Parameter } from './describe.ts'

/**
 * A Bruno collection of an interface (Bruno's import format, JSON, version 1): a folder per group, bodies with examples, and an environment
 * with the service's address, the API key, and the ids in paths.
 *
 * @param origin address of the service.
 */
export function toBruno({ title, introduction, keyHeader, groups }: Description, origin: string): object {
  const request = { auth: { mode: 'apikey', apikey: { key: keyHeader, value: asVariable('apiKey'), placement: 'header' } } }
  return {
    ...{ version: '1', name: title },
    items: groups.map((group, i) => ({ type: 'folder', name: group.name, seq: i + 1, items: toBrunoItems(group.operations) })),
    environments: [
      {
        name: 'Service',
        variables: [
          toBrunoVariable('baseUrl', origin),
          { ...toBrunoVariable('apiKey', ''), secret: true },
          ...idsInPaths(groups).map((name) => toBrunoVariable(name, '')),
        ],
      },
    ],
    root: { request, docs: introduction },
    brunoConfig: { version: '1', name: title, type: 'collection', ignore: [] },
  }
}

/** Bruno stores each request in a file of its name, so names must be unique. */
function toBrunoItems(operations: Operation[]): object[] {
  const summaries = operations.map(({ summary }) => summary)
  return operations.map((operation, i) => {
    const isRepeated = summaries.indexOf(operation.summary) < i
    const name = isRepeated ? `${operation.summary} (${operation.id})` : operation.summary
    return { type: 'http', name, seq: i + 1, request: toBrunoRequest(operation) }
  })
}

/** Optional parameters are included, but disabled. */
const toBrunoRequest = ({ method, path, description, parameters, body }: Operation) => ({
  url: asVariable('baseUrl') + withColons(path),
  method,
  headers: parametersIn('header', parameters).map(({ name }) => ({ name, value: '', enabled: false })),
  params: [
    ...parametersIn('path', parameters).map(({ name }) => ({ name, value: asVariable(name), type: 'path', enabled: true })),
    ...parametersIn('query', parameters).map(({ name, words }) => ({
      ...{ name, value: String(words[0] ?? ''), type: 'query', enabled: false },
    })),
  ],
  auth: { mode: 'inherit' },
  body: body ? { mode: 'json', json: body.example } : { mode: 'none' },
  docs: description,
})

const toBrunoVariable = (name: string, value: string) => ({ name, value, type: 'text', enabled: true, secret: false })

/**
 * A Postman collection of an interface (format v2.1.0): a folder per group, bodies with examples, and variables for the service's address, the
 * API key, and the ids in paths.
 *
 * @param origin address of the service.
 */
export function toPostman({ title, introduction, keyHeader, groups }: Description, origin: string): object {
  const key = Object.entries({ key: keyHeader, value: asVariable('apiKey'), in: 'header' })
  return {
    info: {
      name: title,
      description: introduction,
      schema: 'https://schema.getpostman.com/json/collection/v2.1.0/collection.json',
    },
    auth: { type: 'apikey', apikey: key.map(([name, value]) => ({ key: name, value, type: 'string' })) },
    variable: [
      { key: 'baseUrl', value: origin },
      { key: 'apiKey', value: '', type: 'secret' },
      ...idsInPaths(groups).map((name) => ({ key: name, value: '' })),
    ],
    item: groups.map(({ name, description, operations }) => ({ name, description, item: operations.map(toPostmanItem) })),
  }
}

/** Optional parameters are included, but disabled. */
const toPostmanItem = ({ summary, method, path, description, parameters, body }: Operation) => ({
  name: summary,
  request: {
    method: method.toUpperCase(),
    description,
    header: parametersIn('header', parameters).map((parameter) => ({ key: parameter.name, value: '', disabled: true })),
    url: {
      raw: asVariable('baseUrl') + withColons(path),
      host: [asVariable('baseUrl')],
      path: withColons(path).split('/').slice(1),
      query: parametersIn('query', parameters).map((parameter) => ({
        ...{ key: parameter.name, value: String(parameter.words[0] ?? ''), disabled: true },
      })),
      variable: parametersIn('path', parameters).map((parameter) => ({ key: parameter.name, value: asVariable(parameter.name) })),
    },
    ...(body && { body: { mode: 'raw', raw: body.example, options: { raw: { language: 'json' } } } }),
  },
})

const idsInPaths = (groups: Description['groups']): string[] => [
  ...new Set(
    groups
      .flatMap(({ operations }) => operations)
      .flatMap(({ parameters }) => parametersIn('path', parameters).map(({ name }) => name)),
  ),
]

const withColons = (path: string) => path.replaceAll(/\{(\w+)\}/g, ':$1')
const parametersIn = (place: Parameter['in'], parameters: Parameter[]) => parameters.filter((parameter) => parameter.in === place)
const asVariable = (name: string) => `{{${name}}}`
