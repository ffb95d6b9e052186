import type { HeldBesides, HeldInvite, HeldMedia, HeldSubmission } from '../domain/archives/held-candidate.ts'
import type { Context } from '../domain/context.ts'
import { answerOf } from '../domain/submissions/answer.ts'
import { gradesOf, toResult } from '../domain/submissions/grading/results.ts'
import { presentErasure } from '../interfaces/v1/erasures.view.ts'
import { presentEvent } from '../interfaces/v1/events.view.ts'
import { presentInviteMessage } from '../interfaces/v1/invite-operations.view.ts'
import { inviteDetailView } from '../interfaces/v1/invites.view.ts'
import { presentGrade, presentResult, presentSubmissionDetail } from '../interfaces/v1/submissions.view.ts'
import { presentSuppression } from '../interfaces/v1/suppressions.view.ts'

// What is held, as v1 shows it where v1 does, with what only the portal shows beside it. Nothing here opens anything: no links, no secrets.

/** Where the files of photos and recordings lie, by the ids of these. */
export type Filed = Map<string, { file: string; bytes: number }>

export type ShownInvite = ReturnType<typeof showInvite>
export type ShownEvent = ReturnType<typeof showEvents>[number]
export type ShownMessage = ReturnType<typeof showMessages>[number]
export type ShownSubmission = ReturnType<typeof showSubmission>
export type ShownMedium = ReturnType<typeof showMedium>
export type ShownBesides = ReturnType<typeof showBesides>
/** An invite as the list of all has it. */
export type ListedInvite = { invite: ShownInvite; folder: string; result: ShownSubmission['result'] }

export function showInvite({ invite, tags, orders }: HeldInvite) {
  const { assignedGrader: _, ...shown } = inviteDetailView.present({ ...invite, assignedGrader: null as never })
  const { mode, attempt, language, chosenLanguage, timeZone, remindersOff, extraTimePercent, waivedChecks } = invite
  return {
    ...shown,
    ...{ mode, attempt, language, chosenLanguage, timeZone, remindersOff, extraTimePercent, waivedChecks, tags },
    declinedAt: invite.declinedAt?.toISOString() ?? null,
    orders: orders.map(({ connection, naturalKey, profileUrl, createdAt, cancelledAt, reportedStatus, reportedAt }) => ({
      ...{ system: connection.ats, order: naturalKey, profileUrl, createdAt, cancelledAt, reported: reportedStatus, reportedAt },
    })),
  }
}

/** As the feed has them; what has no place in it yet has none here. */
export const showEvents = ({ events }: HeldInvite) => events.map(({ ...event }) => presentEvent(event as never))

export const showMessages = ({ mails }: HeldInvite, now: Date) =>
  mails.map((mail) => ({ ...presentInviteMessage(mail, now), ...(mail.message !== null && { customMessage: mail.message }) }))

const ROUNDS = { 1: 'first', 2: 'second', 3: 'decision' } as const

/** @param filed where its photos and recordings lie. */
export function showSubmission(ctx: Context, submission: HeldSubmission, filed: Filed) {
  const { questions, ...summary } = presentSubmissionDetail(ctx, submission)
  const { state, consentAt, consentMedia, consentVersion, consentLanguage, passedChecks, userAgent, extraTimePercent } =
    submission
  const recorded = new Set(submission.paper.flatMap(({ attempts }) => attempts.flatMap(({ mediaId }) => mediaId ?? [])))
  return {
    ...{ ...summary, state },
    consent: consentAt && {
      at: consentAt.toISOString(),
      version: consentVersion,
      language: consentLanguage,
      covers: consentMedia,
      own: submission.ownConsent,
    },
    ...{ passedChecks, browser: userAgent, extraTimePercent },
    questions: submission.paper.map(({ attempts, scores: [score] }, i) => {
      const { answer: _, ...question } = questions[i]!
      const chosen = answerOf(attempts)
      return {
        ...question,
        answer: chosen ? showAttempt(chosen, filed) : null,
        otherAttempts: attempts.filter((attempt) => attempt !== chosen).map((attempt) => showAttempt(attempt, filed)),
        score: score ? { points: score.points && Number(score.points), dropped: score.dropped, at: score.createdAt } : null,
        grades: submission.grades
          .filter(({ questionNumber }) => questionNumber === question.number)
          .map(({ round, points, comment, gradedAt }) => ({ round: ROUNDS[round], points, comment, gradedAt })),
      }
    }),
    results: submission.releases.map((release) => ({
      ...presentResult(toResult(release)),
      questions: gradesOf(release).map(({ number, ofPoints, ...grade }) => ({
        number,
        ofPoints,
        ...presentGrade({ number, ofPoints, ...grade }),
      })),
    })),
    captures: submission.media.filter(({ id }) => !recorded.has(id)).map((medium) => showMedium(medium, filed)),
    notes: submission.notes,
  }
}

type AnswerAttempt = HeldSubmission['paper'][number]['attempts'][number]

const showAttempt = (
  {
    kind,
    state,
    text,
    value,
    media,
    createdAt,
    completedAt,
    wasInterrupted,
    selectedAt,
    interruptions,
    restarted,
  }: AnswerAttempt,
  filed: Filed,
) => ({
  ...{ kind, state, text, value },
  media: media && showMedium(media, filed),
  ...{ begunAt: createdAt, answeredAt: completedAt, wasInterrupted, selectedAt, interruptions, restarted },
})

/** @property file below the folder of its invite; null: it is not there (any more), see `state`. */
const showMedium = ({ id, kind, state, contentType, milliseconds, createdAt, deletedAt }: HeldMedia, filed: Filed) => ({
  ...{ kind, state, contentType, milliseconds, createdAt, deletedAt },
  file: filed.get(id)?.file ?? null,
  bytes: filed.get(id)?.bytes ?? null,
})

export const showBesides = ({ listRows, suppressions, erasures }: HeldBesides) => ({
  listRows: listRows.map(({ batchId, number, email, name, terms, state, issues, inviteId }) => ({
    ...{ list: batchId, number, recipientEmail: email, recipientName: name || null, terms, state, issues, inviteId },
  })),
  suppressions: suppressions.map(presentSuppression),
  erasures: erasures.map(presentErasure),
})
