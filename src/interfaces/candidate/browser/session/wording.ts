/** Why a recording was not taken, in sentences. @param code of the service, or of the outbox. */
export const wordFailure = (code: string): string =>
  FAILURES[code] ?? 'That could not be saved. Load this page again; if it stays so, tell whoever invited you.'

const FAILURES: Record<string, string> = {
  no_takes_left: 'You have recorded this answer as often as you may.',
  closed: 'The time for this question was over before all of it was sent.',
  submitted: 'The assessment has been handed in.',
  unreachable: 'There is no connection. Try again.',
  quota: 'There is no room for more recordings. Please tell whoever invited you.',
  too_many: 'This was begun more often than there is room for. Please tell whoever invited you.',
  too_big: 'The recording is longer than can be taken. What was sent before is saved.',
  empty: 'The browser recorded nothing. Try again; if it stays so, use another browser.',
  parts_missing: 'This browser did not keep what was recorded.',
  not_media: 'What this browser has recorded is of a kind that is not taken. Try another browser.',
}
