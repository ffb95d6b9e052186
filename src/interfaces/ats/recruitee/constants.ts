// Assumptions where Recruitee's documentation is silent. Its test environment may refute them. docs/ats.md marks them †.

/** All the statuses of a report that Recruitee has. */
export const WORDS = { sent: 'sent', completed: 'completed', canceled: 'canceled' } as const
/** True if a `completed` report accepts a score later. Only then do we report that the candidate submitted. */
export const TAKES_SCORE_LATER = true
/** Message for a candidate who has an assessment already. Sent as 409: Recruitee shows the text of any status but 401 and 403. */
export const REFUSED_STATUS = 409
/** Report that does not exist. Changing it tests the secret: 401 and 403 mean that Recruitee refuses it. */
export const TEST_REPORT_ID = '00000000-0000-0000-0000-000000000000'
