// What Recruitee's documentation leaves open, each of it a reading of ours that its test environment may refute. docs/ats.md marks them †.

/** Of a report: it has no words for anything else. */
export const WORDS = { sent: 'sent', completed: 'completed', canceled: 'canceled' } as const
/** Whether a report that is `completed` takes a score later: only then is it told that the candidate has handed in. */
export const TAKES_SCORE_LATER = true
/** What a recruiter is told of a candidate who is being assessed, or has been: by a 409, as Recruitee shows the text of any but 401 and 403. */
export const REFUSED_STATUS = 409
/** A change of a report that does not exist, to see by the answer whether the secret is taken: 401 or 403 say that it is not. */
export const TEST_REPORT_ID = '00000000-0000-0000-0000-000000000000'
