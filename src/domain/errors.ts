export { isLockTimeout } from '../db/errors.ts'

/** What a request can get wrong, in the domain's words. Status and wording are each interface's own. */
export type ErrorKind =
  | 'api_key_missing'
  | 'api_key_unknown'
  | 'api_key_expired'
  | 'api_key_revoked'
  | 'not_permitted'
  | 'assessment_not_found'
  | 'invite_not_found'
  | 'member_not_found'
  | 'tag_not_found'
  | 'webhook_not_found'
  | 'delivery_not_found'
  | 'duplicate_invite'
  | 'duplicate_tag_name'
  | 'move_not_allowed'
  | 'too_many_webhooks'
  | 'webhook_disabled'
  | 'idempotency_key_reused'
  | 'cursor_gone'
  | 'invalid'

/** One thing wrong with one field of the input, named as the domain or the interface's schema names it. */
export type Issue = {
  /** Path of the field, joined by dots; empty for the input as a whole. */
  field: string
  rule: string
  /** What the rule compares with, e.g. the minimum. */
  limit?: unknown
  /** What was given, where the answer repeats it. */
  value?: unknown
}

/** The one error the domain throws. Anything else that escapes is a failure of the service, not of the request. */
export class DomainError extends Error {
  readonly kind: ErrorKind
  readonly issues: Issue[]
  /** The id of the row in the way, where there is one. */
  readonly existingId: string | undefined

  constructor(kind: ErrorKind, { issues = [], existingId }: { issues?: Issue[]; existingId?: string } = {}) {
    super(kind)
    this.name = 'DomainError'
    this.kind = kind
    this.issues = issues
    this.existingId = existingId
  }
}
