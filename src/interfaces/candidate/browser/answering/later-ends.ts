import type { Player } from '../session/player.ts'
import type { SessionState } from '../session/session.ts'

type Ends = Pick<SessionState, 'deadlineAt' | 'question'>

/** Moves the countdowns to later ends after extra time was given, and tells the candidate. */
export function applyLaterEnds({ t, state, outbox, status }: Player, { deadlineAt, question: read }: Ends): void {
  const question = state.question?.number === read?.number ? state.question : null
  const before = [state.deadlineAt, question?.closesAt, question?.answersAt]
  const isMoved = [deadlineAt, read?.closesAt, read?.answersAt].some((now, i) => now && before[i] && now > before[i])
  if (!isMoved) return
  state.deadlineAt = deadlineAt
  if (question && read) {
    question.closesAt = read.closesAt
    question.answersAt = read.answersAt
  }
  outbox.prolong(question?.closesAt ?? null, deadlineAt)
  status.say(t.text('clock.longer'))
}
