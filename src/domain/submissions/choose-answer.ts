import type { AnswerAttempt } from '../../generated/prisma/client.ts'

// Chooses the attempt that counts as the answer, for candidates, graders, and both APIs.

type AttemptState = Pick<
  AnswerAttempt,
  'kind' | 'state' | 'text' | 'createdAt' | 'completedAt' | 'wasInterrupted' | 'selectedAt' | 'restarted'
>

/** True for a saved attempt that is not an empty text. */
export const isAnswered = ({ kind, state, text }: Pick<AttemptState, 'kind' | 'state' | 'text'>): boolean =>
  state === 'complete' && (kind !== 'text' || text.trim() !== '')

/**
 * The answer to a question: what its candidate did last, which is to stop a recording, to change the text, or to choose one of those. A
 * recording that was cut off (the page was killed, the device went, or the time was over) takes the place of nothing: it is the answer where
 * the candidate has chosen it, or where there is nothing else, and then the first of them. One that the candidate started over comes last.
 *
 * @param attempts of one question, oldest first.
 * @returns undefined when there is none.
 */
export function chooseAnswer<T extends AttemptState>(attempts: readonly T[]): T | undefined {
  const answered = attempts.filter(isAnswered)
  const intended = answered.filter((attempt) => !attempt.wasInterrupted || attempt.selectedAt !== null)
  if (intended.length === 0) return answered.find(({ restarted }) => !restarted) ?? answered[0]
  return intended.reduce((last, attempt) => (actedAt(last) > actedAt(attempt) ? last : attempt))
}

const actedAt = ({ wasInterrupted, completedAt, selectedAt }: AttemptState): number =>
  Math.max(selectedAt?.getTime() ?? 0, wasInterrupted ? 0 : (completedAt?.getTime() ?? 0))
