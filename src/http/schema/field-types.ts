import { type StringOptions, type TSchema, Type } from '@sinclair/typebox'
import { KEY_MODES } from '../../domain/authorization/author.ts'
import { INVITE_STATUSES } from '../../domain/invites/invites.ts'
import {
  HEX_COLOR_PATTERN,
  MAX_EMAIL_LENGTH,
  MAX_METADATA_KEYS,
  MAX_METADATA_VALUE_LENGTH,
  METADATA_KEY_PATTERN,
  NON_BLANK_TEXT_PATTERN,
  TEXT_PATTERN,
} from '../../domain/limits.ts'
import type { Time } from '../../domain/lists/listing.ts'
import { UUID_PATTERN } from '../../domain/text/uuid.ts'
import { HIDDEN_PATTERN, NAME } from './schema-keywords.ts'

/** Documented part of NON_BLANK_TEXT_PATTERN. The whole pattern needs the flag `u`, which clients may not set: they would reject emoji. */
export const NOT_BLANK_PATTERN = '\\S'

/** Text without the characters that PostgreSQL or mail can't hold. */
export const Text = (options: StringOptions = {}) => Type.String({ ...options, [HIDDEN_PATTERN]: TEXT_PATTERN })
export const NonBlankText = (options: StringOptions = {}) =>
  Type.String({ ...options, pattern: NOT_BLANK_PATTERN, [HIDDEN_PATTERN]: NON_BLANK_TEXT_PATTERN })

export const Metadata = (description: string) =>
  Type.Unsafe<Record<string, string>>({
    type: 'object',
    maxProperties: MAX_METADATA_KEYS,
    propertyNames: { pattern: METADATA_KEY_PATTERN },
    additionalProperties: Text({ maxLength: MAX_METADATA_VALUE_LENGTH }),
    description,
  })

export const Uuid = (description?: string) =>
  Type.String({ format: 'uuid', pattern: UUID_PATTERN, ...(description && { description }) })
export const DateTime = (description?: string) => Type.String({ format: 'date-time', ...(description && { description }) })
export const Email = (description?: string) =>
  Type.String({ format: 'email', maxLength: MAX_EMAIL_LENGTH, ...(description && { description }) })
export const HexColor = (description?: string) => Type.String({ pattern: HEX_COLOR_PATTERN, ...(description && { description }) })

export const StringEnum = <const T extends readonly string[]>(words: T, options: object = {}) =>
  Type.Unsafe<T[number]>({ type: 'string', enum: words, ...options })

export const InviteStatus = StringEnum(INVITE_STATUSES, { [NAME]: 'InviteStatus' })
export const KeyMode = StringEnum(KEY_MODES, { [NAME]: 'Mode' })

/** Uses JSON Schema's type array, which reads better than a union in documents and errors. */
export const Nullable = <T extends TSchema>(schema: T) =>
  Type.Unsafe<T['static'] | null>({
    ...schema,
    type: [schema.type, 'null'],
    ...(schema.enum && { enum: [...schema.enum, null] }),
  })

/** ISO 8601 in UTC with milliseconds. */
export const isoTime = (time: Time): string => (typeof time === 'string' ? formatJsonTime(time) : time.toISOString())
export const isoTimeOrNull = (time: Time | null): string | null => time && isoTime(time)

/** PostgreSQL omits trailing zeros of the milliseconds. Replacement for the zone `+00:00`, by the length of the text. */
const ENDINGS: Record<number, string> = { 25: '.000Z', 27: '00Z', 28: '0Z', 29: 'Z' }

/** Converts a time in PostgreSQL's JSON, a hundred times faster than by a Date. */
function formatJsonTime(time: string): string {
  const ending = time[4] === '-' && time.endsWith('+00:00') ? ENDINGS[time.length] : undefined
  return ending === undefined ? new Date(time).toISOString() : time.slice(0, -6) + ending
}
