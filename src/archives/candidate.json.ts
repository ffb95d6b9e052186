import type { ArchivedInvite, ArchivedMedia, ArchivedSubmission, DataOutsideInvites } from '../domain/archives/candidate-data.ts'
import type { Context } from '../domain/context.ts'
import { chooseAnswer } from '../domain/submissions/choose-answer.ts'
import { gradesOf, toResult } from '../domain/submissions/grading/results.ts'
import { listAnswerFiles } from '../domain/submissions/list-answer-files.ts'
import { type Transcript, toTranscript } from '../domain/submissions/transcripts/read-transcripts.ts'
import { presentErasure } from '../interfaces/v1/erasures.view.ts'
import { presentEvent } from '../interfaces/v1/events.view.ts'
import { presentInviteMessage } from '../interfaces/v1/invite-operations.view.ts'
import { inviteDetailView } from '../interfaces/v1/invites.view.ts'
import { presentGrade, presentResult, presentSubmissionDetail } from '../interfaces/v1/submissions.view.ts'
import { presentSuppression } from '../interfaces/v1/suppressions.view.ts'

// JSON of an archive: v1's shapes where v1 has them, plus data that only the portal shows. Contains no links and no secrets.

/** Paths of photos and recordings in the archive, by media id. */
export type MediaPaths = Map<string, { file: string; bytes: number }>

export type ShownInvite = ReturnType<typeof showInvite>
export type ShownEvent = ReturnType<typeof showEvents>[number]
export type ShownMessage = ReturnType<typeof showMessages>[number]
export type ShownSubmission = ReturnType<typeof showSubmission>
export type ShownMediaFile = ReturnType<typeof showMediaFile>
export type ShownOther = ReturnType<typeof showOther>
export type ListedInvite = { invite: ShownInvite; folder: string; result: ShownSubmission['result'] }

export function showInvite({ invite, tags, orders }: ArchivedInvite) {
  const { assignedGrader: _, ...visible } = inviteDetailView.present({ ...invite, assignedGrader: null as never })
  const { mode, source, attempt, language, chosenLanguage, timeZone, remindersOff, extraTimePercent, waivedChecks } = invite
  return {
    ...visible,
    ...{ mode, source, attempt, language, chosenLanguage, timeZone, remindersOff, extraTimePercent, waivedChecks, tags },
    declinedAt: invite.declinedAt?.toISOString() ?? null,
    orders: orders.map(({ connection, naturalKey, profileUrl, createdAt, cancelledAt, reportedStatus, reportedAt }) => ({
      ...{ system: connection.ats, order: naturalKey, profileUrl, createdAt, cancelledAt, reported: reportedStatus, reportedAt },
    })),
  }
}

/** As in the feed; events not yet numbered have no cursor. */
export const showEvents = ({ events }: ArchivedInvite) => events.map(({ ...event }) => presentEvent(event as never))

export const showMessages = ({ mails }: ArchivedInvite, now: Date) =>
  mails.map((mail) => ({ ...presentInviteMessage(mail, now), ...(mail.message !== null && { customMessage: mail.message }) }))

const ROUNDS = { 1: 'first', 2: 'second', 3: 'decision' } as const

export function showSubmission(ctx: Context, submission: ArchivedSubmission, filed: MediaPaths) {
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
      const chosen = chooseAnswer(attempts)
      return {
        ...question,
        answer: chosen ? showAttempt(chosen, filed) : null,
        otherAttempts: attempts.filter((attempt) => attempt !== chosen).map((attempt) => showAttempt(attempt, filed)),
        score: score ? { points: score.points && Number(score.points), dropped: score.dropped, at: score.createdAt } : null,
        grades: submission.grades
          .filter(({ questionNumber }) => questionNumber === question.number)
          .map(({ round, points, comment, levels, gradedAt }) => ({ round: ROUNDS[round], points, comment, levels, gradedAt })),
        graderNotes: submission.graderNotes
          .filter(({ questionNumber }) => questionNumber === question.number)
          .map(({ questionNumber: _, round, ...note }) => ({ round: ROUNDS[round], ...note })),
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
    decision: submission.decidedAt && {
      decision: submission.decision,
      note: submission.decisionNote,
      decidedAt: submission.decidedAt.toISOString(),
    },
    shares: submission.shares.map(({ shareLink, ...feedback }) => ({ ...shareLink, ...feedback })),
    captures: submission.media
      .filter(({ id, attemptId }) => attemptId === null && !recorded.has(id))
      .map((mediaFile) => showMediaFile(mediaFile, filed)),
    notes: submission.notes,
  }
}

type AnswerAttempt = ArchivedSubmission['paper'][number]['attempts'][number]

const showAttempt = (
  {
    kind,
    state,
    text,
    value,
    media,
    files,
    createdAt,
    completedAt,
    wasInterrupted,
    selectedAt,
    interruptions,
    restarted,
    promptTiming,
  }: AnswerAttempt,
  filed: MediaPaths,
) => ({
  ...{ kind, state, text, value },
  media: media && showMediaFile(media, filed),
  files: listAnswerFiles({ value, files }).map((file) => ({
    name: file.fileName,
    threat: file.threat,
    ...showMediaFile(file, filed),
  })),
  transcript: media?.transcript ? showTranscript(toTranscript(media.transcript)) : null,
  ...{ begunAt: createdAt, answeredAt: completedAt, wasInterrupted, selectedAt, interruptions, restarted, promptTiming },
})

const showTranscript = ({ state, language, model, segments, original, correctedAt, completedAt }: Transcript) => ({
  ...{
    state,
    madeBy: correctedAt ? 'machine and person' : 'machine',
    language,
    model,
    segments,
    original,
    correctedAt,
    completedAt,
  },
})

/** @property file path below the invite's folder; null if there is none (any more), see `state`. */
const showMediaFile = (
  { id, kind, state, contentType, milliseconds, createdAt, deletedAt }: ArchivedMedia,
  filed: MediaPaths,
) => ({
  ...{ kind, state, contentType, milliseconds, createdAt, deletedAt },
  file: filed.get(id)?.file ?? null,
  bytes: filed.get(id)?.bytes ?? null,
})

export const showOther = ({ listRows, registrations, suppressions, erasures }: DataOutsideInvites) => ({
  listRows: listRows.map(({ batchId, number, email, name, terms, state, issues, inviteId }) => ({
    ...{ list: batchId, number, recipientEmail: email, recipientName: name || null, terms, state, issues, inviteId },
  })),
  registrations,
  suppressions: suppressions.map(presentSuppression),
  erasures: erasures.map(presentErasure),
})
