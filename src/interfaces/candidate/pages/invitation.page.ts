import { findContactOf } from '../../../domain/invites/find-contact.ts'
import type { AssessmentFacts } from '../../../domain/submissions/assessment-facts.ts'
import type { OwnResult } from '../../../domain/submissions/grading/results.ts'
import { visibleName } from '../../../domain/text/visible-name.ts'
import { withExtraTime } from '../../../domain/time/extra-time.ts'
import { type Html, html } from '../../../html/html.ts'
import { expectations, userText } from '../../../http/pages/candidate-view.ts'
import { icon } from '../../../http/pages/icon.ts'
import { endedPage, form, hidden, invitePage, mailtoOf, type Page, pathOf, time, type View } from '../kit/layout.ts'

// Pages of an invite before the start and after the end.

/** Parts of the pages before the start. @property computer notice that a computer is needed, or false. */
export type BeforeStart = { facts: AssessmentFacts; computer: Html | false }

/** @param terms requirements and consent; null if the assessment is taken in another player. */
export function pendingPage(view: View, { facts, computer }: BeforeStart, terms: Html | null): Page {
  const { t } = view
  const { assessment, customMessage, expiresAt } = view.invite
  const name = visibleName(view.invite.recipientName)
  return invitePage(
    view,
    assessment.name,
    html`${computer}<p class="mt-2">${name ? t.text('invitation.greeting', { name }) : t.text('invitation.greeting.nobody')}</p>
${customMessage && quoted(customMessage)}
${expectedOf(view, facts)}
${openUntil(t.html('invitation.open.pending', { time: time(t, expiresAt) }))}
${form(view, 'accept', html`${hidden('zone', '')}<button type="submit" class="btn btn-primary btn-lg mt-6">${t.text('invitation.accept')}</button>`)}
${terms && html`<details class="mt-8"><summary class="link">${t.text('invitation.terms')}</summary>${terms}</details>`}
${decline(view)}`,
  )
}

/** @param nextSteps what the candidate still has to do before the start. @param isAgreed true if the candidate has consented: then the terms are folded. */
export function acceptedPage(view: View, { facts, computer }: BeforeStart, nextSteps: Html, isAgreed = false): Page {
  const { t } = view
  const { assessment, expiresAt } = view.invite
  const { instruction } = assessment
  return invitePage(
    view,
    assessment.name,
    html`${computer}<p class="mt-2">${t.text('invitation.accepted')}</p>
${instruction && html`<h2 class="mt-6">${instruction.title || t.text('invitation.instructions')}</h2>${userText(instruction.body)}`}
${!isAgreed && expectedOf(view, facts)}
${openUntil(t.html('invitation.open.accepted', { time: time(t, expiresAt) }))}
${nextSteps}
${isAgreed && html`<details class="mt-4"><summary class="quiet">${t.text('expect.heading')}</summary>${expectedOf(view, facts)}</details>`}
${decline(view)}`,
  )
}

/** Page of an assessment that is taken in an external player. */
export const elsewherePage = (view: View, player: string): Page =>
  invitePage(
    view,
    view.invite.assessment.name,
    html`<p class="mt-2">${view.t.text('elsewhere.begun')}</p>
<p class="mt-6"><a class="btn btn-primary btn-lg" href="${player}">${view.t.text('elsewhere.continue')}</a></p>`,
  )

/** @param result result released to the candidate, if any. @param goesOn true if there is a return URL. */
export function completedPage(view: View, result: OwnResult | null, goesOn: boolean): Page {
  const { t } = view
  const { organization, assessment, completedAt, returnUrl } = view.invite
  const text = completedAt ? t.html('completed.text.at', { time: time(t, completedAt) }) : t.text('completed.text')
  return endedPage(
    view,
    t.text('completed.title', { assessment: assessment.name }),
    t.text('completed.heading'),
    html`<p class="mt-2 flex items-start gap-2">${icon('circle-check', 'size-6 text-success')}<span>${text}</span></p>
${!result && html`<p class="mt-2">${goesOn ? t.text('completed.goes_on') : t.text('completed.next', { organization: organization.name })}</p>`}
${goesOn && returnUrl !== null && html`<p class="mt-6"><a class="btn btn-primary btn-lg" href="${`${pathOf(view)}/return`}">${t.text('completed.return', { host: new URL(returnUrl).host })}</a></p>`}
${result && ownResult(view, result)}`,
  )
}

const ownResult = (view: View, { points, ofPoints, percent, band, message, grades }: OwnResult): Html => {
  const { t, invite } = view
  return html`<section class="panel mt-6"><h2>${t.text('result.heading')}</h2>
${
  percent === null
    ? html`<p>${t.text('result.nothing')}</p>`
    : html`<p class="mt-1 text-3xl font-semibold tabular-nums">${t.text('result.percent', { percent })}</p>
<p><strong class="font-medium">${t.text('result.points', { points, ofPoints })}</strong></p>${band !== null && html`<p class="mt-1" dir="auto">${band}</p>`}`
}
${
  message &&
  html`<p class="mt-4">${t.text('result.message', { organization: invite.organization.name })}</p>
${quoted(message)}`
}
<dl class="details mt-4">${grades.map(({ number, points, ofPoints }) => points !== null && html`<dt>${t.text('result.question', { number })}</dt><dd>${t.text('result.points', { points, ofPoints })}</dd>\n`)}</dl>
<p class="mt-4"><a class="btn" href="${`${pathOf(view)}/report`}">${icon('download')}${t.text('result.download')}</a></p></section>`
}

export const expiredPage = (view: View): Page =>
  endedPage(
    view,
    view.t.text('expired.title', { assessment: view.invite.assessment.name }),
    view.t.text('expired.heading'),
    html`<p class="mt-2">${view.t.html('expired.text', { time: time(view.t, view.invite.expiresAt) })}</p>
${askAgain(view, 'expired.next')}`,
  )

/** @param isDeclined true if the candidate declined; otherwise it is unknown who ended the invite. */
export const revokedPage = (view: View, isDeclined: boolean): Page =>
  endedPage(
    view,
    view.t.text('revoked.title', { assessment: view.invite.assessment.name }),
    view.t.text(isDeclined ? 'declined.heading' : 'revoked.heading'),
    html`${!isDeclined && html`<p class="mt-2">${view.t.text('revoked.text')}</p>`}
${askAgain(view, isDeclined ? 'declined.next' : 'revoked.next')}`,
  )

/** Contact who can reopen a closed invite. */
function askAgain({ t, invite }: View, next: 'expired.next' | 'revoked.next' | 'declined.next'): Html {
  const contact = findContactOf(invite)
  const subject = encodeURIComponent(invite.assessment.name)
  return html`<p class="mt-2">${t.text(next, { organization: invite.organization.name })}</p>
${contact && html`<p class="mt-6"><a class="btn btn-primary btn-lg" href="${`${mailtoOf(contact.address)}?subject=${subject}`}">${t.text('contact.write', { person: contact.name })}</a></p>`}`
}

const quoted = (text: string): Html =>
  html`<blockquote class="script my-4 border-s-4 border-base-300 ps-4" lang="" dir="auto">${text}</blockquote>`

const openUntil = (text: Html): Html =>
  html`<div class="alert alert-soft alert-info mt-6">${icon('calendar-clock', 'size-5')}<p>${text}</p></div>`

/** Contents and requirements of an assessment. */
export function expectedOf({ t, invite }: View, facts: AssessmentFacts): Html {
  const throughout = t.text('expect.throughout')
  const { totalPoints } = invite.assessment
  const withExtra = (limit: number) => Math.floor(withExtraTime(limit, invite.extraTimePercent))
  const times = {
    timeLimit: withExtra(invite.assessment.timeLimit),
    timedSeconds: withExtra(facts.timedSeconds),
    sectionSeconds: withExtra(facts.sectionSeconds),
  }
  return html`<h2 class="sr-only">${t.text('expect.heading')}</h2>
${expectations(t, { ...facts, totalPoints, ...times }, [
  [facts.playsMedia, 'rotate-cw', t.text('expect.plays', { count: invite.questionReplayLimit }), t.text('expect.plays.meaning')],
  [
    facts.takesRecordings,
    'mic',
    t.text('expect.attempts', { count: invite.answerRecordLimit }),
    t.text('expect.attempts.meaning'),
  ],
  [invite.screenRecording, 'monitor', t.text('expect.screen'), throughout],
  [invite.webcamMonitoring, 'video', t.text('expect.webcam'), throughout],
  [invite.requireIdCapture, 'camera', t.text('expect.id'), t.text('expect.id.meaning')],
  [invite.facePhotoRequired, 'camera', t.text('expect.face'), t.text('expect.face.meaning')],
])}`
}

const decline = (view: View): Html => html`<details class="mt-4">
<summary class="quiet">${view.t.text('invitation.decline.summary')}</summary>
<p class="mt-2">${view.t.text('invitation.decline.text', { organization: view.invite.organization.name })}</p>
${form(view, 'decline', html`<button type="submit" class="btn btn-outline mt-3">${view.t.text('invitation.decline')}</button>`)}</details>`
