import type { TObject, TSchema } from '@sinclair/typebox'
import { isEmailAddress } from '../../domain/email-address.ts'
import type { Issue } from '../../domain/errors.ts'
import { isUuid } from '../../domain/uuid.ts'

/** A field's value, or what is wrong with it. */
type Reading = { value: unknown } | { issue: Omit<Issue, 'field'> }

const TRUE = ['true', 't', 'yes', 'y', 'on', '1']
const FALSE = ['false', 'f', 'no', 'n', 'off', '0']

/**
 * Reads a body as Django REST framework's serializer fields do: `"3"` is an integer, `"True"` a boolean, unknown fields are ignored,
 * and everything that is wrong is said at once (alternate-behaviour.md, POST /assessment_invites). A body that is not there lacks every
 * field.
 *
 * @returns the fields that could be read, and an issue for each that could not.
 */
export function readFields(schema: TObject, body: unknown = {}): { value: Record<string, unknown>; issues: Issue[] } {
  if (typeof body !== 'object' || body === null || Array.isArray(body)) {
    return { value: {}, issues: [{ field: '', rule: 'dictionary', value: body }] }
  }
  const value: Record<string, unknown> = {}
  const issues: Issue[] = []
  for (const [field, fieldSchema] of Object.entries(schema.properties)) {
    const reading = Object.hasOwn(body, field)
      ? readField(fieldSchema, (body as Record<string, unknown>)[field])
      : failed('required')
    if ('issue' in reading) issues.push({ field, ...reading.issue })
    else value[field] = reading.value
  }
  return { value, issues }
}

function readField(schema: TSchema, given: unknown): Reading {
  const types = [schema.type].flat()
  // For a reference, an empty choice is none.
  const data = schema.format === 'uuid' && given === '' ? null : given
  if (data === null) return types.includes('null') ? { value: null } : failed('null')
  if (types.includes('integer')) return readInteger(schema, data)
  if (types.includes('boolean')) return readBoolean(data)
  if (types.includes('array')) return readUuids(schema, data)
  return schema.format === 'email' ? readEmail(data) : readUuid(data)
}

function readEmail(data: unknown): Reading {
  if (typeof data !== 'string') return failed('email')
  const text = data.trim()
  if (text === '') return failed('blank')
  return isEmailAddress(text) ? { value: text } : failed('email')
}

function readUuid(data: unknown): Reading {
  return typeof data === 'string' && isUuid(data) ? { value: data.toLowerCase() } : failed('uuid')
}

function readUuids({ maxItems }: TSchema, data: unknown): Reading {
  if (!Array.isArray(data)) return failed('list', { value: data })
  if (data.length > maxItems) return failed('maxItems', { limit: maxItems })
  const readings = data.map(readUuid)
  const bad = readings.find((reading) => 'issue' in reading)
  return bad ?? { value: readings.map((reading) => 'value' in reading && reading.value) }
}

function readInteger({ minimum, maximum }: TSchema, data: unknown): Reading {
  const number = typeof data === 'string' && /^\s*-?\d+(\.0*)?\s*$/.test(data) ? Number(data) : data
  // What is too large even for a number here is read as infinite: whole, and beyond every limit.
  if (typeof number !== 'number' || (Number.isFinite(number) && !Number.isInteger(number))) return failed('integer')
  if (number < minimum) return failed('minimum', { limit: minimum })
  if (number > maximum) return failed('maximum', { limit: maximum })
  return { value: number }
}

function readBoolean(data: unknown): Reading {
  if (typeof data === 'object') return failed('boolean')
  const word = String(data).toLowerCase()
  if (TRUE.includes(word)) return { value: true }
  if (FALSE.includes(word)) return { value: false }
  return failed('boolean')
}

const failed = (rule: string, more: { limit?: unknown; value?: unknown } = {}): Reading => ({ issue: { rule, ...more } })
