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
 * The answer to a question: the attempt of the candidate's last action, which is to stop a recording, to change the text, or to choose an
 * attempt. An interrupted recording (closed page, lost device, end of the time) counts only if the candidate chose it, or if there is
 * nothing else; then the first of them counts, and attempts that the candidate started over come last.
 *
 * @param attempts of one question, oldest first.
 * @returns undefined if there is none.
 */
export function chooseAnswer<T extends AttemptState>(attempts: readonly T[]): T | undefined {
  const answered = attempts.filter(isAnswered)
  const intended = answered.filter((attempt) => !attempt.wasInterrupted || attempt.selectedAt !== null)
  if (intended.length === 0) return answered.find(({ restarted }) => !restarted) ?? answered[0]
  return intended.reduce((last, attempt) => (actedAt(last) > actedAt(attempt) ? last : attempt))
}

const actedAt = ({ wasInterrupted, completedAt, selectedAt }: AttemptState): number =>
  Math.max(selectedAt?.getTime() ?? 0, wasInterrupted ? 0 : (completedAt?.getTime() ?? 0))
