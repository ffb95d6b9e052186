import { SUNSET } from '../../src/http/openapi/deprecation.ts'
import { follow, type OpenApiDocument } from './openapi.ts'

type Node = { [name: string]: unknown } & {
  $ref?: string
  type?: string | string[]
  properties?: Record<string, Node>
  required?: string[]
  items?: Node
  oneOf?: Node[]
  anyOf?: Node[]
  enum?: unknown[]
  deprecated?: boolean
}
type Content = Record<string, { schema: Node }>
type Body = { required?: boolean; headers?: object; content?: Content }
type Parameter = Node & { name: string; in: string; required?: boolean; schema: Node }
type Operation = { parameters?: Parameter[]; requestBody?: Body; responses?: Record<string, Body> }
/** Direction of a schema: requests may come to require less, and responses may come to contain more. */
type Side = 'sent' | 'answered'
/** Released and current value of a part. @property way place in the document. @property now undefined if the part is gone. */
type Change<T> = { way: string; before: T; now: T | undefined }
/** The documents to compare. @property today date such as 2027-12-31. */
type Documents = { released: OpenApiDocument; current: OpenApiDocument; today: string }

/** Bounds that may only become wider: 1 if the larger number is wider, -1 if the smaller one is. */
const BOUNDS = { maximum: 1, maxLength: 1, maxItems: 1, maxProperties: 1, minimum: -1, minLength: -1, minItems: -1 }

/**
 * Compares the released document with the current one for incompatible changes, as docs/versions.md defines them. Deprecated parts may be removed
 * after their announced date.
 *
 * @returns a message for each incompatible change, which begins with its place in the document.
 */
export function findBrokenPromises(of: Documents): string[] {
  const operations = Object.entries(of.released.paths).flatMap(([path, methods]) =>
    Object.entries(methods).flatMap(([method, before]) =>
      compareOperations(of, {
        way: `${method.toUpperCase()} ${path}`,
        before: before as never,
        now: of.current.paths[path]?.[method] as never,
      }),
    ),
  )
  const messages = Object.entries(of.released.webhooks ?? {}).flatMap(([name, { post }]) => {
    const [before, now] = [post as never as Operation, of.current.webhooks?.[name]?.post as never as Operation | undefined]
    const bodies = { before: before.requestBody!, now: now?.requestBody }
    return compareContents(of, { way: `webhook ${name}`, ...bodies }, 'answered')
  })
  return [...operations, ...messages]
}

/** Reports a removed part, unless it was deprecated and its announced date has passed. */
const goneUnless = ({ today }: Documents, { way, before }: Change<Node>): string[] =>
  before.deprecated && String(before[SUNSET]) < today ? [] : [`${way}: is gone`]

function compareOperations(of: Documents, { way, before, now }: Change<Operation>): string[] {
  if (!now) return goneUnless(of, { way, before: before as Node, now })
  const responses = Object.entries(before.responses ?? {}).filter(([status]) => status.startsWith('2'))
  return [
    ...compareParameters(of, way, before, now),
    ...compareBodies(of, way, before, now),
    ...responses.flatMap(([status, response]) =>
      compareResponses(of, { way: `${way} ${status}`, before: response, now: now.responses?.[status] }),
    ),
  ]
}

function compareResponses(of: Documents, { way, before, now }: Change<Body>): string[] {
  if (!now) return [`${way}: is answered no more`]
  const [old, present] = [follow(of.released, before), follow(of.current, now)]
  const headers = Object.keys(old.headers ?? {}).filter((name) => !(name in (present.headers ?? {})))
  return [
    ...headers.map((name) => `${way}: the header ${name} is gone`),
    ...compareContents(of, { way, before: old, now: present }, 'answered'),
  ]
}

function compareParameters(of: Documents, way: string, before: Operation, now: Operation): string[] {
  const keyed = (document: OpenApiDocument, { parameters = [] }: Operation) => {
    const all = parameters.map((parameter) => follow(document, parameter))
    return new Map(all.map((parameter) => [`${parameter.in} ${parameter.name}`, parameter]))
  }
  const [old, present] = [keyed(of.released, before), keyed(of.current, now)]
  const required = [...present].filter(([key, parameter]) => parameter.required && !old.get(key)?.required)
  return [
    ...[...old].flatMap(([key, { schema, deprecated = false }]) => {
      const change = { way: `${way} ${key}`, before: { ...schema, deprecated }, now: present.get(key)?.schema }
      return change.now ? compareSchemas(of, change, 'sent') : goneUnless(of, change)
    }),
    ...required.map(([key]) => `${way} ${key}: is required now`),
  ]
}

function compareBodies(of: Documents, operation: string, before: Operation, now: Operation): string[] {
  const way = `${operation} body`
  const [old, present] = [
    before.requestBody && follow(of.released, before.requestBody),
    now.requestBody && follow(of.current, now.requestBody),
  ]
  const required = present?.required && !old?.required ? [`${way}: is required now`] : []
  return old && present ? [...required, ...compareContents(of, { way, before: old, now: present }, 'sent')] : required
}

function compareContents(of: Documents, { way, before, now }: Change<Body>, side: Side): string[] {
  if (!now) return [`${way}: is gone`]
  return Object.entries(before.content ?? {}).flatMap(([type, { schema }]) => {
    const same = now.content?.[type]
    return same ? compareSchemas(of, { way, before: schema, now: same.schema }, side) : [`${way}: ${type} is gone`]
  })
}

function compareSchemas(of: Documents, { way, before, now }: Change<Node>, side: Side): string[] {
  if (!now) return goneUnless(of, { way, before, now })
  const [old, present] = [follow(of.released, before), follow(of.current, now)]
  const change = { way, before: old, now: present }
  const items = old.items && present.items
  const choices = old.oneOf ?? old.anyOf ?? []
  const others = present.oneOf ?? present.anyOf ?? []
  return [
    ...compareTypes(change, side),
    ...(side === 'sent' ? [...compareWords(change), ...compareBounds(change)] : []),
    ...compareProperties(of, change, side),
    ...(items ? compareSchemas(of, { way: `${way}[]`, before: old.items!, now: items }, side) : []),
    ...choices.flatMap((choice, i) => {
      const same = choice.$ref === undefined ? others[i] : others.find(({ $ref }) => $ref === choice.$ref)
      return compareSchemas(of, { way: `${way} ${choice.$ref?.split('/').at(-1) ?? i}`, before: choice, now: same }, side)
    }),
  ]
}

type Kept = { way: string; before: Node; now: Node }
const typesOf = ({ type = [] }: Node): string[] => [type].flat()

function compareTypes({ way, before, now }: Kept, side: Side): string[] {
  const [some, all] = side === 'sent' ? [before, now] : [now, before]
  const fits = typesOf(all).length === 0 || typesOf(some).every((type) => typesOf(all).includes(type))
  return fits ? [] : [`${way}: was ${typesOf(before)}, and is ${typesOf(now)}`]
}

function compareWords({ way, before, now }: Kept): string[] {
  if (!now.enum) return []
  if (!before.enum) return [`${way}: takes certain words only`]
  return before.enum.filter((word) => !now.enum!.includes(word)).map((word) => `${way}: ${word} is taken no more`)
}

const compareBounds = ({ way, before, now }: Kept): string[] =>
  Object.entries(BOUNDS).flatMap(([bound, direction]) => {
    const [was, is] = [before[bound] as number | undefined, now[bound] as number | undefined]
    const isNarrower = is !== undefined && (was === undefined || direction * (is - was) < 0)
    return isNarrower ? [`${way}: ${bound} was ${was}, and is ${is}`] : []
  })

function compareProperties(of: Documents, { way, before, now }: Kept, side: Side): string[] {
  const [was, is] = [before.required ?? [], now.required ?? []]
  const optional = was.filter((name) => !is.includes(name) && now.properties?.[name])
  const required = is.filter((name) => !was.includes(name))
  return [
    ...Object.entries(before.properties ?? {}).flatMap(([name, schema]) =>
      compareSchemas(of, { way: `${way} .${name}`, before: schema, now: now.properties?.[name] }, side),
    ),
    ...(side === 'sent'
      ? required.map((name) => `${way} .${name}: is required now`)
      : optional.map((name) => `${way} .${name}: is not always there any more`)),
  ]
}
