import { Ajv, type ErrorObject } from 'ajv'
import type { FastifyInstance, FastifySchema } from 'fastify'
import { isEmailAddress } from '../../domain/email-address.ts'
import { DomainError, type Issue } from '../../domain/errors.ts'
import { splitText } from '../../domain/filters.ts'
import { isUuid } from '../../domain/uuid.ts'
import { HIDDEN_PATTERN, TRIM } from '../../http/schema-keywords.ts'

type Schema = { type?: string | string[]; properties?: Record<string, Schema>; required?: string[]; format?: string } & Record<
  string,
  unknown
>

const ajv = new Ajv({ allErrors: true, useDefaults: true, verbose: true, strict: false, coerceTypes: false })
  .addFormat('uuid', isUuid)
  .addFormat('email', isEmailAddress)
  .addFormat('date-time', true)
  .removeKeyword('minProperties')
  .addKeyword({
    // Of fields we know: others are ignored, here too.
    keyword: 'minProperties',
    type: 'object',
    schemaType: 'number',
    compile: (least: number, { properties = {} }) => {
      const names = Object.keys(properties)
      return (body: object) => names.filter((name) => Object.hasOwn(body, name)).length >= least
    },
  })
  .addKeyword({
    keyword: HIDDEN_PATTERN,
    type: 'string',
    schemaType: 'string',
    compile: (source: string) => {
      const pattern = new RegExp(source, 'u')
      return (text: string) => pattern.test(text)
    },
  })
  .addKeyword({
    keyword: TRIM,
    type: 'string',
    modifying: true,
    valid: true,
    errors: false,
    before: 'maxLength',
    validate: (
      _: unknown,
      text: string,
      __: unknown,
      at?: { parentData: Record<string, unknown>; parentDataProperty: string | number },
    ) => {
      if (at) at.parentData[at.parentDataProperty] = text.trim()
      return true
    },
  })

/**
 * Validates bodies and query strings against the schemas that also make the document. Bodies are taken literally; in a query string
 * digits are an integer, and commas part the items of an array. Path parameters are the domain's: an id that is no UUID is simply not found.
 *
 * @throws DomainError invalid with every issue, in the order of the schema's fields; from Fastify's validation.
 */
export function validateWithSchemas(app: FastifyInstance): void {
  app.setValidatorCompiler<FastifySchema>(({ schema, httpPart }) => {
    if (httpPart !== 'body' && httpPart !== 'querystring') return () => true
    const validate = ajv.compile(schema)
    return (input) => {
      // A body that is not there lacks every field.
      const data = httpPart === 'querystring' ? readQuery(schema as Schema, input) : (input ?? {})
      if (validate(data)) return { value: data }
      return { error: new DomainError('invalid', { issues: toIssues(schema as Schema, validate.errors ?? []) }) }
    }
  })
}

function readQuery({ properties = {} }: Schema, query: Record<string, unknown>): Record<string, unknown> {
  const read = (name: string, value: unknown) => {
    const type = properties[name]?.type
    if (typeof value !== 'string') return value
    if (type === 'array') return splitText(value, /,/)
    return type === 'integer' && /^-?\d+$/.test(value) ? Number(value) : value
  }
  return Object.fromEntries(Object.entries(query).map(([name, value]) => [name, read(name, value)]))
}

/** One issue a field, in the schema's order, whatever order the validator found them in. */
function toIssues(schema: Schema, errors: ErrorObject[]): Issue[] {
  const order = fieldsOf(schema)
  const position = ({ field }: Issue) => {
    const index = order.indexOf(field.replace(/\.\d+$/, ''))
    return index < 0 ? order.length : index
  }
  return errors.map(toIssue).sort((a, b) => position(a) - position(b))
}

const fieldsOf = ({ properties = {} }: Schema, prefix = ''): string[] =>
  Object.entries(properties).flatMap(([name, schema]) => [prefix + name, ...fieldsOf(schema, `${prefix}${name}.`)])

function toIssue({ keyword, instancePath, params, parentSchema, data }: ErrorObject): Issue {
  const path = instancePath.split('/').slice(1)
  const schema = (parentSchema ?? {}) as Schema
  if (keyword === 'required' && Array.isArray(schema.required))
    return { field: [...path, params.missingProperty].join('.'), rule: 'required' }
  const field = path.join('.')
  switch (keyword) {
    case 'minProperties':
      return { field, rule: 'anyOf', limit: Object.keys(schema.properties ?? {}) }
    case 'type':
    case 'minimum':
    case 'maximum':
      return typeIssue(field, schema, data)
    case 'enum':
      return { field, rule: 'enum', limit: schema.enum }
    case 'format':
      return { field, rule: schema.format! }
    case 'pattern':
    case HIDDEN_PATTERN:
      return { field, rule: schema.format ?? 'pattern', limit: schema[keyword] }
    case 'maxLength':
      // Of an address that is too long, v1.md says what it says of every other that is none.
      return { field, rule: schema.format ?? keyword, limit: params.limit }
    default:
      return { field, rule: keyword, limit: params.limit }
  }
}

/** A value of the wrong type lacks what the field is for: an address, a UUID, one of the words, a number in its range. */
function typeIssue(field: string, schema: Schema, data: unknown): Issue {
  const { minimum, maximum } = schema
  if (schema.enum) return { field, rule: 'enum', limit: schema.enum }
  if (schema.format) return { field, rule: schema.format }
  const type = [schema.type].flat()[0] ?? 'object'
  if (type !== 'integer') return { field, rule: type }
  return { field, rule: type, limit: { minimum, maximum, tooLarge: typeof data === 'number' && data > Number(maximum) } }
}
