import type { Context } from '../../../domain/context.ts'
import type { QuestionKinds } from '../../../domain/ports/question-kind.ts'
import { requirementsOf } from '../../../domain/submissions/needs.ts'
import type { GrantedPlay } from '../../../domain/submissions/taking/grant-play.ts'
import { isPreparing } from '../../../domain/submissions/taking/paper.ts'
import {
  listUploads,
  type OpenQuestion,
  readPreparation,
  readProgress,
} from '../../../domain/submissions/taking/read-progress.ts'
import type { PreparedSession } from '../../../domain/submissions/taking/session.ts'
import { isoTime, isoTimeOrNull } from '../../../http/schema/field-types.ts'
import type { CandidateSettings } from '../kit/settings.ts'

/** State of a session for the pages' scripts. Times are ISO 8601; scripts compare them with `now`. */
export async function presentSession(session: PreparedSession, { webcam }: Pick<CandidateSettings, 'webcam'>) {
  const { ctx, invite, submission } = session
  const { needs, photos } = await readPreparation(session)
  const progress = submission.state === 'in_progress' ? await readProgress(session) : undefined
  return {
    // The submission is updated some time after its invite has ended.
    state: submission.state === 'in_progress' && invite.status !== 'started' ? 'withdrawn' : submission.state,
    now: isoTime(ctx.deps.clock()),
    deadlineAt: isoTimeOrNull(submission.deadlineAt),
    isDeadlineOfQuestion: submission.isDeadlineOfQuestion,
    needs,
    checks: { passed: submission.passedChecks, waived: invite.waivedChecks.filter((waived) => isNeeded(waived)) },
    photos,
    webcam,
    question: progress?.open ? presentQuestion(ctx, progress.open, progress.of) : null,
    uploads: await listUploads(session),
  }

  function isNeeded(waived: string): boolean {
    return requirementsOf(needs).some((requirement) => requirement === waived)
  }
}

/** Captions of a prompt, sent with each granted play. Times are in milliseconds; null if unknown. */
export const presentCaptions = ({ language, segments }: NonNullable<GrantedPlay['captions']>) => ({
  language,
  lines: segments.map(({ startMs, endMs, text }) => ({ startMs, endMs, text })),
})

const presentQuestion = ({ deps: { kinds, clock } }: Context, question: OpenQuestion, questionCount: number) => ({
  number: question.number,
  of: questionCount,
  responseType: question.responseType,
  /** Null once answering has begun. */
  answersAt: isPreparing(question, clock()) ? isoTimeOrNull(question.answersAt) : null,
  closesAt: isoTimeOrNull(question.closesAt),
  playsLeft: question.playsLeft,
  attemptsLeft: question.attemptsLeft,
  text: question.text && { text: formOf(kinds, question) ?? question.text.text, revision: question.text.revision },
  attempts: question.attempts.map(({ id, mediaId, kind, state }) => ({ id, mediaId, kind, state })),
  interrupted: question.interrupted,
  mayStartOver: question.mayStartOver,
  hadInterruption: question.hadInterruption,
  answers: question.answers.map(({ id, mediaId, kind, milliseconds, isReady, wasInterrupted, restarted, counts }) => ({
    id,
    mediaId,
    kind,
    milliseconds,
    isReady,
    wasInterrupted,
    restarted,
    counts,
  })),
})

/** The answer as URL-encoded form data, which the page's script saves as a text. */
function formOf(kinds: QuestionKinds, { version, text }: OpenQuestion): string | undefined {
  const kind = version ? kinds.get(version.responseType) : undefined
  if (!kind || text?.value == null) return undefined
  return new URLSearchParams(kind.toForm(text.value).map((value): [string, string] => ['answer', value])).toString()
}
