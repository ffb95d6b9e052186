// Assumptions where Ashby's documentation is silent. Its sandbox may refute them. docs/ats.md marks them †.

/** Status texts for recruiters. `started` is Ashby's own: Ashby stores the start time when it receives it. */
export const WORDS = {
  invited: 'Invited',
  undelivered: 'Invitation could not be delivered',
  accepted: 'Opened',
  started: 'Started',
  in_review: 'Submitted, waiting for grading',
  released: 'Graded',
} as const

/** Ids of the message fields. They must never change, because recruiters filter by them. */
export const IDENTIFIERS = {
  status: 'status',
  profileUrl: 'profile_url',
  score: 'score',
  noScore: 'result',
  cancelledReason: 'cancelled_reason',
  points: 'points',
  maxPoints: 'max_points',
  duration: 'duration',
} as const

/** Assessment that does not exist. Updating it tests the key: 401 and 403 mean that Ashby refuses it. */
export const TEST_ASSESSMENT_ID = '00000000-0000-0000-0000-000000000000'
