import { Ajv, type ErrorObject, type ValidateFunction } from 'ajv'
import { isEmailAddress, toStoredAddress } from '../domain/validation/email-address.ts'
import { type ImportDocument, ImportFormat } from './format.ts'
import type { ImportProblem } from './problems.ts'

/** A parsed document and its schema problems. Invalid parts are removed, so that the rest can be checked too and all problems are reported at once. */
export type ParsedDocument = { document: ImportDocument; problems: ImportProblem[] }

type ValuePlace = { parentData: Record<string | number, unknown>; parentDataProperty: string | number }

const ajv = new Ajv({ allErrors: true, verbose: true, strict: false, coerceTypes: false, ownProperties: true })
  .addFormat('email', isEmailAddress)
  .addFormat('time-with-zone', isTime)
  .addKeyword(rewriteKeyword('x-lower-case', (text) => text.toLowerCase()))
  .addKeyword(rewriteKeyword('x-address', toStoredAddress))
  .addKeyword(rewriteKeyword('x-time', (text) => new Date(text)))
/** Compiled on first use, because that takes a tenth of the service's load time. */
let compiled: ValidateFunction | undefined

/** Parses a document in the import format (import-format.md). Ids become lower case, times become dates. */
export function readDocument(json: unknown): ParsedDocument {
  // Wrapped, so that the whole document can be removed like any part. Copied through JSON, so that no object is shared.
  const box = { document: JSON.parse(JSON.stringify(json ?? null)) as ImportDocument | undefined }
  const problems = new Map<string, string>()
  compiled ??= ajv.compile(ImportFormat)
  const validate = compiled
  if (!validate(box.document)) {
    for (const error of validate.errors ?? []) {
      const steps = ['document', ...error.instancePath.split('/').slice(1)]
      const path = formatPath(error.keyword === 'required' ? [...steps, error.params.missingProperty] : steps)
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
const formatPath = ([, ...steps]: string[]): string =>
  steps
    .map((step) => (/^\d+$/.test(step) ? `[${step}]` : `.${step}`))
    .join('')
    .replace(/^\./, '') || 'document'

/** Leaves a hole in lists, so that later paths stay valid. */
function removeAt(box: object, steps: string[]): void {
  let parent: unknown = box
  for (const step of steps.slice(0, -1)) {
    if (typeof parent !== 'object' || parent === null) return // its parent was removed already
    parent = (parent as Record<string, unknown>)[step]
  }
  if (typeof parent === 'object' && parent !== null) (parent as Record<string, unknown>)[steps.at(-1)!] = undefined
}

/** True for an ISO 8601 date and time with zone, of a real day, in a year that PostgreSQL and JavaScript format alike. */
function isTime(text: string): boolean {
  if (!/^\d{4}-\d\d-\d\dT\d\d:\d\d(:\d\d(\.\d+)?)?(Z|[+-]\d\d:\d\d)$/.test(text)) return false
  const day = text.slice(0, 10)
  const time = new Date(text)
  if (Number.isNaN(time.getTime()) || time.getUTCFullYear() < 1 || time.getUTCFullYear() > 9999) return false
  return new Date(`${day}T00:00:00Z`).toISOString().startsWith(day)
}

function rewriteKeyword(keyword: string, rewrite: (text: string) => unknown) {
  const validate = (_: unknown, text: string, __: unknown, place?: ValuePlace) => {
    if (place) place.parentData[place.parentDataProperty] = rewrite(text)
    return true
  }
  return { keyword, type: 'string' as const, modifying: true, valid: true, errors: false as const, validate }
}
