import { type TObject, type TSchema, Type } from '@sinclair/typebox'
import type { Issue, Violation } from '../../domain/errors.ts'
import { MAX_FILTER_LENGTH, MAX_FILTER_VALUES, MAX_INTEGER, MAX_SEARCH_WORDS } from '../../domain/limits.ts'
import { checkFilterLimits, splitText } from '../../domain/lists/filters.ts'
import { isUuid } from '../../domain/text/uuid.ts'
import { StringEnum } from '../../http/schema/field-types.ts'
import { toUuid } from './uuid.ts'

// Kinds of query parameters, with the schema that the OpenAPI document shows.

/** Schema keyword for a parser, where type and format don't determine it. */
export const READ = 'x-read'

const List = (items: TSchema, description: string) =>
  Type.Optional(
    Type.Unsafe<string[]>({ type: 'array', items, maxItems: MAX_FILTER_VALUES, description: `${description}; any match` }),
  )

export const UuidFilter = (description: string) => Type.Optional(Type.String({ format: 'uuid', description }))
export const UuidListFilter = (description: string) => List(Type.String({ format: 'uuid' }), description)
export const WordListFilter = <const T extends readonly string[]>(words: T, description: string) =>
  List(StringEnum(words), description)
export const TextFilter = (description: string) => Type.Optional(Type.String({ maxLength: MAX_FILTER_LENGTH, description }))
export const SearchFilter = (description: string) =>
  TextFilter(`${description}; every word must occur, of which there are at most ${MAX_SEARCH_WORDS}`)
export const NumberFilter = (description: string) => Type.Optional(Type.Integer({ minimum: 0, description }))
export const BooleanFilter = (description: string) => Type.Optional(Type.Boolean({ description }))
export const ChoiceFilter = <const T extends readonly string[]>(words: T, description: string) =>
  Type.Optional(StringEnum(words, { description }))
export const DepthParameter = Type.Optional(
  Type.Unsafe<0 | 1 | 2>({
    type: 'integer',
    minimum: 0,
    maximum: 2,
    default: 0,
    [READ]: 'depth',
    description: '1 or 2: number of levels in which ids are replaced by objects',
  }),
)

/** Matches no assessment: used for a filter by 1.5 questions, or by more than possible. */
const NO_COUNT = -1

/**
 * Reads the filters of a query string (alternate-behaviour.md, Filters): an empty value and an unknown parameter are ignored, of a
 * repeated one the last counts, and all errors are reported at once.
 */
export function readFilters(schema: TObject, query: Record<string, string | string[]>): { value: object; issues: Issue[] } {
  const value: Record<string, unknown> = {}
  const issues: Issue[] = []
  for (const [field, fieldSchema] of Object.entries(schema.properties)) {
    const text = [query[field]].flat().at(-1)
    if (text === undefined || text === '') continue
    const reading = readFilter(field, fieldSchema, text)
    if ('rule' in reading) issues.push({ field, ...reading })
    else value[field] = reading.value
  }
  return { value, issues }
}

type Reading = { value: unknown } | Violation

function readFilter(field: string, schema: TSchema, text: string): Reading {
  if (text.includes('\0')) return { rule: 'text' }
  if (schema.enum) return schema.enum.includes(text) ? { value: text } : { rule: 'choice', limit: schema.enum, value: text }
  switch (schema[READ] ?? schema.format ?? schema.type) {
    case 'uuid':
      return isUuid(toUuid(text)) ? { value: toUuid(text) } : malformed('Enter a valid UUID.')
    case 'array':
      return readList(field, schema.items, text)
    case 'depth':
      return /^\s*\+?\d+\s*$/.test(text) ? { value: Math.min(2, Number(text)) } : malformed('Enter 0, 1 or 2.')
    case 'integer':
      return readCount(text)
    case 'boolean':
      return readBoolean(text)
    default:
      return schema.maxLength === undefined ? { value: text } : readLimited(field, text)
  }
}

const malformed = (text: string): Violation => ({ rule: 'malformed', text })

function readList(field: string, { format }: TSchema, text: string): Reading {
  const isIds = format === 'uuid'
  const texts = splitText(text, /,/)
  const list = [...new Set(isIds ? texts.map(toUuid) : texts)]
  // Unknown words are no error: they match nothing.
  return isIds && !list.every(isUuid) ? malformed('Enter a valid UUID.') : readLimited(field, list)
}

const readLimited = (field: string, value: string | string[]): Reading => checkFilterLimits(field, value) ?? { value }

function readCount(text: string): Reading {
  if (!/^\s*[+-]?\d+(\.\d+)?\s*$/.test(text)) return malformed('Enter a number.')
  const count = Number(text)
  return { value: Number.isInteger(count) && count >= 0 && count <= MAX_INTEGER ? count : NO_COUNT }
}

function readBoolean(text: string): Reading {
  if (/^(true|1)$/i.test(text)) return { value: true }
  return /^(false|0)$/i.test(text) ? { value: false } : malformed('Enter true or false.')
}
