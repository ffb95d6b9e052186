import fc from 'fast-check'
import { anyJson, anyText, hostileText, percentEncode } from './hostile-values.ts'
import type { FieldSchema, Operation, Parameter } from './operations.ts'

/** @property target path and query. @property headers all headers except the API key. @property body text of the body. */
export type GeneratedRequest = { target: string; headers: Record<string, string>; body: string | undefined }

/** Returns existing ids for a path segment, parameter, or field of this name. */
export type KnownIds = (name: string) => string[]

/** Generates requests to an operation: some are valid, most are slightly invalid, and some are entirely invalid. */
export function requestsTo(operation: Operation, ids: KnownIds): fc.Arbitrary<GeneratedRequest> {
  const query = fc
    .subarray(operation.parameters.filter((parameter) => parameter.in === 'query'))
    .chain((some) => fc.tuple(...some.map(({ name, schema }) => fc.tuple(fc.constant(name), parameterValue(name, schema, ids)))))
  const strange = fc.option(fc.tuple(hostileText, hostileText), { freq: 5, nil: undefined })
  const target = fc.tuple(pathOf(operation, ids), query, strange).map(([path, known, unknown]) => {
    const pairs = [...known, ...(unknown ? [unknown] : [])].map(
      ([name, value]) => `${percentEncode(name)}=${percentEncode(value)}`,
    )
    return pairs.length > 0 ? `${path}?${pairs.join('&')}` : path
  })
  const body = operation.method === 'get' ? fc.constant(undefined) : bodyOf(operation, ids)
  return fc.tuple(target, headersOf(operation.parameters), body).map(([target, headers, body]) => ({
    target,
    headers: { ...(body !== undefined && { 'content-type': 'application/json' }), ...headers },
    body,
  }))
}

/** Generates a path. Most ids in it exist, because a request with an unknown id is rejected before its other parts are read. */
function pathOf({ path, method }: Operation, ids: KnownIds): fc.Arbitrary<string> {
  const weight = method === 'delete' ? 1 : 6
  const parts = path.split('/').map((part, i, all) => {
    if (!part.startsWith('{')) return fc.constant(part)
    const hostile = anyText.map((text) => percentEncode(text.slice(0, 300)) || '%20')
    return fc.oneof({ weight, arbitrary: fc.constantFrom(...ids(all[i - 1]!)) }, { weight: 1, arbitrary: hostile })
  })
  return fc.tuple(...parts).map((filled) => filled.join('/'))
}

const parameterValue = (name: string, schema: FieldSchema, ids: KnownIds): fc.Arbitrary<string> =>
  fc.oneof(parameterText(name, schema, ids), hostileText)

const parameterText = (name: string, { type, items, ...schema }: FieldSchema, ids: KnownIds): fc.Arbitrary<string> =>
  type === 'array' && items
    ? fc.array(validValue(name, items, ids), { minLength: 1, maxLength: 3 }).map((values) => values.join(','))
    : validValue(name, { ...schema, ...(type && { type }) }, ids).map((value) => String(value))

function bodyOf({ body: fields }: Operation, ids: KnownIds): fc.Arbitrary<string | undefined> {
  if (!fields) return fc.option(fc.oneof(fc.constant('{}'), anyJson), { freq: 1, nil: undefined })
  const members = fc.tuple(
    ...Object.entries(fields).map(([name, schema]) => {
      const valid = fieldValue(name, schema, ids).map((value) => JSON.stringify(value))
      const json = fc.oneof({ weight: 12, arbitrary: valid }, { weight: 1, arbitrary: anyJson })
      return fc.option(
        json.map((text) => `${JSON.stringify(name)}:${text}`),
        { freq: 15, nil: undefined },
      )
    }),
  )
  const extra = fc.option(
    fc.tuple(hostileText, anyJson).map(([name, json]) => `${JSON.stringify(name)}:${json}`),
    { freq: 4, nil: undefined },
  )
  const object = fc
    .tuple(members, extra)
    .map(([some, one]) => `{${[...some, one].filter((member) => member !== undefined).join(',')}}`)
  return fc.oneof({ weight: 12, arbitrary: object }, { weight: 1, arbitrary: fc.oneof(anyJson, anyText) })
}

function headersOf(parameters: Parameter[]): fc.Arbitrary<Record<string, string>> {
  const visible = fc.string({ minLength: 1, maxLength: 300 }).map((text) => text.replaceAll(/[^\x20-\x7e]/g, '?'))
  const documented = parameters.filter((parameter) => parameter.in === 'header').map(({ name }) => name)
  const names = [
    'content-type',
    'accept',
    'x-request-id',
    'x-forwarded-for',
    'x-forwarded-host',
    'x-http-method-override',
    'cookie',
  ]
  const pairs = fc.array(fc.tuple(fc.constantFrom(...documented, ...documented, ...names), visible), { maxLength: 2 })
  return fc.oneof(
    { weight: 4, arbitrary: fc.constant({}) },
    { weight: 1, arbitrary: pairs.map((all) => Object.fromEntries(all)) },
  )
}

function fieldValue(name: string, schema: FieldSchema, ids: KnownIds): fc.Arbitrary<unknown> {
  const types = [schema.type].flat()
  const value = types.includes('object')
    ? fc.record(
        Object.fromEntries(Object.entries(schema.properties ?? {}).map(([key, inner]) => [key, fieldValue(key, inner, ids)])),
        {
          requiredKeys: [],
        },
      )
    : types.includes('array')
      ? fc.array(validValue(name, schema.items ?? {}, ids), { maxLength: 3 })
      : validValue(name, schema, ids)
  return types.includes('null') ? fc.option(value) : value
}

function validValue(name: string, schema: FieldSchema, ids: KnownIds): fc.Arbitrary<unknown> {
  const { type, format, pattern, anyOf, enum: words, minimum = 0, maximum = 100, maxLength = 50 } = schema
  const types = [type].flat()
  // Objects may be list items, too, which are validated one by one.
  if (types.includes('object') && schema.properties)
    return fc.record(
      Object.fromEntries(
        Object.entries(schema.properties).map(([key, inner]) => {
          const valid = fieldValue(key, inner, ids)
          return [
            key,
            inner.type === 'string' ? fc.oneof({ weight: 12, arbitrary: valid }, { weight: 1, arbitrary: anyText }) : valid,
          ]
        }),
      ),
      { requiredKeys: [] },
    )
  if (anyOf) return fc.oneof(...anyOf.map((schema) => validValue(name, schema, ids)))
  if (words) return fc.constantFrom(...words)
  if (format === 'uuid') return fc.constantFrom(...ids(name))
  if (format === 'email') return fc.uuid().map((id) => `${id}@example.com`)
  if (types.includes('integer')) return fc.oneof(fc.integer({ min: minimum, max: maximum }), fc.constantFrom(minimum, maximum))
  if (types.includes('boolean')) return fc.boolean()
  if (pattern?.startsWith('^#')) return fc.stringMatching(/^#[0-9a-fA-F]{6}$/)
  return fc.string({ minLength: 1, maxLength: Math.min(maxLength, 100) })
}
