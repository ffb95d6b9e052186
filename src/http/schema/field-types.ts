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
import { UUID_PATTERN } from '../../domain/values/uuid.ts'
import { HIDDEN_PATTERN, NAME } from './schema-keywords.ts'

/** As much of NON_BLANK_TEXT_PATTERN as documents show: clients without the flag `u` take half of an emoji for a lone surrogate. */
export const NOT_BLANK_PATTERN = '\\S'

/** Text without what neither PostgreSQL nor a mail can hold. */
export const Text = (options: StringOptions = {}) => Type.String({ ...options, [HIDDEN_PATTERN]: TEXT_PATTERN })
export const NonBlankText = (options: StringOptions = {}) =>
  Type.String({ ...options, pattern: NOT_BLANK_PATTERN, [HIDDEN_PATTERN]: NON_BLANK_TEXT_PATTERN })

/** What a caller keeps by names of their own. */
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

/** One of these words. */
export const Words = <const T extends readonly string[]>(words: T, options: object = {}) =>
  Type.Unsafe<T[number]>({ type: 'string', enum: words, ...options })

export const InviteStatus = Words(INVITE_STATUSES, { [NAME]: 'InviteStatus' })
export const KeyMode = Words(KEY_MODES, { [NAME]: 'Mode' })

/** The schema, or null. Written as JSON Schema's type array, which reads better than a union in a document and in an error. */
export const OrNull = <T extends TSchema>(schema: T) =>
  Type.Unsafe<T['static'] | null>({
    ...schema,
    type: [schema.type, 'null'],
    ...(schema.enum && { enum: [...schema.enum, null] }),
  })

/** ISO 8601 in UTC, as both interfaces write times. */
export const isoTime = (time: Time): string => (typeof time === 'string' ? isoText(time) : time.toISOString())
export const isoTimeOrNull = (time: Time | null): string | null => time && isoTime(time)

/** PostgreSQL leaves out zeros at the end. By the length of a time of ours: what comes in the place of its zone. */
const ENDINGS: Record<number, string> = { 25: '.000Z', 27: '00Z', 28: '0Z', 29: 'Z' }

/** Of PostgreSQL's JSON, a hundredth of what a date costs. */
function isoText(time: string): string {
  const ending = time[4] === '-' && time.endsWith('+00:00') ? ENDINGS[time.length] : undefined
  return ending === undefined ? new Date(time).toISOString() : time.slice(0, -6) + ending
}
