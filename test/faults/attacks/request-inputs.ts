import { type FieldSchema, KEY_HEADERS, type Operation } from '../../support/operations.ts'
import { fillBody, fillPath, type SampleOrganization } from '../../support/sample-organization.ts'

const wantsId = ({ format, items }: FieldSchema) => format === 'uuid' || items?.format === 'uuid'

/** A parameter or body field of an operation that accepts an id or a search. `send` sends a request with this value. */
export type RequestInput = { name: string; send: (value: string) => Promise<string> }

export type RequestInputs = ReturnType<typeof createRequestInputs>

/** Lists the parameters and body fields in which a request names rows. @param own provides the key and all other values. */
export function createRequestInputs(address: string, own: SampleOrganization) {
  /** Returns the whole response without times, request counters, and repetitions of the value in `hidden`. */
  async function send(
    { method, interface: of }: Operation,
    target: string,
    body: object | null,
    hidden: string,
  ): Promise<string> {
    const response = await fetch(`${address}${target}`, {
      method: method.toUpperCase(),
      headers: { [KEY_HEADERS[of]]: own.key, ...(body && { 'content-type': 'application/json' }) },
      ...(body && { body: JSON.stringify(body) }),
    })
    const headers = [...response.headers].filter(([name]) => !/^(date|x-request-id|events-cursor|ratelimit-.*)$/.test(name))
    const text = JSON.stringify([response.status, headers, await response.text()])
    return [hidden, encodeURIComponent(hidden), new URLSearchParams({ '': hidden }).toString().slice(1)].reduce(
      (visible, spelling) => visible.replaceAll(spelling, '{asked for}'),
      text,
    )
  }

  function pathInputs(operation: Operation): RequestInput[] {
    return operation.parameters
      .filter((parameter) => parameter.in === 'path')
      .map(({ name }) => ({
        name: `${operation.method} ${operation.path}, ${name}`,
        send: (id) => {
          const target = fillPath(operation.path.replace(`{${name}}`, id), own)
          return send(operation, target, operation.body && fillBody(operation.body, own), id)
        },
      }))
  }

  const queryInputs = (operation: Operation): RequestInput[] =>
    operation.parameters
      .filter((parameter) => parameter.in === 'query')
      .map(({ name }) => ({
        name: `${operation.method} ${operation.path}?${name}`,
        send: (value) => send(operation, `${fillPath(operation.path, own)}?${name}=${encodeURIComponent(value)}`, null, value),
      }))

  function bodyInputs(operation: Operation): RequestInput[] {
    const fields = Object.entries(operation.body ?? {}).filter(([, schema]) => wantsId(schema))
    return fields.map(([name, { items }]) => ({
      name: `${operation.method} ${operation.path}, ${name} of the body`,
      send: (id) =>
        send(operation, fillPath(operation.path, own), { ...fillBody(operation.body!, own), [name]: items ? [id] : id }, id),
    }))
  }

  const of = (operation: Operation) => [...pathInputs(operation), ...queryInputs(operation), ...bodyInputs(operation)]
  return { of, inQuery: queryInputs, send }
}
