import type { CandidateInvite } from '../../../domain/invites/candidate-moves.ts'
import type { OwnResult } from '../../../domain/submissions/grading/results.ts'
import { timeInWords } from '../../../domain/values/format-time.ts'
import { type Html, html } from '../../../html/html.ts'
import { expectations, wordCount, written } from '../../../http/pages/candidate-view.ts'
import { button, form, invitePage, type Page, type View } from '../kit/layout.ts'

// The pages of an invite that is not, or no longer, taken: all but the way from the consent to the end.

/** @param terms what is needed and kept; null where the assessment is taken elsewhere. */
export function pendingPage(view: View, terms: Html | null): Page {
  const { recipientName, assessment, customMessage, expiresAt } = view.invite
  return invitePage(
    view,
    assessment.name,
    html`<p>${recipientName ? `${recipientName}, you` : 'You'} are invited to take this assessment. The invitation is open until <strong>${timeInWords(expiresAt)}</strong>.</p>
${customMessage && html`<blockquote lang="" dir="auto">${customMessage}</blockquote>`}
${facts(view.invite)}
${terms}
${button(view, 'accept', 'Accept')}
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
    html`<p>You have accepted the invitation. Start when you are ready, but before <strong>${timeInWords(expiresAt)}</strong>.</p>
${instruction && html`<h2>${instruction.title || 'Instructions'}</h2>${written(instruction.body)}`}
${facts(view.invite)}
${rest}
${decline(view)}`,
  )
}

/** The assessment is taken elsewhere. */
export const elsewherePage = (view: View, player: string): Page =>
  invitePage(
    view,
    view.invite.assessment.name,
    html`<p>Your assessment has begun.</p>
<p><a class="button" href="${player}">Continue</a></p>`,
  )

/** @param result what was released to the candidate, if anything. */
export const completedPage = (view: View, result: OwnResult | null): Page =>
  invitePage(
    view,
    `Completed: ${view.invite.assessment.name}`,
    html`<p>You have completed this assessment.${view.invite.completedAt && ` It was handed in on ${timeInWords(view.invite.completedAt)}.`} Thank you. There is nothing more for you to do here.</p>
${result && ownResult(view, result)}`,
  )

const ownResult = ({ invite }: View, { points, ofPoints, percent, message, grades }: OwnResult): Html => html`<h2>Your result</h2>
<p>${percent === null ? 'No points are given for this assessment.' : html`<strong>${points} of ${wordCount(ofPoints, 'point')}</strong>, ${percent} %`}</p>
${
  message &&
  html`<p>${invite.organization.name} writes:</p>
<blockquote class="script" lang="" dir="auto">${message}</blockquote>`
}
<dl>${grades.map(({ number, points, ofPoints }) => points !== null && html`<dt>Question ${number}</dt><dd>${points} of ${wordCount(ofPoints, 'point')}</dd>\n`)}</dl>`

export const expiredPage = (view: View): Page =>
  invitePage(
    view,
    `Expired: ${view.invite.assessment.name}`,
    html`<p>This invitation was open until ${timeInWords(view.invite.expiresAt)} and has expired. If you still want to take part, ask for it to be opened again.</p>`,
  )

export const revokedPage = (view: View): Page =>
  invitePage(
    view,
    `Closed: ${view.invite.assessment.name}`,
    html`<p>This invitation has been withdrawn or declined, and can no longer be used.</p>`,
  )

function facts(invite: CandidateInvite): Html {
  const asked = [
    invite.screenRecording && 'your screen is recorded',
    invite.webcamMonitoring && 'your webcam is on',
    invite.requireIdCapture && 'you show an identity document',
    invite.facePhotoRequired && 'a photo of your face is taken',
  ].filter((item) => item !== false)
  return html`<h2>What to expect</h2>
<dl>
${expectations(invite.assessment)}<dt>Replays</dt><dd>each question up to ${wordCount(invite.questionReplayLimit, 'time')}</dd>
<dt>Recordings</dt><dd>each answer up to ${wordCount(invite.answerRecordLimit, 'attempt')}</dd>
</dl>
<h2>Proctoring</h2>
${
  asked.length === 0
    ? html`<p>None.</p>`
    : html`<p>During this assessment:</p>
<ul>${asked.map((item) => html`<li>${item}</li>`)}</ul>`
}`
}

const decline = (view: View): Html => html`<details>
<summary>I do not want to take part</summary>
<p>Declining closes this invitation. Only ${view.invite.organization.name} can open it again.</p>
${form(view, 'decline', html`<button type="submit" class="quiet">Decline the invitation</button>`)}</details>`
