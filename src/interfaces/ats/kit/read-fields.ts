import { DomainError, type Issue } from '../../../domain/errors.ts'
import { MAX_NAME_LENGTH } from '../../../domain/limits.ts'

// Reads a recruiting system's fields leniently: unknown ones are ignored, null is absent, long texts are cut.

/** An object of a body; an empty one for anything else. */
export const objectIn = (value: unknown): Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Record<string, unknown>) : {}

/** Reads a text or a number. Trims it, and removes characters that PostgreSQL can't store. Empty for anything else. */
export function textIn(value: unknown, maxLength = Number.POSITIVE_INFINITY): string {
  if (typeof value !== 'string' && typeof value !== 'number') return ''
  const text = String(value).replaceAll('\0', '').toWellFormed().trim()
  return text.length <= maxLength ? text : [...text.slice(0, 2 * maxLength)].slice(0, maxLength).join('').trim()
}

/** @throws DomainError invalid (rule `required`) if the text is empty. */
export function requiredText(value: unknown, field: string): string {
  const text = textIn(value)
  const issue: Issue = { field, rule: 'required' }
  if (text === '') throw new DomainError('invalid', { issues: [issue] })
  return text
}

/** Name to address a candidate by. Any part may be missing. */
export function nameIn({ first_name, last_name, preferred_name }: Record<string, unknown>): string | null {
  const first = textIn(preferred_name, MAX_NAME_LENGTH) || textIn(first_name, MAX_NAME_LENGTH)
  const name = `${first} ${textIn(last_name, MAX_NAME_LENGTH)}`.trim()
  return textIn(name, MAX_NAME_LENGTH) || null
}

/** Link to show in the portal; empty unless it is an HTTPS URL. */
export function linkIn(value: unknown, maxLength = 2_000): string {
  const text = textIn(value)
  return text.length <= maxLength && URL.parse(text)?.protocol === 'https:' ? text : ''
}
