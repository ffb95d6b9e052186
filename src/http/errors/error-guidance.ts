import type { FailureKind } from './failure.ts'

/**
 * Advice for a client about an error code.
 *
 * @property retry when the same request can succeed: `wait` after the seconds of `Retry-After`, `read` after reading the resource again.
 * @property only the interface that has the code, if the other has not.
 */
export type ErrorGuidance = { cause: string; action: string; retry: 'no' | 'wait' | 'read' | 'yes'; only?: 'v1' | 'alternate' }

const READ_AGAIN = 'Read the resource, and decide by its state.'
const CHECK_ID =
  'Check the id. A resource of another organization, or of the other kind of data (live or test), is answered as one that does not exist.'
const notFound = (noun: string, action = CHECK_ID): ErrorGuidance => ({
  cause: `There is no such ${noun}.`,
  action,
  retry: 'no',
  only: 'v1',
})
const busy = (noun: string): ErrorGuidance => ({
  cause: `Too many ${noun} of your organization are under way.`,
  action: 'Wait for `Retry-After`, then send the request again.',
  retry: 'wait',
  only: 'v1',
})

/** By code; null for codes that neither API answers. The guide's section "Error codes" is generated from this by `npm run error-codes`. */
export const errorGuidance: Record<FailureKind, ErrorGuidance | null> = {
  api_key_missing: {
    cause: 'The request has no API key in the header of this interface.',
    action:
      'Send the key as `x-api-key` to v1, and as `X-SERVICE-DOCS-API-KEY` to the alternate interface. `Authorization: Bearer` and keys in the address are not read. The service’s log names the header that it expected and those that were sent.',
    retry: 'no',
  },
  api_key_unknown: {
    cause: 'No API key has this value.',
    action: 'Compare it with the one you were shown: `ak_live_` or `ak_test_` and 32 characters, without quotes or spaces.',
    retry: 'no',
  },
  api_key_expired: { cause: 'The key has expired.', action: 'Ask an admin of the organization for a new one.', retry: 'no' },
  api_key_revoked: { cause: 'An admin has revoked the key.', action: 'Ask for a new one.', retry: 'no' },
  organization_suspended: {
    cause: 'An owner has suspended the organization.',
    action: 'Keys work again once an owner ends that in the portal.',
    retry: 'no',
  },
  insufficient_scope: {
    cause: 'The key is restricted to scopes, and the operation needs another one, which stands with it in the reference.',
    action: 'Ask an admin for a key with this scope.',
    retry: 'no',
  },
  network_not_allowed: {
    cause: 'The key, or the organization, allows other networks than the one this request came from.',
    action: 'Ask an admin to add your network.',
    retry: 'no',
  },
  live_key_required: {
    cause: 'The operation changes what live and test data share, and was asked for with a test key.',
    action: 'Use a live key.',
    retry: 'no',
    only: 'v1',
  },
  test_key_required: {
    cause: 'The operation is for test data, and was asked for with a live key.',
    action: 'Use a test key.',
    retry: 'no',
    only: 'v1',
  },
  manage_required: {
    cause: 'The operation needs a key with the right “manage”.',
    action: 'An admin gives it in the portal, under Settings, Integrations.',
    retry: 'no',
    only: 'v1',
  },
  admin_refused: {
    cause: 'API keys neither give nor take the role admin, and change nobody who has it.',
    action: 'Have an admin do it in the portal.',
    retry: 'no',
    only: 'v1',
  },
  organization_forbidden: {
    cause: 'The organization in the path is not the key’s.',
    action: 'Use the organization of the key.',
    retry: 'no',
    only: 'alternate',
  },
  invalid: {
    cause: 'A field or parameter is wrong or missing.',
    action: 'Correct what the message names. v1 names the first mistake, the alternate interface all of them.',
    retry: 'no',
  },
  malformed_request: {
    cause: 'The request can not be read: its address can not be decoded, or its length is wrong.',
    action: 'Correct the address, or the library that sends it.',
    retry: 'no',
  },
  malformed_json: {
    cause: 'The body is no JSON, is nested too deeply, or is not encoded in UTF-8.',
    action: 'Correct what the message names.',
    retry: 'no',
  },
  forbidden_property: {
    cause: 'The body has a field `__proto__`, or `prototype` in `constructor`.',
    action: 'Leave it out.',
    retry: 'no',
  },
  unsupported_media_type: {
    cause: 'The body has another type than JSON.',
    action: 'Send `Content-Type: application/json`.',
    retry: 'no',
  },
  unsupported_encoding: {
    cause: 'The body is compressed.',
    action: 'Send it without `Content-Encoding`.',
    retry: 'no',
  },
  body_too_large: {
    cause: 'The body is larger than the operation takes: 64 KiB unless its reference says more.',
    action: 'Send less at a time.',
    retry: 'no',
  },
  headers_too_large: {
    cause: 'Address and headers are larger than 16 KiB together.',
    action: 'Send fewer filters or headers.',
    retry: 'no',
  },
  path_not_found: {
    cause: 'There is no such path, or in v1 not with this method.',
    action: 'Compare method and path with the reference.',
    retry: 'no',
  },
  method_not_allowed: {
    cause: 'The path exists, but not with this method.',
    action: 'Use one of the methods in `Allow`. v1 answers `path_not_found` instead.',
    retry: 'no',
    only: 'alternate',
  },
  page_not_found: {
    cause: 'The list has no such page.',
    action: 'Follow `next` and `previous` instead of counting pages.',
    retry: 'no',
    only: 'alternate',
  },
  assessment_not_found: { ...notFound('assessment') },
  question_not_found: notFound('question in this assessment'),
  invite_not_found: { cause: 'There is no such invite.', action: CHECK_ID, retry: 'no' },
  library_import_not_found: notFound('import', 'Check the id. Imports are kept for 30 days.'),
  invite_batch_not_found: notFound('batch of invites', 'Check the id. Batches are kept for 90 days.'),
  member_not_found: { cause: 'There is no such member.', action: CHECK_ID, retry: 'no' },
  tag_not_found: { cause: 'There is no such tag.', action: CHECK_ID, retry: 'no' },
  submission_not_found: notFound('submission', 'The candidate has not started yet: wait for `invite.started`.'),
  result_not_released: {
    cause: 'The submission is not graded, or its result is not released yet.',
    action: 'Wait for the event `submission.released`.',
    retry: 'no',
    only: 'v1',
  },
  media_not_found: notFound('recording or file', 'Read the question or the submission again for a new link.'),
  webhook_not_found: notFound('webhook'),
  delivery_not_found: notFound(
    'delivery of this webhook',
    'Check the id, which is that of the event. Deliveries are kept for 30 days.',
  ),
  suppression_not_found: notFound('suppressed address', 'Nothing has to be done: the address is written to.'),
  erasure_not_found: notFound('erasure'),
  duplicate_invite: {
    cause: 'The address was invited to this assessment before.',
    action:
      'Go on with that invite, whose address is in `Link` with `rel="existing"`: resend, extend or reactivate it, or offer a retake.',
    retry: 'no',
  },
  duplicate_tag_name: {
    cause: 'The organization has a tag with this name. Upper and lower case count as equal.',
    action: 'Use that tag, or another name.',
    retry: 'no',
    only: 'v1',
  },
  live_tag_read_only: {
    cause: 'The tag is live, and test keys change test tags only.',
    action: 'Use a live key, or a test tag.',
    retry: 'no',
    only: 'v1',
  },
  move_not_allowed: {
    cause: 'The invite is in a state that does not allow this, which the message names.',
    action: READ_AGAIN,
    retry: 'read',
    only: 'v1',
  },
  invite_declined: {
    cause: 'The candidate has declined the invite.',
    action: 'To invite them anyway, send `"afterDecline": true`.',
    retry: 'no',
    only: 'v1',
  },
  state_conflict: {
    cause: 'The resource is in a state that does not allow this, which the message names.',
    action: READ_AGAIN,
    retry: 'read',
    only: 'v1',
  },
  changed_meanwhile: {
    cause: 'Somebody else has changed the resource since you read it.',
    action: 'Read it again, and apply your change to what it is now.',
    retry: 'read',
    only: 'v1',
  },
  session_refused: {
    cause: 'The candidate’s session does not allow this.',
    action: READ_AGAIN,
    retry: 'read',
    only: 'v1',
  },
  graders_missing: {
    cause: 'Nobody may grade the submission.',
    action: 'Add an active member with the role grader or admin; two of them where the assessment is graded twice.',
    retry: 'no',
    only: 'v1',
  },
  webhook_disabled: {
    cause: 'The webhook is disabled.',
    action: 'Enable it first: `PATCH /webhooks/{id}` with `{"state":"active"}`.',
    retry: 'no',
    only: 'v1',
  },
  too_many_webhooks: {
    cause: 'The organization has as many webhooks as it can have.',
    action: 'Delete one that is no longer needed.',
    retry: 'no',
    only: 'v1',
  },
  secret_rotated: {
    cause: 'The webhook’s secret was rotated less than 24 hours ago, and the one before is still in use.',
    action: 'Wait, or send `"force": true`, which stops the oldest secret at once.',
    retry: 'no',
    only: 'v1',
  },
  idempotency_key_reused: {
    cause: 'This `Idempotency-Key` belongs to another request.',
    action: 'Use a new key for each request that is not a repetition.',
    retry: 'no',
  },
  cursor_gone: {
    cause: 'The events behind the cursor are no longer kept, or the feed has not reached it, as after a restore from a backup.',
    action: 'List everything again, and go on from the `Events-Cursor` of the first page.',
    retry: 'no',
    only: 'v1',
  },
  request_timeout: {
    cause: 'The request took too long to arrive.',
    action: 'Send it again.',
    retry: 'yes',
  },
  rate_limited: {
    cause: 'The organization, or the key, has sent as many requests as it may in a minute.',
    action: 'Wait for `Retry-After`. Read the feed, or use webhooks, instead of asking for lists again and again.',
    retry: 'wait',
  },
  too_many_mails: {
    cause: 'The invitation was sent again too often.',
    action: 'Wait for `Retry-After`, or give the candidate the link of `GET /invites/{id}/link` yourself.',
    retry: 'wait',
    only: 'v1',
  },
  too_many_searches: { ...busy('searches'), cause: 'Too many searches are under way.' },
  too_many_reports: busy('reports'),
  too_many_simulations: busy('simulations'),
  too_many_imports: busy('imports'),
  too_many_uploads: {
    ...busy('uploads'),
    cause: 'Three large requests of your organization are under way, or others use all the memory for uploads.',
  },
  too_many_batches: busy('batches of invites'),
  too_many_erasures: busy('erasures'),
  overloaded: {
    cause: 'The service has more requests than it can answer.',
    action: 'Wait for `Retry-After`. Send a `POST` with the same `Idempotency-Key`.',
    retry: 'wait',
  },
  database_busy: {
    cause: 'The database is busy, as during an upgrade.',
    action: 'Wait for `Retry-After`. Send a `POST` with the same `Idempotency-Key`.',
    retry: 'wait',
  },
  database_away: {
    cause: 'The database can not be reached.',
    action: 'Wait for `Retry-After`. Send a `POST` with the same `Idempotency-Key`.',
    retry: 'wait',
  },
  store_unavailable: null,
  internal: {
    cause: 'A fault of the service.',
    action: 'Try it a few times with growing pauses, then tell the operator the `X-Request-Id`.',
    retry: 'yes',
  },
  api_key_not_found: null,
  not_permitted: null,
  ats_not_found: null,
  library_question_not_found: null,
  share_link_not_found: null,
  archive_not_found: null,
  archive_downloading: null,
  sign_in_setting_not_found: null,
  too_many_exports: null,
  too_many_passwords: null,
}
