import { DomainError, type Issue } from '../../../domain/errors.ts'
import { MAX_NAME_LENGTH } from '../../../domain/limits.ts'

// Reads a recruiting system's fields leniently: unknown ones are ignored, null is absent, long texts are cut.

/** An object of a body; an empty one for anything else. */
export const objectIn = (value: unknown): Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Record<string, unknown>) : {}

/** A text, or a number as one: without white space around it, without what PostgreSQL can't hold. Empty for anything else. */
export function textIn(value: unknown, maxLength = Number.POSITIVE_INFINITY): string {
  if (typeof value !== 'string' && typeof value !== 'number') return ''
  const text = String(value).replaceAll('\0', '').toWellFormed().trim()
  return text.length <= maxLength ? text : [...text.slice(0, 2 * maxLength)].slice(0, maxLength).join('').trim()
}

/** A text that has to be there. @throws DomainError invalid (rule `required`). */
export function requiredText(value: unknown, field: string): string {
  const text = textIn(value)
  const issue: Issue = { field, rule: 'required' }
  if (text === '') throw new DomainError('invalid', { issues: [issue] })
  return text
}

/** A candidate's name as it is said to them: any part of it may be missing. */
export function nameIn({ first_name, last_name, preferred_name }: Record<string, unknown>): string | null {
  const first = textIn(preferred_name, MAX_NAME_LENGTH) || textIn(first_name, MAX_NAME_LENGTH)
  const name = `${first} ${textIn(last_name, MAX_NAME_LENGTH)}`.trim()
  return textIn(name, MAX_NAME_LENGTH) || null
}

/** A link that is shown in the portal: none but one of the web. */
export function linkIn(value: unknown, maxLength = 2_000): string {
  const text = textIn(value)
  return text.length <= maxLength && URL.parse(text)?.protocol === 'https:' ? text : ''
}
