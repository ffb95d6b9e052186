import type { AnswerAttempt } from '../../../generated/prisma/client.ts'

/** Attempts that neither the candidate nor the clock has ended. A page that does not record one itself has found it interrupted. */
export const IS_INTERRUPTED = { state: 'recording', completedAt: null } as const

export const isInterrupted = ({ state, completedAt }: Pick<AnswerAttempt, 'state' | 'completedAt'>): boolean =>
  state === 'recording' && completedAt === null
