import type { Description, Operation, Parameter } from './describe.ts'

/**
 * A Bruno collection of an interface (Bruno's import format, JSON, version 1): a folder per group, bodies with examples, and an environment
 * with the service's address, the API key, and the ids in paths.
 *
 * @param origin address of the service.
 */
export function toBruno({ title, introduction, keyHeader, groups }: Description, origin: string): object {
  const operations = groups.flatMap((group) => group.operations)
  const ids = operations.flatMap(({ parameters }) => toFileName('path', parameters).map(({ name }) => name))
  const request = { auth: { mode: 'apikey', apikey: { key: keyHeader, value: asVariable('apiKey'), placement: 'header' } } }
  return {
    ...{ version: '1', name: title },
    items: groups.map((group, i) => ({ type: 'folder', name: group.name, seq: i + 1, items: toItems(group.operations) })),
    environments: [
      {
        name: 'Service',
        variables: [
          toVariable('baseUrl', origin),
          { ...toVariable('apiKey', ''), secret: true },
          ...[...new Set(ids)].map((name) => toVariable(name, '')),
        ],
      },
    ],
    root: { request, docs: introduction },
    brunoConfig: { version: '1', name: title, type: 'collection', ignore: [] },
  }
}

/** Bruno stores each request in a file of its name, so names must be unique. */
function toItems(operations: Operation[]): object[] {
  const summaries = operations.map(({ summary }) => summary)
  return operations.map((operation, i) => {
    const isRepeated = summaries.indexOf(operation.summary) < i
    const name = isRepeated ? `${operation.summary} (${operation.id})` : operation.summary
    return { type: 'http', name, seq: i + 1, request: toRequest(operation) }
  })
}

/** Optional parameters are included, but disabled. */
const toRequest = ({ method, path, description, parameters, body }: Operation) => ({
  url: asVariable('baseUrl') + path.replaceAll(/\{(\w+)\}/g, ':$1'),
  method,
  headers: toFileName('header', parameters).map(({ name }) => ({ name, value: '', enabled: false })),
  params: [
    ...toFileName('path', parameters).map(({ name }) => ({ name, value: asVariable(name), type: 'path', enabled: true })),
    ...toFileName('query', parameters).map(({ name, words }) => ({
      ...{ name, value: String(words[0] ?? ''), type: 'query', enabled: false },
    })),
  ],
  auth: { mode: 'inherit' },
  body: body ? { mode: 'json', json: body.example } : { mode: 'none' },
  docs: description,
})

const toFileName = (place: Parameter['in'], parameters: Parameter[]) => parameters.filter((parameter) => parameter.in === place)
const asVariable = (name: string) => `{{${name}}}`
const toVariable = (name: string, value: string) => ({ name, value, type: 'text', enabled: true, secret: false })
