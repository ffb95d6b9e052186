import { sql } from '../../../db/builder.ts'
import { affectedRows } from '../../../db/statements.ts'
import { isUuid } from '../../text/uuid.ts'
import { acceptsReportsAt, isOfItsQuestion } from './choose-attempt.ts'
import { refuseSession } from './refuse-session.ts'
import type { PreparedSession } from './session.ts'

/** Result of playing a tone: `heard` if the microphone picked it up. */
export const HEADPHONE_CHECKS = ['unheard', 'heard', 'unknown'] as const
export type HeadphoneCheck = (typeof HEADPHONE_CHECKS)[number]

/**
 * When the prompt played during a segment of a simultaneous recording, in milliseconds as the candidate's browser measured them. The
 * recorder reports its start with its first data, which may be late; align-prompt.ts corrects that by the length of the segment.
 */
export type PromptTiming = {
  /** From the recorder's start to the time 0 of the prompt. Negative if the prompt continues from a later time. */
  zero: number
  /** Time of the prompt at which it began to play. */
  from: number
  /** From the recorder's start to its stop; null until it stops. */
  elapsed: number | null
  headphones: HeadphoneCheck
}

/** As stored: by segment. */
export type PromptTimings = Record<string, PromptTiming>

/**
 * Stores when the prompt played during a segment. Repeatable: the last report counts. Accepted as long as uploads are.
 *
 * @throws DomainError session_refused: not_found, also if the question is not simultaneous, or its time is over.
 */
export async function recordPromptTiming(
  { ctx, submission }: PreparedSession,
  mediaId: string,
  segment: number,
  timing: PromptTiming,
): Promise<void> {
  if (!isUuid(mediaId)) return refuseSession('not_found')
  const now = ctx.deps.clock()
  const change = ctx.db
    .updateTable('answerAttempts')
    .from([ctx.db.table('submissions'), ctx.db.table('submissionQuestions')])
    .set(({ ref }) => {
      const before = sql`coalesce(${ref('answerAttempts.promptTiming')}, '{}'::jsonb)`
      return { promptTiming: sql`${before} || ${JSON.stringify({ [segment]: timing })}::jsonb` }
    })
    .where(isOfItsQuestion)
    .where('answerAttempts.submissionId', '=', submission.id)
    .where('answerAttempts.mediaId', '=', mediaId)
    .where('submissionQuestions.simultaneous', '=', true)
    .where((eb) => acceptsReportsAt(eb, now))
  if ((await affectedRows(change)) === 0) refuseSession('not_found')
}
