import type { CandidateInvite } from '../../../domain/invites/candidate-moves.ts'
import type { OwnResult } from '../../../domain/submissions/grading/results.ts'
import { timeInWords } from '../../../domain/values/format-time.ts'
import { type Html, html } from '../../../html/html.ts'
import { expectations, wordCount, written } from '../../../http/pages/candidate-view.ts'
import { icon } from '../../../http/pages/icon.ts'
import { button, form, invitePage, type Page, pathOf, type View } from '../kit/layout.ts'

// The pages of an invite that is not, or no longer, taken: all but the way from the consent to the end.

/** @param terms what is needed and kept; null where the assessment is taken elsewhere. */
export function pendingPage(view: View, terms: Html | null): Page {
  const { recipientName, assessment, customMessage, expiresAt } = view.invite
  return invitePage(
    view,
    assessment.name,
    html`<p class="mt-2">${recipientName ? `${recipientName}, you` : 'You'} are invited to take this assessment.</p>
${customMessage && quoted(customMessage)}
${facts(view.invite)}
${openUntil(expiresAt, 'You can start at any moment before.')}
${button(view, 'accept', 'Accept the invitation')}
${terms && html`<details class="mt-8"><summary class="link">What you need, what is recorded, and who sees it</summary>${terms}</details>`}
${decline(view)}`,
  )
}

/** @param rest what is to be done before the start. */
export function acceptedPage(view: View, rest: Html): Page {
  const { assessment, expiresAt } = view.invite
  const { instruction } = assessment
  return invitePage(
    view,
    assessment.name,
    html`<p class="mt-2">You have accepted the invitation. Start when you are ready.</p>
${instruction && html`<h2 class="mt-6">${instruction.title || 'Instructions'}</h2>${written(instruction.body)}`}
${facts(view.invite)}
${openUntil(expiresAt, 'Start before then.')}
${rest}
${decline(view)}`,
  )
}

/** The assessment is taken elsewhere. */
export const elsewherePage = (view: View, player: string): Page =>
  invitePage(
    view,
    view.invite.assessment.name,
    html`<p class="mt-2">Your assessment has begun.</p>
<p class="mt-6"><a class="btn btn-primary btn-lg" href="${player}">Continue</a></p>`,
  )

/** @param result what was released to the candidate, if anything. @param goesOn whether there is somewhere to go on to. */
export const completedPage = (view: View, result: OwnResult | null, goesOn: boolean): Page =>
  invitePage(
    view,
    `Completed: ${view.invite.assessment.name}`,
    html`<p class="mt-2 flex items-start gap-2">${icon('circle-check', 'size-6 text-success')}<span>You have completed this assessment.${view.invite.completedAt && ` It was handed in on ${timeInWords(view.invite.completedAt)}.`} Thank you.${!goesOn && ' There is nothing more for you to do here.'}</span></p>
${goesOn && view.invite.returnUrl !== null && html`<p class="mt-6"><a class="btn btn-primary btn-lg" href="${`${pathOf(view)}/return`}">Go on at ${new URL(view.invite.returnUrl).host}</a></p>`}
${result && ownResult(view, result)}`,
  )

const ownResult = (
  { invite }: View,
  { points, ofPoints, percent, message, grades }: OwnResult,
): Html => html`<section class="panel mt-6"><h2>Your result</h2>
${
  percent === null
    ? html`<p>No points are given for this assessment.</p>`
    : html`<p class="mt-1 text-3xl font-semibold tabular-nums">${percent} %</p>
<p><strong class="font-medium">${points} of ${wordCount(ofPoints, 'point')}</strong></p>`
}
${
  message &&
  html`<p class="mt-4">${invite.organization.name} writes:</p>
${quoted(message)}`
}
<dl class="details mt-4">${grades.map(({ number, points, ofPoints }) => points !== null && html`<dt>Question ${number}</dt><dd>${points} of ${wordCount(ofPoints, 'point')}</dd>\n`)}</dl></section>`

export const expiredPage = (view: View): Page =>
  invitePage(
    view,
    `Expired: ${view.invite.assessment.name}`,
    html`<p class="mt-2">This invitation was open until ${timeInWords(view.invite.expiresAt)} and has expired. If you still want to take part, ask for it to be opened again.</p>`,
  )

export const revokedPage = (view: View): Page =>
  invitePage(
    view,
    `Closed: ${view.invite.assessment.name}`,
    html`<p class="mt-2">This invitation has been withdrawn or declined, and can no longer be used.</p>`,
  )

/** What somebody of the organization has written. */
const quoted = (text: string): Html =>
  html`<blockquote class="script my-4 border-l-4 border-base-300 pl-4" lang="" dir="auto">${text}</blockquote>`

const openUntil = (expiresAt: Date, what: string): Html =>
  html`<div class="alert alert-soft alert-info mt-6">${icon('calendar-clock', 'size-5')}<p>Open until <strong>${timeInWords(expiresAt)}</strong>. ${what}</p></div>`

/** What to expect, and what the invite asks. */
const facts = (invite: CandidateInvite): Html => html`<h2 class="sr-only">What to expect</h2>
${expectations(invite.assessment, [
  [true, 'rotate-cw', `Played up to ${wordCount(invite.questionReplayLimit, 'time')}`, 'Each question that has sound or video'],
  [true, 'mic', `Recorded up to ${wordCount(invite.answerRecordLimit, 'time')}`, 'Each answer that you record'],
  [invite.screenRecording, 'monitor', 'Your screen is recorded', 'While you take the assessment'],
  [invite.webcamMonitoring, 'video', 'Your webcam is on', 'While you take the assessment'],
  [invite.requireIdCapture, 'camera', 'You show an identity document', 'A photo of it, before the start'],
  [invite.facePhotoRequired, 'camera', 'A photo of your face is taken', 'Before the start'],
])}`

const decline = (view: View): Html => html`<details class="mt-4">
<summary class="quiet">I do not want to take part</summary>
<p class="mt-2">Declining closes this invitation. Only ${view.invite.organization.name} can open it again.</p>
${form(view, 'decline', html`<button type="submit" class="btn btn-outline mt-3">Decline the invitation</button>`)}</details>`
