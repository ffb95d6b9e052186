import { mayMove } from '../../../domain/invites/allowed-moves.ts'
import { declinedAtOf } from '../../../domain/invites/declined.ts'
import { isInvitation } from '../../../domain/mails/candidate-mails.ts'
import { type Html, html, type Value } from '../../../html/html.ts'
import { formatCount, formatDuration } from '../../../http/pages/candidate-view.ts'
import { icon } from '../../../http/pages/icon.ts'
import { formatBounce } from '../kit/bounce-labels.ts'
import { ring } from '../kit/chart.ts'
import { time, timeAgo } from '../kit/formatting.ts'
import { panel, pathOf } from '../kit/layout.ts'
import { copyBox, linkButton } from '../kit/parts.ts'
import { popupButton } from '../kit/popup.ts'
import { SUPPRESSIONS } from '../organization/suppressions.page.ts'
import type { InviteFacts as Facts } from './invite-facts.ts'

/** Next step until the invite is completed, with its link while that works. */
export function nextStep(facts: Facts): Html | false {
  const { operations, invite } = facts
  if (invite.status === 'completed') return false
  const link = operations !== null && mayMove('resend', invite.status) && operations.link
  return panel(
    'next',
    'Next step',
    html`${undelivered(facts)}<p>${describeNextStep(facts)}</p>${
      link &&
      html`<p class="hint mt-4 mb-2">The link in the email. Anyone who has it can take the assessment: share it with the candidate only.</p>
${copyBox('link', link, 'Copy link')}`
    }`,
  )
}

function describeNextStep({ ctx, invite, operations }: Facts): Value {
  const recipient = invite.recipientName || invite.recipientEmail
  const reactivateHint = operations !== null && ' Reactivate the invite to email a new link.'
  const declinedAt = declinedAtOf(invite)
  switch (invite.status) {
    case 'pending':
      return html`Waiting for ${recipient} to open the link and accept. The invite expires ${time(invite.expiresAt)}.`
    case 'accepted':
      return html`${recipient} has accepted, and can start until ${time(invite.expiresAt)}.`
    case 'started':
      return html`${recipient} is taking the assessment${invite.startedAt && html`: it was started ${timeAgo(ctx, invite.startedAt)}`}.`
    case 'expired':
      return html`The invite expired ${timeAgo(ctx, invite.expiresAt)}.${reactivateHint}`
    default:
      if (declinedAt) return html`${recipient} declined ${timeAgo(ctx, declinedAt)}.${reactivateHint}`
      return html`The invite was revoked${invite.revokedAt && html` ${timeAgo(ctx, invite.revokedAt)}`}: its link no longer works.${reactivateHint}`
  }
}

/** Warning that the newest mail was not delivered. */
function undelivered({ ctx, invite, emails, isUndelivered, operations, sent }: Facts): Html | false {
  const newest = emails.find(({ kind }) => isInvitation(kind))
  if (!newest || !isUndelivered) return false
  const mayCorrect = operations !== null && invite.mode === 'live' && sent !== 'replace'
  return html`<div class="alert alert-soft alert-error mb-4">${icon('mail-x', 'size-5')}<p>The invitation was not delivered: ${newest.reason || formatBounce(newest)}${newest.failure === 'suppressed' && operations !== null && html` Give them the link below, or <a href="${pathOf(ctx, `${SUPPRESSIONS}?search=${encodeURIComponent(invite.recipientEmail)}`)}">unblock the address</a>.`}</p>${mayCorrect && popupButton({ id: 'replace', label: 'Correct the email address', icon: 'pencil' }, 'btn btn-sm')}</div>`
}

export function resultPanel(facts: Facts): Html | false {
  const { ctx, queued, released } = facts
  if (queued) return panel('result', 'Result', gradingProgress(facts, queued), releaseButton(facts, queued))
  if (!released) return false
  const { id, result } = released
  return panel(
    'result',
    'Result',
    withRing(result.percent, [
      ['Points', result.ofPoints > 0 && `${result.points} of ${result.ofPoints}`],
      ['Time taken', formatTimeTaken(released)],
      ['Released', timeAgo(ctx, result.releasedAt)],
    ]),
    linkButton(pathOf(ctx, `results/${id}`), 'Open result', 'chart-column', 'small'),
  )
}

/** Shows no points: unreleased ones are only on the grading pages. */
function gradingProgress({ ctx }: Facts, { progress, startedAt, submittedAt }: NonNullable<Facts['queued']>): Html {
  const graded = progress && progress.questions - progress.ungraded.length - progress.undecided.length
  return withRing(null, [
    ['Graded', progress && !progress.isOwnPart ? `${graded} of ${formatCount(progress.questions, 'question')}` : 'not yet'],
    ['Submitted', submittedAt && timeAgo(ctx, submittedAt)],
    ['Time taken', formatTimeTaken({ startedAt, submittedAt })],
    ['Released', 'not yet'],
  ])
}

/** Shown once everything is graded. */
const releaseButton = ({ ctx }: Facts, { id, progress }: NonNullable<Facts['queued']>): Html | false =>
  progress !== null &&
  !progress.isOwnPart &&
  progress.ungraded.length + progress.undecided.length === 0 &&
  linkButton(pathOf(ctx, `grading/${id}/release`), 'Release the result', 'check', 'small')

type Rows = [label: string, value: Value][]

const withRing = (percent: number | null, rows: Rows): Html =>
  html`<div class="flex flex-wrap items-center gap-x-8 gap-y-4">${percent !== null && ring(percent)}<dl class="flex flex-wrap gap-x-10 gap-y-3 text-sm">${rows
    .filter(([, value]) => value)
    .map(
      ([label, value]) => html`<div><dt class="text-base-content/70">${label}</dt><dd class="font-medium">${value}</dd></div>`,
    )}</dl></div>`

/** Time from start to submission. */
const formatTimeTaken = ({ startedAt, submittedAt }: { startedAt: Date | null; submittedAt: Date | null }): string | false =>
  startedAt !== null &&
  submittedAt !== null &&
  formatDuration(Math.max(1, Math.round((submittedAt.getTime() - startedAt.getTime()) / 1_000)))
