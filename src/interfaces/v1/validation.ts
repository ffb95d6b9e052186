import { Ajv, type ErrorObject } from 'ajv'
import type { FastifyInstance } from 'fastify'
import { DomainError, type Issue, type Violation } from '../../domain/errors.ts'
import {
  HEX_COLOR_PATTERN,
  MAX_INTEGER,
  MAX_METADATA_KEY_LENGTH,
  METADATA_KEY_PATTERN,
  NON_BLANK_TEXT_PATTERN,
  TEXT_PATTERN,
} from '../../domain/limits.ts'
import { splitText } from '../../domain/lists/filters.ts'
import { isUuid } from '../../domain/text/uuid.ts'
import { isTime } from '../../domain/time/time.ts'
import { isEmailAddress } from '../../domain/validation/email-address.ts'
import { compileOnce } from '../../http/schema/compile-once.ts'
import { HIDDEN_PATTERN, TRIM } from '../../http/schema/schema-keywords.ts'

type Schema = {
  type?: string | string[]
  properties?: Record<string, Schema>
  required?: string[]
  minProperties?: number
  enum?: readonly string[]
  minimum?: number
  maximum?: number
  format?: string
  pattern?: string
  [HIDDEN_PATTERN]?: string
  [keyword: string]: unknown
}

const ajv = new Ajv({ useDefaults: true, verbose: true, strict: false, coerceTypes: false })
  .addFormat('uuid', isUuid)
  .addFormat('email', isEmailAddress)
  .addFormat('date-time', isTime)
  .removeKeyword('minProperties')
  .addKeyword({
    // Counts known fields only: others are ignored.
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
      location?: { parentData: Record<string, unknown>; parentDataProperty: string | number },
    ) => {
      if (location) location.parentData[location.parentDataProperty] = text.trim()
      return true
    },
  })

/** Unknown fields that an error names, and characters of each. */
const MAX_NAMES_SHOWN = 5
const MAX_NAME_LENGTH_SHOWN = 60

/** @returns an empty list if the value is valid. */
const validatorOf = compileOnce((schema: Schema) => {
  const validate = ajv.compile(inOrder(schema))
  return (data: unknown) => (validate(data) ? [] : (validate.errors ?? []))
})

/**
 * Validates bodies and query strings against the schemas of the OpenAPI document. Values in bodies are not converted. In a query string,
 * digits become an integer, and commas separate the items of an array. Path parameters are not validated: the domain does not find an invalid
 * id.
 *
 * @throws DomainError invalid with the first issue, in the order of the schema's fields; from Fastify's validation.
 */
export function validateWithSchemas(app: FastifyInstance): void {
  // A validator can't tell the body `null` from a missing one.
  app.addHook('preValidation', async ({ body, routeOptions }) => {
    if (body === null && routeOptions.schema?.body)
      throw new DomainError('invalid', { issues: [{ field: '', ...violateType('', { type: 'object' }, body) }] })
  })
  app.setValidatorCompiler<Schema>(({ schema, httpPart }) => {
    if (httpPart !== 'body' && httpPart !== 'querystring') return () => true
    const validate = validatorOf(schema)
    const read = httpPart === 'querystring' ? (input: Record<string, unknown>) => readQuery(schema, input) : readBody
    return (input) => {
      const repeated = httpPart === 'querystring' ? findRepeated(schema, input) : undefined
      if (repeated !== undefined) return { error: refuseRepeated(repeated) }
      const data = read(input)
      const errors = validate(data)
      return errors.length === 0 ? { value: data } : { error: new DomainError('invalid', { issues: errors.map(toIssue) }) }
    }
  })
}

/** Treats a missing body, which Fastify passes as null, as an empty object. */
const readBody = (body: unknown): unknown => body ?? {}

/** A parameter that was sent several times although it takes one value. */
const findRepeated = ({ properties = {} }: Schema, query: Record<string, unknown>): string | undefined =>
  Object.keys(query).find((name) => Array.isArray(query[name]) && (properties[name]?.type ?? 'array') !== 'array')

const refuseRepeated = (field: string): DomainError =>
  new DomainError('invalid', { issues: [{ field, ...malformed(`${field} must be sent once, not several times`) }] })

function readQuery({ properties = {} }: Schema, query: Record<string, unknown>): Record<string, unknown> {
  const read = (name: string, value: unknown) => {
    const type = properties[name]?.type
    if (typeof value !== 'string') return value
    if (type === 'array') return splitText(value, /,/)
    return type === 'integer' && /^-?\d+$/.test(value) ? Number(value) : value
  }
  return Object.fromEntries(Object.entries(query).map(([name, value]) => [name, read(name, value)]))
}

/**
 * Rewrites a schema so that Ajv stops at the first invalid field in order, because a response has a single message. By default, Ajv checks for
 * missing fields first.
 */
function inOrder({ properties = {}, required = [], minProperties = 0 }: Schema): Schema {
  const fields = Object.entries(properties).map(([name, field]) => ({
    properties: { [name]: field },
    required: required.filter((other) => other === name),
  }))
  const names = Object.fromEntries(Object.keys(properties).map((name) => [name, {}]))
  return { type: 'object', allOf: [...fields, { properties: names, minProperties }] }
}

function fieldOf({ keyword, instancePath, params }: ErrorObject): string {
  const path = keyword === 'required' ? `${instancePath}/${params.missingProperty}` : instancePath
  return path.slice(1).replaceAll('/', '.')
}

function toIssue(error: ErrorObject): Issue {
  const field = fieldOf(error)
  const { keyword, params, data } = error
  const schema: Schema = error.parentSchema ?? {}
  switch (keyword) {
    case 'required':
      return { field, rule: 'required' }
    case 'minProperties': {
      const names = Object.keys(schema.properties ?? {}).join(', ')
      const sentNames = Object.keys(data as object)
        .slice(0, MAX_NAMES_SHOWN)
        .map((name) => name.slice(0, MAX_NAME_LENGTH_SHOWN).toWellFormed())
      const mistake = sentNames.length === 0 ? '' : `: ${sentNames.join(', ')} can't be changed by this request`
      return { field, rule: 'malformed', text: `At least one of ${names} is required${mistake}` }
    }
    case 'type':
    case 'minimum':
    case 'maximum':
      return { field, ...violateType(field, schema, data) }
    case 'enum':
      return { field, rule: 'choice', limit: schema.enum ?? [], value: data }
    case 'maxLength':
      // A too long address is an invalid address: v1.md has one message for both.
      return { field, ...(violateFormat(schema) ?? { rule: keyword, limit: params.limit }) }
    case 'maxItems':
    case 'maxProperties':
      return { field, rule: 'maxItems', limit: params.limit }
    default:
      return {
        field,
        ...(violateFormat(schema) ?? violatePattern(schema) ?? violateTime(field, schema) ?? malformed(`${field} is not valid`)),
      }
  }
}

/** Reports a wrong type by the expected value, such as an address, a UUID, or a number in a range. */
function violateType(field: string, schema: Schema, data: unknown): Violation {
  const { minimum = 0, maximum = MAX_INTEGER } = schema
  if (schema.enum) return { rule: 'choice', limit: schema.enum, value: data }
  const type = [schema.type].flat()[0] ?? 'object'
  if (type === 'integer') {
    const isTooLarge = typeof data === 'number' && data > maximum
    return { rule: isTooLarge ? 'maximum' : 'integer', limit: { minimum, maximum } }
  }
  if (type === 'boolean') return { rule: 'boolean' }
  const text = field ? `${field} must be ${type === 'string' ? 'a' : 'an'} ${type}` : 'The request body must be a JSON object'
  return violateFormat(schema) ?? malformed(text)
}

const violateFormat = ({ format }: Schema): Violation | undefined =>
  format === 'uuid' || format === 'email' ? { rule: format } : undefined

const violateTime = (field: string, { format }: Schema): Violation | undefined =>
  format === 'date-time' ? malformed(`${field} must be a time like 2026-03-02T09:30:00Z`) : undefined

function violatePattern(schema: Schema): Violation | undefined {
  switch (schema[HIDDEN_PATTERN] ?? schema.pattern) {
    case TEXT_PATTERN:
      return { rule: 'text' }
    case NON_BLANK_TEXT_PATTERN:
      return { rule: 'blank' }
    case HEX_COLOR_PATTERN:
      return { rule: 'color' }
    case METADATA_KEY_PATTERN:
      return { rule: 'keys', limit: MAX_METADATA_KEY_LENGTH }
    default:
      return undefined
  }
}

const malformed = (text: string): Violation => ({ rule: 'malformed', text })
