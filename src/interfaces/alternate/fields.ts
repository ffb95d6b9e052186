import type { TObject, TSchema } from '@sinclair/typebox'
import type { Issue, Violation } from '../../domain/errors.ts'
import { checkEmail, checkInteger, checkKeys, checkSize, checkText, checkUuid } from '../../domain/validation/checks.ts'
import { toUuid } from './uuid.ts'

/** A field's value, or its error, possibly at a key within the field. */
type Reading<Value = unknown> = { value: Value } | (Violation & { key?: string })

const TRUE = ['true', 't', 'yes', 'y', 'on', '1']
const FALSE = ['false', 'f', 'no', 'n', 'off', '0']

/**
 * Reads a body as Django REST framework's serializer fields do: `"3"` is an integer, `"True"` a boolean, unknown fields are ignored,
 * and all errors are reported at once (alternate-behaviour.md, POST /assessment_invites). A missing body lacks every required field.
 *
 * @returns the fields that could be read, and an issue for each that could not.
 */
export function readFields(schema: TObject, body: unknown = {}): { value: Record<string, unknown>; issues: Issue[] } {
  if (typeof body !== 'object' || body === null || Array.isArray(body)) {
    return { value: {}, issues: [{ field: '', ...malformed(`Invalid data. Expected a dictionary, but got ${typeName(body)}.`) }] }
  }
  const value: Record<string, unknown> = {}
  const issues: Issue[] = []
  for (const [field, fieldSchema] of Object.entries(schema.properties)) {
    const isGiven = Object.hasOwn(body, field)
    if (!isGiven && !schema.required?.includes(field)) continue
    const reading: Reading = isGiven ? readField(fieldSchema, (body as Record<string, unknown>)[field]) : { rule: 'required' }
    if ('rule' in reading) {
      const { key, ...violation } = reading
      issues.push({ field: key === undefined ? field : `${field}.${key}`, ...violation })
    } else value[field] = reading.value
  }
  return { value, issues }
}

function readField(schema: TSchema, input: unknown): Reading {
  const types = [schema.type].flat()
  // An empty text means no reference.
  const data = schema.format === 'uuid' && input === '' ? null : input
  if (data === null) return types.includes('null') ? { value: null } : malformed('This field may not be null.')
  if (types.includes('integer')) return readInteger(schema, data)
  if (types.includes('boolean')) return readBoolean(data)
  if (types.includes('array')) return readUuids(schema, data)
  if (types.includes('object')) return readTexts(schema, data)
  if (schema.format === 'email') return readEmail(data)
  return schema.format === 'uuid' ? readUuid(data) : readNonBlank(schema, data)
}

/** Accepts a safe integer as text, too. */
function readText({ maxLength = Number.POSITIVE_INFINITY }: TSchema, data: unknown): Reading<string> {
  if (typeof data !== 'string' && !Number.isSafeInteger(data)) return malformed('Not a valid string.')
  const text = String(data)
  return checkText(text, maxLength) ?? { value: text }
}

function readNonBlank(schema: TSchema, data: unknown): Reading<string> {
  const reading = readText(schema, data)
  return !('rule' in reading) && reading.value.trim() === '' ? { rule: 'blank' } : reading
}

function readEmail(data: unknown): Reading {
  if (typeof data !== 'string') return { rule: 'email' }
  const text = data.trim()
  if (text === '') return { rule: 'blank' }
  return checkEmail(text) ?? { value: text }
}

function readUuid(data: unknown): { value: string } | Violation {
  if (typeof data !== 'string') return { rule: 'uuid' }
  const id = toUuid(data)
  return checkUuid(id) ?? { value: id }
}

function readUuids({ maxItems }: TSchema, data: unknown): Reading {
  if (!Array.isArray(data)) return malformed(`Expected a list of items but got type "${typeName(data)}".`)
  const excess = checkSize('maxItems', data.length, maxItems)
  if (excess) return excess
  const readings = data.map(readUuid)
  return (
    readings.find((reading) => 'rule' in reading) ?? { value: readings.map((reading) => 'value' in reading && reading.value) }
  )
}

/** Texts by keys. A text may be empty. */
function readTexts({ additionalProperties }: TSchema, data: unknown): Reading {
  if (typeof data !== 'object' || data === null || Array.isArray(data))
    return malformed(`Expected a dictionary of items but got type "${typeName(data)}".`)
  const violation = checkKeys(Object.keys(data))
  if (violation) return violation
  const texts: [key: string, text: string][] = []
  for (const [key, entry] of Object.entries(data)) {
    const reading = readText(additionalProperties, entry)
    if ('rule' in reading) return { ...reading, key }
    texts.push([key, reading.value])
  }
  return { value: Object.fromEntries(texts) }
}

function readInteger({ minimum, maximum }: TSchema, data: unknown): Reading {
  const limit = { minimum, maximum }
  const number = typeof data === 'string' && /^\s*[+-]?\d+(\.0*)?\s*$/.test(data) ? Number(data) : data
  return typeof number === 'number' ? (checkInteger(number, limit) ?? { value: number }) : { rule: 'integer', limit }
}

function readBoolean(data: unknown): Reading {
  if (typeof data === 'object') return { rule: 'boolean' }
  const word = String(data).toLowerCase()
  if (TRUE.includes(word)) return { value: true }
  if (FALSE.includes(word)) return { value: false }
  return { rule: 'boolean' }
}

const malformed = (text: string): Violation => ({ rule: 'malformed', text })

/** Type of a JSON value as Python names it, but for `string`, which the contract has. */
function typeName(value: unknown): string {
  if (value === null) return 'NoneType'
  if (Array.isArray(value)) return 'list'
  if (typeof value === 'number') return Number.isInteger(value) ? 'int' : 'float'
  return { string: 'string', boolean: 'bool' }[typeof value as string] ?? 'dict'
}
