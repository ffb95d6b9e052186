import type { InviteStatus, KeyMode } from '../generated/prisma/client.ts'
import type {
  ApiKeyProblem,
  BulkChangeProblem,
  GradingProblem,
  InviteProblem,
  LibraryProblem,
  MemberProblem,
  NameOrDateProblem,
  NetworkProblem,
  OrganizationProblem,
  QuestionProblem,
  SharingProblem,
  SignInProblem,
  SingleSignOnProblem,
  UploadedListProblem,
  WebhookProblem,
} from './ports/problems.ts'

/** A transition of an invite from one of several states. */
export type Move = 'accept' | 'start' | 'complete' | 'decline' | 'revoke' | 'reactivate' | 'extend' | 'resend'

/** Why a webhook's address, or one for candidates, is refused: it is none, or has the wrong scheme, credentials, port or host. */
export type TargetFault = 'url' | 'scheme' | 'credentials' | 'port' | 'host' | 'unlisted'

/**
 * Author of the last change. @property name of a member, by address, or of an API key; null if it is gone. @property isOwn true
 * for the reader's own change.
 */
export type LastChange = { name: string | null; isOwn: boolean; at: Date }

/** Kinds of errors. Status and text belong to each interface. */
export type ErrorKind =
  | 'api_key_missing'
  | 'api_key_unknown'
  | 'api_key_expired'
  | 'api_key_revoked'
  | 'organization_suspended'
  | 'api_key_not_found'
  | 'network_not_allowed'
  | 'not_permitted'
  | 'assessment_not_found'
  | 'question_not_found'
  | 'library_question_not_found'
  | 'library_import_not_found'
  | 'suppression_not_found'
  | 'erasure_not_found'
  | 'archive_not_found'
  /** Another download of the archive is running, or an interrupted one can't be repeated by this session. */
  | 'archive_downloading'
  | 'invite_not_found'
  | 'invite_batch_not_found'
  | 'member_not_found'
  | 'tag_not_found'
  | 'media_not_found'
  | 'submission_not_found'
  | 'share_link_not_found'
  | 'result_not_released'
  | 'webhook_not_found'
  | 'delivery_not_found'
  | 'sign_in_setting_not_found'
  | 'ats_not_found'
  | 'duplicate_invite'
  | 'duplicate_tag_name'
  /** Test data uses live tags, and changes test tags only. */
  | 'live_tag_read_only'
  | 'move_not_allowed'
  | 'invite_declined'
  | 'too_many_mails'
  | 'too_many_webhooks'
  | 'too_many_exports'
  | 'too_many_searches'
  | 'too_many_passwords'
  | 'too_many_reports'
  | 'too_many_imports'
  | 'too_many_simulations'
  | 'too_many_batches'
  | 'too_many_erasures'
  | 'webhook_disabled'
  | 'secret_rotated'
  | 'idempotency_key_reused'
  | 'cursor_gone'
  | 'session_refused'
  /** Too few members may grade. */
  | 'graders_missing'
  /** The subject was changed by somebody else since it was read. */
  | 'changed_meanwhile'
  /** The state of the subject forbids it; the first issue names the state. */
  | 'state_conflict'
  /** A key would give, change or take away the role admin. */
  | 'admin_refused'
  | 'invalid'

/** The least and the greatest integer that a field takes. */
export type Range = { minimum: number; maximum: number }

/** Problem with a value or with the state of its subject. The types define the meaning of an issue's `limit`. */
export type Problem =
  | NameOrDateProblem
  | SignInProblem
  | ApiKeyProblem
  | NetworkProblem
  | SingleSignOnProblem
  | MemberProblem
  | OrganizationProblem
  | QuestionProblem
  | LibraryProblem
  | InviteProblem
  | UploadedListProblem
  | BulkChangeProblem
  | SharingProblem
  | GradingProblem
  | WebhookProblem

/**
 * Why something is not taken from a candidate who takes an assessment. `taken_over`: by a tab that was opened later; `closed`: the question
 * is not open, or its time is over; `not_ready`: something is missing before the start, each with its name as the field; `not_shared`: the screen
 * has to be recorded, and is not.
 */
export type SessionProblem =
  | 'taken_over'
  | 'closed'
  | 'preparing'
  | 'submitted'
  | 'not_ready'
  | 'not_shared'
  | 'no_plays_left'
  | 'no_attempts_left'
  | 'quota'
  | 'part_differs'
  | 'parts_missing'
  | 'not_media'
  | 'wrong_type'
  | 'not_granted'
  | 'too_big'
  | 'too_soon'
  | 'too_many'
  | 'not_found'

/** Rule that a value violates. `limit`: the rule's bound; `value`: the rejected value, where responses repeat it. */
export type Violation =
  /** `text` forbids NUL and unpaired surrogates; `blank` also forbids text of white space alone. */
  | { rule: 'required' | 'email' | 'uuid' | 'boolean' | 'text' | 'blank' | 'color' | 'idempotency-key' }
  | { rule: 'choice'; limit: readonly string[]; value: unknown }
  | { rule: 'integer' | 'minimum' | 'maximum'; limit: Range }
  | { rule: 'maxLength' | 'maxItems' | 'maxWords'; limit: number }
  /** Keys that don't match METADATA_KEY_PATTERN; `limit`: their longest length. */
  | { rule: 'keys'; limit: number }
  /** An expiry that would be earlier than the present one. */
  | { rule: 'later'; limit: Date }
  /** Id of something that the organization doesn't have, or of a member who may not grade. */
  | { rule: 'reference' | 'grader'; value: string }
  /** A cursor that the feed has not reached. */
  | { rule: 'ahead' }
  /** A mode of data that keys of the mode `value` do not see; `limit` are those they see. */
  | { rule: 'keyMode'; limit: readonly string[]; value: KeyMode }
  /** The row was changed after the caller read it. `value`: the current value. `by`: author of the change, if known. */
  | { rule: 'changed'; value: unknown; by?: LastChange }
  /** An assessment with invites; `value`: `test` if all of them are test invites. */
  | { rule: 'invited'; value: KeyMode }
  | { rule: 'move'; limit: Move | 'expire' | 'retake' | 'accommodate' | 'remind'; value: InviteStatus | 'being erased' }
  /** Only pending invites may change it. */
  | { rule: 'settled'; value: InviteStatus }
  /** Until when an invite's mail is not sent again; null: it was sent again as often as it may be. */
  | { rule: 'mailed'; limit: Date | null }
  /** An invite that its candidate has declined. */
  | { rule: 'declined' }
  /** An address that webhooks may not be sent to. */
  | { rule: 'target'; problem: TargetFault }
  /** Parts of a password that are guessed first. */
  | { rule: 'common'; pieces: readonly string[] }
  /** Only in the portal. */
  | { rule: 'account'; problem: Problem; limit?: number }
  /** Only on candidates' pages. */
  | { rule: 'session'; problem: SessionProblem; parts?: [segment: number, number: number][] }
  /** Found by one interface, in its words. */
  | { rule: 'malformed'; text: string }

/**
 * One thing wrong with one field of the input, named as the domain or the interface's schema names it.
 * `field` is its path, joined by dots; empty for the input as a whole.
 */
export type Issue = { field: string } & Violation

/** The one error the domain throws. Anything else that escapes is a failure of the service, not of the request. */
export class DomainError extends Error {
  readonly kind: ErrorKind
  readonly issues: Issue[]
  /** The id of the row in the way, where there is one. */
  readonly existingId: string | undefined
  /** Seconds until it is worth another try, where that is known. */
  readonly retryAfter: number | undefined

  constructor(
    kind: ErrorKind,
    { issues = [], existingId, retryAfter }: { issues?: Issue[]; existingId?: string; retryAfter?: number } = {},
  ) {
    super(kind)
    this.name = 'DomainError'
    this.kind = kind
    this.issues = issues
    this.existingId = existingId
    this.retryAfter = retryAfter
  }
}

/** The media store is unreachable or failed. `code`: the system's error code, if it has one. */
export class StoreUnavailable extends Error {
  readonly code: string | undefined

  constructor(cause: unknown) {
    super(cause instanceof Error ? cause.message : String(cause), { cause })
    this.name = 'StoreUnavailable'
    this.code = (cause as NodeJS.ErrnoException | null)?.code
  }
}
