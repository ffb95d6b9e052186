import type { FastifyInstance } from 'fastify'
import { DomainError } from '../../domain/errors.ts'
import { editDistance } from '../../domain/text/edit-distance.ts'

/** Names in one header, and the header's length. More names tell a client nothing new. */
const MAX_NAMES = 10
const MAX_LENGTH = 200
/** Characters of an unknown name that an error message repeats. */
const MAX_SHOWN_LENGTH = 60
const MAX_EDIT_DISTANCE = 2
/** Shorter words are parts of too many names. */
const MIN_PART_LENGTH = 4

/** `Prefer: handling=strict`, RFC 7240. */
const STRICT_PATTERN = /(?:^|[,;])\s*handling\s*=\s*"?strict"?\s*(?=$|[,;])/i

type Schema = { properties?: Record<string, Schema>; items?: Schema; additionalProperties?: unknown }
/** Where an unknown name was sent. */
export type NamePlace = 'field' | 'parameter'
/** @param meant the known name that is most like it. */
type FormatUnknownName = (place: NamePlace, name: string, meant: string | undefined, known: string[]) => string

/**
 * Reports names that the route does not know in the headers `Ignored-Parameters` and `Ignored-Fields`, percent-encoded. The contract has
 * them ignored; without the headers a mistyped filter or option would go unnoticed. With `Prefer: handling=strict` the first one is an error.
 *
 * @throws DomainError invalid in strict handling; from the hook.
 */
export function reportIgnoredInput(app: FastifyInstance, formatUnknownName: FormatUnknownName): void {
  app.addHook('preValidation', async ({ url, body, headers, is404, routeOptions }, reply) => {
    if (is404) return
    const { querystring = {}, body: bodySchema = {} } = (routeOptions.schema ?? {}) as { querystring?: Schema; body?: Schema }
    const isStrict = STRICT_PATTERN.test(String(headers.prefer))
    const report = (place: NamePlace, header: string, names: string[], schema: Schema) => {
      const value = formatHeader(names)
      if (value !== '') reply.header(header, value)
      if (names[0] !== undefined && isStrict) throw refuse(place, names[0], [...listNames(schema)])
    }
    report('parameter', 'ignored-parameters', findUnknownParameters(url, querystring), querystring)
    report('field', 'ignored-fields', [...new Set(findUnknownFields({ properties: {}, ...bodySchema }, body))], bodySchema)
  })

  function refuse(place: NamePlace, name: string, known: string[]): DomainError {
    const field = name.slice(0, MAX_SHOWN_LENGTH).toWellFormed()
    const text = formatUnknownName(place, field, findMeant(name, known), known)
    return new DomainError('invalid', { issues: [{ field, rule: 'malformed', text }] })
  }
}

function findUnknownParameters(url: string, { properties = {} }: Schema): string[] {
  const start = url.indexOf('?')
  if (start === -1) return []
  return [...new Set(new URLSearchParams(url.slice(start)).keys())].filter((name) => !Object.hasOwn(properties, name))
}

/** Paths of fields without the indexes of arrays: the rows of a batch mostly have the same mistake. */
function* findUnknownFields(schema: Schema, value: unknown, parent = ''): Generator<string> {
  const { properties, items = {}, additionalProperties } = schema
  if (Array.isArray(value)) for (const item of value) yield* findUnknownFields(items, item, parent)
  if (!isRecord(value) || !properties || additionalProperties) return
  for (const [name, field] of Object.entries(value)) {
    const path = parent === '' ? name : `${parent}.${name}`
    if (Object.hasOwn(properties, name)) yield* findUnknownFields(properties[name]!, field, path)
    else yield path
  }
}

const isRecord = (value: unknown): value is object => typeof value === 'object' && value !== null && !Array.isArray(value)

/** Paths of all fields, those of the whole before those of its parts. */
function* listNames({ properties = {}, items }: Schema, parent = ''): Generator<string> {
  const pathOf = (name: string) => (parent === '' ? name : `${parent}.${name}`)
  for (const name of Object.keys(properties)) yield pathOf(name)
  for (const [name, schema] of Object.entries(properties)) yield* listNames(schema, pathOf(name))
  if (items) yield* listNames(items, parent)
}

/** The known name that is spelled alike, else nearly alike, else has the unknown one as a part. */
function findMeant(unknown: string, known: string[]): string | undefined {
  const plain = (path: string) =>
    path
      .slice(path.lastIndexOf('.') + 1)
      .replaceAll(/[^a-z\d]/gi, '')
      .toLowerCase()
  const name = plain(unknown)
  const isNear = (other: string) =>
    Math.abs(name.length - other.length) <= MAX_EDIT_DISTANCE && editDistance(name, other) <= MAX_EDIT_DISTANCE
  const isPart = (other: string) => name.length >= MIN_PART_LENGTH && other.includes(name)
  return (
    known.find((other) => plain(other) === name) ??
    known.find((other) => name.length > MAX_EDIT_DISTANCE && isNear(plain(other))) ??
    known.find((other) => isPart(plain(other)))
  )
}

const formatHeader = (names: string[]): string =>
  names
    .slice(0, MAX_NAMES)
    .map((name) => encodeURIComponent(name.toWellFormed()))
    .reduce((header, name) => {
      const longer = header === '' ? name : `${header}, ${name}`
      return longer.length > MAX_LENGTH ? header : longer
    }, '')
