import { Ajv, type ErrorObject, type ValidateFunction } from 'ajv'
import { asStored, isEmailAddress } from '../domain/validation/email-address.ts'
import { type ImportDocument, ImportFormat } from './format.ts'
import type { Problem } from './problems.ts'

/**
 * A document as far as it could be read, and what is wrong with its shape. What was refused is missing from the document, so that
 * the rest can still be checked against the database, and everything reported at once.
 */
export type Reading = { document: ImportDocument; problems: Problem[] }

type Place = { parentData: Record<string | number, unknown>; parentDataProperty: string | number }

const ajv = new Ajv({ allErrors: true, verbose: true, strict: false, coerceTypes: false, ownProperties: true })
  .addFormat('email', isEmailAddress)
  .addFormat('time-with-zone', isTime)
  .addKeyword(rewriting('x-lower-case', (text) => text.toLowerCase()))
  .addKeyword(rewriting('x-address', asStored))
  .addKeyword(rewriting('x-time', (text) => new Date(text)))
/** Compiled when something is first read: it takes a tenth of the time that loading the service does, which reads nothing. */
let compiled: ValidateFunction | undefined

/** Reads a parsed JSON document in the import format (import-format.md). Ids come out in lower case, times as dates. */
export function readDocument(json: unknown): Reading {
  // In a box, so that all of it can be refused like any part of it; copied by way of text, so that no two places share an object.
  const box = { document: JSON.parse(JSON.stringify(json ?? null)) as ImportDocument | undefined }
  const problems = new Map<string, string>()
  compiled ??= ajv.compile(ImportFormat)
  const validate = compiled
  if (!validate(box.document)) {
    for (const error of validate.errors ?? []) {
      const steps = ['document', ...error.instancePath.split('/').slice(1)]
      const path = nameOf(error.keyword === 'required' ? [...steps, error.params.missingProperty] : steps)
      if (!problems.has(path)) problems.set(path, describe(error))
      if (error.keyword !== 'required') removeAt(box, steps)
    }
  }
  return {
    document: { organizations: box.document?.organizations ?? [] },
    problems: [...problems].map(([path, message]) => ({ path, message })),
  }
}

const describe = ({ keyword, parentSchema }: ErrorObject): string =>
  keyword === 'required' ? 'is required' : String((parentSchema as { says: string }).says)

/** `document/organizations/0/name` becomes `organizations[0].name`. */
const nameOf = ([, ...steps]: string[]): string =>
  steps
    .map((step) => (/^\d+$/.test(step) ? `[${step}]` : `.${step}`))
    .join('')
    .replace(/^\./, '') || 'document'

/** Leaves a hole in a list rather than closing up: what follows keeps its place. */
function removeAt(box: object, steps: string[]): void {
  let parent: unknown = box
  for (const step of steps.slice(0, -1)) {
    if (typeof parent !== 'object' || parent === null) return // refused as a whole already
    parent = (parent as Record<string, unknown>)[step]
  }
  if (typeof parent === 'object' && parent !== null) (parent as Record<string, unknown>)[steps.at(-1)!] = undefined
}

/** ISO 8601 with date, time and zone, of a day that exists, in a year that PostgreSQL and JavaScript write alike. */
function isTime(text: string): boolean {
  if (!/^\d{4}-\d\d-\d\dT\d\d:\d\d(:\d\d(\.\d+)?)?(Z|[+-]\d\d:\d\d)$/.test(text)) return false
  const day = text.slice(0, 10)
  const time = new Date(text)
  if (Number.isNaN(time.getTime()) || time.getUTCFullYear() < 1 || time.getUTCFullYear() > 9999) return false
  return new Date(`${day}T00:00:00Z`).toISOString().startsWith(day)
}

function rewriting(keyword: string, rewrite: (text: string) => unknown) {
  const validate = (_: unknown, text: string, __: unknown, at?: Place) => {
    if (at) at.parentData[at.parentDataProperty] = rewrite(text)
    return true
  }
  return { keyword, type: 'string' as const, modifying: true, valid: true, errors: false as const, validate }
}
