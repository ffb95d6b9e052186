import { DEFAULT } from '../../../db/writes.ts'

/** Columns of a submission that start with their defaults, however it is made. */
export const UNSET = {
  passedChecks: DEFAULT,
  tab: DEFAULT,
  previousTabIds: DEFAULT,
  mediaBytes: DEFAULT,
  isDeadlineOfQuestion: DEFAULT,
  submittedAt: DEFAULT,
  graderId: DEFAULT,
  secondGraderId: DEFAULT,
  keepsOneGrader: DEFAULT,
  needsThirdGrader: DEFAULT,
  releasedAt: DEFAULT,
  needsGrading: DEFAULT,
  gradedLanguages: DEFAULT,
  penaltyPercent: DEFAULT,
  decision: DEFAULT,
  decisionNote: DEFAULT,
  decidedById: DEFAULT,
  decidedAt: DEFAULT,
} as const
