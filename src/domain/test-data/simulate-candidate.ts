import type { Context } from '../context.ts'
import { mayMove } from '../invites/allowed-moves.ts'
import { toCandidateContext } from '../invites/candidate-moves.ts'
import type { InviteDetail } from '../invites/invites.ts'
import { moveInvite } from '../invites/move-invite.ts'
import { CHECKS, isRecorded, PHOTOS } from '../submissions/needs.ts'
import { finishSubmission } from '../submissions/taking/finish-submission.ts'
import { enterForChange } from '../submissions/taking/open-missing-submissions.ts'
import { openQuestion } from '../submissions/taking/open-question.ts'
import { openSectionOf } from '../submissions/taking/open-section.ts'
import { closeQuestion, findOpenQuestion, type SubmissionQuestion } from '../submissions/taking/paper.ts'
import { recordPassedChecks } from '../submissions/taking/pass-checks.ts'
import { readPreparation, readProgress } from '../submissions/taking/read-progress.ts'
import { recordConsent } from '../submissions/taking/record-consent.ts'
import { findKind, saveAnswer, saveText } from '../submissions/taking/save-text.ts'
import { type CandidateSession, type PreparedSession, requireInProgress, requirePrepared } from '../submissions/taking/session.ts'
import { startSubmission } from '../submissions/taking/start-submission.ts'
import { takeOverTab } from '../submissions/taking/take-over-tab.ts'
import { makeUpTranscript } from '../submissions/transcripts/make-up-transcript.ts'
import { beginFile, findFileLimits } from '../submissions/uploads/answer-files.ts'
import { putPart } from '../submissions/uploads/put-part.ts'
import { putPhoto } from '../submissions/uploads/put-photo.ts'
import { beginAttempt, beginCapture, CAPTURES, completeRecording } from '../submissions/uploads/recordings.ts'
import samples from './samples.json' with { type: 'json' }
import type { SimulatedAnswers } from './simulated-answers.ts'

// A candidate who takes the assessment in a moment. Where it is taken in another player, that has answers and recordings, and this only
// moves the invite.

const USER_AGENT = 'simulated'
/** A photo, and two recordings of a second, as Chromium makes them: a tone, and a picture with a tone. */
const decode = (text: string): Buffer => Buffer.from(text, 'base64')
const [PHOTO, AUDIO, VIDEO] = [decode(samples.photo), decode(samples.audio), decode(samples.video)]

export const acceptInvite = (ctx: Context, invite: InviteDetail): Promise<void> => move(ctx, invite, 'accept')

export const declineInvite = (ctx: Context, invite: InviteDetail): Promise<void> => move(ctx, invite, 'decline')

/** Accepts, if that has not been done, prepares all that the invite asks for, and starts. */
export async function startAssessment(ctx: Context, invite: InviteDetail): Promise<void> {
  if (mayMove('accept', invite.status)) await acceptInvite(ctx, invite)
  if (!ctx.deps.hasOwnPlayer) return move(ctx, invite, 'start')
  const session = await findCandidateSession(ctx, invite)
  if (session.invite.status === 'accepted') await startSubmission(await prepare(session))
  await move(ctx, invite, 'start') // done by now, or refused with the state that it is in
}

/** Starts if necessary, answers unanswered questions, and submits. */
export async function submitAnswers(ctx: Context, invite: InviteDetail, { answers }: SimulatedAnswers): Promise<void> {
  if (invite.status === 'completed') return
  if (invite.status !== 'started') await startAssessment(ctx, invite)
  if (!ctx.deps.hasOwnPlayer) return move(ctx, invite, 'complete')
  const session = await findCandidateSession(ctx, invite)
  requireInProgress(session)
  const tab = ctx.deps.newId()
  await takeOverTab(session, tab)
  const captures = await beginCaptures(session, tab)
  const { unanswered, of: questionCount } = await readProgress(session)
  for (let number = 1; number <= questionCount; number++) {
    await openSectionOf(session, number)
    await openQuestion(session, number)
    const question = await findOpenQuestion(session, number)
    if (!question) continue // it was answered, or its time is over
    const text = answers.find((answer) => answer.number === number)?.text
    if (text !== undefined) await saveTypedAnswer(session, tab, question, text)
    else if (unanswered.includes(number)) await createAnswer(session, tab, question)
    await closeQuestion(session, number)
  }
  for (const mediaId of captures) await completeRecording(session, mediaId, { segments: [1] })
  await finishSubmission(session)
}

/** @throws DomainError move_not_allowed. */
async function move(
  ctx: Context,
  { id, mode }: InviteDetail,
  transition: 'accept' | 'start' | 'complete' | 'decline',
): Promise<void> {
  await moveInvite(toCandidateContext(ctx, { id, mode, organization: ctx.organization }), transition, { inviteId: id })
}

/** Finds the session by the current link. */
const findCandidateSession = (ctx: Context, { id, linkVersion }: InviteDetail): Promise<CandidateSession> =>
  enterForChange(ctx, { inviteId: id, linkVersion })

/** Consents, passes the checks and takes the photos. */
async function prepare(session: CandidateSession): Promise<CandidateSession> {
  const { needs, missing } = await readPreparation(session)
  if (missing.includes('consent')) await recordConsent(session, { needs, userAgent: USER_AGENT })
  const { id, linkVersion } = session.invite
  const prepared = await enterForChange(session.ctx, { inviteId: id, linkVersion })
  requirePrepared(prepared)
  await recordPassedChecks(prepared, CHECKS)
  for (const photo of PHOTOS) if (missing.includes(photo)) await putPhoto(prepared, photo, PHOTO)
  return prepared
}

async function createAnswer(session: PreparedSession, tab: string, question: SubmissionQuestion): Promise<void> {
  const { number } = question
  const ownKind = await findKind(session, number)
  if (ownKind?.takesFiles) return sendFile(session, tab, question, `A generated answer to question ${number}.`)
  if (ownKind) {
    await saveAnswer(session, number, { value: ownKind.makeUp() })
    return
  }
  if (!isRecorded(session.ctx.deps.kinds, question)) {
    await saveText(session, number, { text: `A generated answer to question ${number}.` })
    return
  }
  const [kind = 'audio'] = session.ctx.deps.kinds.answering(question.responseType).records
  const { mediaId } = await beginAttempt(session, number, kind)
  const recording = { id: mediaId, submissionId: session.submission.id }
  await makeUpTranscript(session.ctx, recording, `A generated answer to question ${number}.`)
  await upload(session, tab, mediaId, kind === 'video' ? VIDEO : AUDIO)
  await completeRecording(session, mediaId, { segments: [1] })
}

/** Saves words as the answer to a question of a kind. */
async function saveTypedAnswer(session: PreparedSession, tab: string, question: SubmissionQuestion, text: string): Promise<void> {
  const { number } = question
  const kind = await findKind(session, number)
  if (kind?.takesFiles) await sendFile(session, tab, question, text)
  else if (kind) await saveAnswer(session, number, { value: kind.understand(text) })
  else await saveText(session, number, { text })
}

/** Sends a text as a file, or another file if the question takes no texts. */
async function sendFile(session: PreparedSession, tab: string, { number }: SubmissionQuestion, text: string): Promise<void> {
  const { ctx, submission } = session
  const limits = await findFileLimits(ctx, { organizationId: ctx.organization.id, submissionId: submission.id, number })
  const files = { txt: Buffer.from(text), jpg: PHOTO, pdf: decode(samples.pdf), zip: decode(samples.zip) }
  const [type, content] = Object.entries(files).find(([type]) => limits?.types.some((accepted) => accepted === type))!
  const { mediaId } = await beginFile(session, number, { name: `answer.${type}`, bytes: content.length, parts: 1 })
  await upload(session, tab, mediaId, content)
  await completeRecording(session, mediaId, { segments: [1] })
}

/** Starts screen and webcam recordings. @returns their ids. */
async function beginCaptures(session: PreparedSession, tab: string): Promise<string[]> {
  const { invite, submission } = session
  const isAsked = { screen: invite.screenRecording, webcam: invite.webcamMonitoring }
  const consented = { screen: submission.consentMedia.includes('screen'), webcam: submission.consentMedia.includes('camera') }
  const recordingIds: string[] = []
  for (const kind of CAPTURES) {
    if (!isAsked[kind] || !consented[kind]) continue
    const { mediaId } = await beginCapture(session, kind)
    await upload(session, tab, mediaId, VIDEO)
    recordingIds.push(mediaId)
  }
  return recordingIds
}

/** Uploads a recording that is one part. */
const upload = ({ ctx, invite }: PreparedSession, tab: string, mediaId: string, content: Buffer): Promise<void> =>
  putPart(ctx, { inviteId: invite.id, linkVersion: invite.linkVersion }, tab, { mediaId, segment: 0, number: 0, content })
