import { isDeepStrictEqual } from 'node:util'
import type { Issue, Range, Violation } from '../errors.ts'
import { MAX_METADATA_KEY_LENGTH, MAX_METADATA_KEYS, METADATA_KEY_PATTERN, TEXT_PATTERN } from '../limits.ts'
import { isUuid } from '../text/uuid.ts'
import { isEmailAddress } from './email-address.ts'

// Checks of single values. Each returns the rule that the value breaks. All interfaces share them, so that none accepts a value that
// another refuses.

const text = new RegExp(TEXT_PATTERN, 'u')

export const checkEmail = (value: string): Violation | undefined => (isEmailAddress(value) ? undefined : { rule: 'email' })

export const checkUuid = (value: string): Violation | undefined => (isUuid(value) ? undefined : { rule: 'uuid' })

/** Infinity stands for a number that is too large to be read, and is above any maximum. */
export function checkInteger(value: number, limit: Range): Violation | undefined {
  if (!Number.isInteger(value) && Math.abs(value) !== Number.POSITIVE_INFINITY) return { rule: 'integer', limit }
  if (value < limit.minimum) return { rule: 'minimum', limit }
  return value > limit.maximum ? { rule: 'maximum', limit } : undefined
}

/** @param limit in characters. */
export function checkText(value: string, limit: number): Violation | undefined {
  if (!text.test(value)) return { rule: 'text' }
  return checkSize('maxLength', [...value].length, limit)
}

const metadataKey = new RegExp(METADATA_KEY_PATTERN, 'u')

/** The keys of a map that a caller has filled. */
export const checkKeys = (keys: readonly string[]): Violation | undefined =>
  checkSize('maxItems', keys.length, MAX_METADATA_KEYS) ??
  (keys.every((key) => metadataKey.test(key)) ? undefined : { rule: 'keys', limit: MAX_METADATA_KEY_LENGTH })

/** Text that is not only white space. @param limit in characters. */
export const checkName = (value: string, limit: number): Violation | undefined =>
  value.trim() === '' ? { rule: 'required' } : checkText(value, limit)

export const checkSize = (rule: 'maxLength' | 'maxItems' | 'maxWords', size: number, limit: number): Violation | undefined =>
  size > limit ? { rule, limit } : undefined

export const checkChoice = (value: string, limit: readonly string[]): Violation | undefined =>
  limit.includes(value) ? undefined : { rule: 'choice', limit, value }

/** An issue for each field whose check has found something. */
export const findIssues = (checks: [field: string, violation: Violation | undefined][]): Issue[] =>
  checks.flatMap(([field, violation]) => (violation ? [{ field, ...violation }] : []))

/** Issues of changed fields only. Imported rows may exceed the limits, and keep doing so while something else is saved. */
export function issuesOfChangedFields<T extends object>(issues: Issue[], current: T, wanted: Partial<T>): Issue[] {
  const before = new Map<string, unknown>(Object.entries(current))
  const after = new Map<string, unknown>(Object.entries(wanted))
  return issues.filter(({ field }) => !isDeepStrictEqual(before.get(field), after.get(field)))
}
