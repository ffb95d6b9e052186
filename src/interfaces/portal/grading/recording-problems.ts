import { isBlindTo } from '../../../domain/assessments/blind-grading.ts'
import { may } from '../../../domain/authorization/permissions.ts'
import type { Context } from '../../../domain/context.ts'
import { chooseAnswer } from '../../../domain/submissions/choose-answer.ts'
import type { FlaggedAnswer } from '../../../domain/submissions/grading/flagged-answers.ts'
import type { SubmissionGradingView } from '../../../domain/submissions/grading/grading-view.ts'
import { findRecordingProblem, type RecordingProblem } from '../../../domain/submissions/media/levels.ts'
import { type Html, html } from '../../../html/html.ts'
import { icon } from '../../../http/pages/icon.ts'
import { pathOf } from '../kit/layout.ts'

const LABELS: Record<RecordingProblem, string> = {
  silent: 'No speech found',
  short: 'Very short',
  quiet: 'Very quiet',
  clipped: 'Too loud, may be distorted',
}

const list = new Intl.ListFormat('en-GB')

/** "No speech found: question 2", a badge for each problem. */
export const problemBadges = (flagged: readonly FlaggedAnswer[]): Html[] =>
  [...Map.groupBy(flagged, ({ problem }) => problem)].map(
    ([problem, answers]) =>
      html`<span class="badge badge-soft badge-warning h-auto gap-1 font-medium">${icon('triangle-alert', 'size-3.5')}${LABELS[problem]}: ${answers.length === 1 ? 'question' : 'questions'} ${list.format(answers.map(({ number }) => String(number)))}</span>`,
  )

/** Recordings of a submission that are unfit for grading, with a link for those who may invite the candidate again. */
export function recordingProblems(ctx: Context, { submission, detail }: SubmissionGradingView): Html | false {
  const flagged = detail.paper.flatMap(({ number, attempts }): FlaggedAnswer[] => {
    const media = chooseAnswer(attempts)?.media
    const problem = media ? findRecordingProblem(media) : null
    return problem === null ? [] : [{ number, problem }]
  })
  if (flagged.length === 0) return false
  const mayInvite = may(ctx, 'invite') && !isBlindTo(ctx, submission.assessment)
  return html`<div class="alert alert-soft alert-warning mb-4 max-sm:flex max-sm:flex-col max-sm:items-start" data-recording-problems><div class="flex flex-wrap items-center gap-2">${problemBadges(flagged)}</div>
${mayInvite && html`<a class="btn btn-sm" href="${pathOf(ctx, `invites/${submission.inviteId}`)}">Offer another attempt</a>`}</div>`
}
