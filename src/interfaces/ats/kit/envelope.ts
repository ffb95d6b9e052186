import type { Issue } from '../../../domain/errors.ts'
import type { Envelope } from '../../../http/errors/envelope.ts'
import { type Failure, type FailureKind, failureHeaders } from '../../../http/errors/failure.ts'

/** Status of problems that a person can fix. Ashby and Recruitee show the text. Greenhouse's behavior is unknown (docs/ats.md, †). */
const FIXABLE = 422
/** The same for all unknown and invalid keys. Only a valid key of another kind gets a text of its own. */
const KEY: Answer = [401, 'The key is not valid.']
const TOO_MANY: Answer = [429, 'There were too many requests. Please try again later.']
const AWAY: Answer = [503, 'The service is busy. Please try again in a moment.']

type Answer = [status: number, text: string]

const answers: Partial<Record<FailureKind, Answer>> = {
  api_key_missing: KEY,
  api_key_unknown: KEY,
  api_key_expired: KEY,
  api_key_revoked: KEY,
  organization_suspended: KEY,
  assessment_not_found: [404, 'There is no such assessment any more, or it is not ready to be sent. Please choose it again.'],
  invite_not_found: [404, 'There is no such order.'],
  path_not_found: [404, 'Not found'],
  not_permitted: [404, 'Not found'],
  duplicate_invite: [409, 'The candidate has been invited to this assessment already.'],
  move_not_allowed: [409, 'The candidate’s invite has changed meanwhile. Please try again.'],
  invite_declined: [
    FIXABLE,
    'The candidate has declined this assessment. Invite them again in the assessment portal if they have changed their mind.',
  ],
  too_many_mails: [
    FIXABLE,
    'The candidate was mailed too often lately. Please try again later, or give them the link from the assessment portal.',
  ],
  body_too_large: [413, 'The request is too large.'],
  request_timeout: [408, 'The request took too long.'],
  rate_limited: TOO_MANY,
  too_many_uploads: TOO_MANY,
  overloaded: AWAY,
  database_busy: AWAY,
  database_away: AWAY,
  store_unavailable: AWAY,
  internal: [500, 'Something went wrong in the assessment service.'],
}
const MALFORMED: Answer = [400, 'The request can not be read.']

/** Errors of an ATS's routes. @param present body that shows a text to the recruiter. */
export const createAtsEnvelope = (prefix: string, present: (text: string, kind: FailureKind) => object): Envelope => ({
  prefix,
  sendFailure(failure, _request, reply) {
    const [status, text] = answerTo(failure)
    return reply
      .code(status)
      .headers(headersOf(failure))
      .type('application/json; charset=utf-8')
      .send(present(text, failure.kind))
  },
  rawFailure(kind) {
    const [status, text] = answerTo({ kind, issues: [] })
    const headers = { ...headersOf({ kind }), 'content-type': 'application/json; charset=utf-8' }
    return { status, headers, body: JSON.stringify(present(text, kind)) }
  },
})

/** Headers of a failure without the link to the error guide, which only covers the APIs. */
function headersOf(failure: Pick<Failure, 'kind' | 'retryAfter'>): Record<string, string> {
  const { link: _, ...headers } = failureHeaders(failure)
  return headers
}

function answerTo({ kind, issues: [issue] }: Pick<Failure, 'kind' | 'issues'>): Answer {
  if (kind === 'invalid') return [FIXABLE, formatIssue(issue)]
  if (kind === 'api_key_unknown' && issue?.rule === 'malformed') return [KEY[0], issue.text]
  return answers[kind] ?? MALFORMED
}

const FIELDS: Record<string, string> = {
  recipientEmail: 'the candidate’s address',
  callbackUrl: 'the address to report to',
  theirKey: 'the key of the applicant tracking system, which an admin enters in the assessment portal',
}

function formatIssue(issue: Issue | undefined): string {
  const name = FIELDS[issue?.field ?? ''] ?? `the field ${issue?.field}`
  if (issue?.rule === 'required') return `There is something missing: ${name}.`
  if (issue?.rule === 'target') return `That can not be reported to: ${name} is not one of the applicant tracking system.`
  return `That can not be used: ${name}.`
}
