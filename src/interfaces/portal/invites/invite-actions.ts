import { may } from '../../../domain/authorization/permissions.ts'
import type { Move } from '../../../domain/errors.ts'
import { mayMove } from '../../../domain/invites/allowed-moves.ts'
import { declinedAtOf } from '../../../domain/invites/declined.ts'
import type { InviteDetail } from '../../../domain/invites/invites.ts'
import { DEFAULT_EXPIRES_IN_DAYS } from '../../../domain/limits.ts'
import type { Requirement } from '../../../domain/submissions/needs.ts'
import { canGrantExtraTime } from '../../../domain/submissions/taking/grant-extra-time.ts'
import { daysAfter } from '../../../domain/time/days.ts'
import { type Html, html } from '../../../html/html.ts'
import type { IconName } from '../../../http/pages/icon.ts'
import { confirmButton } from '../kit/confirm.ts'
import { time } from '../kit/formatting.ts'
import { area, checkbox, choice, type Form, field } from '../kit/forms.ts'
import { pathOf } from '../kit/layout.ts'
import { onceField } from '../kit/once.ts'
import { popup, popupButton } from '../kit/popup.ts'
import type { InviteFacts as Facts } from './invite-facts.ts'

/** Actions with a form of their own. */
export type InviteForm = 'resend' | 'extend' | 'correct' | 'replace' | 'extra-time' | 'waive' | 'reactivate' | 'retake'

type Action = { label: string; icon: IconName; heading: string; fields: (form: Form, facts: Facts) => Html; submit: string }

const days = (form: Form): Html =>
  field(form, { name: 'expiresInDays', label: 'Days until it expires', type: 'number', value: String(DEFAULT_EXPIRES_IN_DAYS) })

/** Examples in the expiry form, in days from now. */
const EXAMPLE_DAYS = [7, 14, 30]

function expiry(form: Form, { ctx, invite }: Facts): Html {
  const method = form.values.get('by') ?? 'date'
  const radio = (value: string, label: string) =>
    html`<label class="flex items-center gap-2.5 py-1.5 text-sm"><input type="radio" class="radio radio-sm" name="by" value="${value}" ${method === value && html`checked`}> ${label}</label>`
  const now = ctx.deps.clock()
  const examples = EXAMPLE_DAYS.map((count) => html`<br>${count} days: ${time(daysAfter(now, count))}`)
  return html`<p class="mb-3">It expires now: ${time(invite.expiresAt)}</p>
<fieldset><legend class="mb-1.5 text-sm font-medium">New expiry</legend>
${radio('date', 'On a date')}
${field(form, { name: 'expiresOn', label: 'Date', type: 'date', hint: 'The invite expires at the end of this day.', optional: true })}
${radio('days', 'Some days from now')}
${field(form, { name: 'expiresInDays', label: 'Days from now', type: 'number', optional: true })}
<p class="hint mb-3">Examples:${examples}</p>
</fieldset>`
}

const ACTIONS: Record<InviteForm, Action> = {
  resend: {
    label: 'Send invitation again',
    icon: 'send',
    heading: 'Send the invitation again',
    fields: (form, { invite }) =>
      area(form, {
        name: 'customMessage',
        label: 'Your message',
        value: invite.customMessage,
        hint: 'Only in this email. The invite keeps its own message.',
        rows: 5,
      }),
    submit: 'Send invitation again',
  },
  extend: {
    label: 'Change expiry',
    icon: 'calendar-plus',
    heading: 'Expiry',
    fields: expiry,
    submit: 'Change expiry',
  },
  correct: {
    label: 'Correct name or message',
    icon: 'pencil',
    heading: 'Correct the invite',
    fields: (form, { invite }) => readTexts(form, invite),
    submit: 'Save corrections',
  },
  replace: {
    label: 'Correct the email address',
    icon: 'mail-x',
    heading: 'Email address',
    fields: (form) =>
      html`<p class="mb-4">This invite is revoked. The correct address gets an invite with the same settings, and an email.</p>
${field(form, { name: 'recipientEmail', label: 'Correct email address', type: 'email' })}`,
    submit: 'Invite this address instead',
  },
  'extra-time': {
    label: 'Give extra time',
    icon: 'timer',
    heading: 'Extra time',
    fields: extraTime,
    submit: 'Change extra time',
  },
  waive: {
    label: 'Waive a requirement',
    icon: 'circle-slash',
    heading: 'Waive a requirement',
    fields: waiving,
    submit: 'Waive requirement',
  },
  reactivate: {
    label: 'Reactivate',
    icon: 'rotate-ccw',
    heading: 'Reactivate the invite',
    fields: (form, { invite }) =>
      html`<p class="mb-4">The candidate is emailed a new link. The earlier link still doesn’t work.</p>
${days(form)}${hasDeclined(form, declinedAtOf(invite) !== null)}`,
    submit: 'Reactivate with a new link',
  },
  retake: {
    label: 'Invite to another attempt',
    icon: 'history',
    heading: 'Another attempt',
    fields: (form) => html`<p class="mb-4">The candidate is invited again, with the same settings.</p>${days(form)}`,
    submit: 'Invite to another attempt',
  },
}

function openActions({ ctx, invite, operations, retake }: Facts): InviteForm[] {
  if (operations === null) return []
  const { status } = invite
  const isPossible: Record<InviteForm, boolean> = {
    resend: mayMove('resend', status),
    extend: mayMove('extend', status),
    correct: status === 'pending',
    replace: mayMove('extend', status) && invite.mode === 'live',
    'extra-time': canGrantExtraTime(invite),
    waive: findWaivable(invite, operations.requirements).length > 0,
    reactivate: mayMove('reactivate', status),
    retake: status === 'completed' && retake === null && may(ctx, 'invite'),
  }
  return (Object.keys(ACTIONS) as InviteForm[]).filter((action) => isPossible[action])
}

/** Forms of the possible actions. The refused one is open. */
export function inviteForms(form: Form, facts: Facts): { open: Html[]; closed: Html[] } {
  const path = pathOf(facts.ctx, `invites/${facts.invite.id}`)
  const renderForm = (action: InviteForm) => {
    const { heading, fields, submit } = ACTIONS[action]
    const body = html`<form method="post" action="${`${path}/${action}`}">${onceField()}
${fields(form, facts)}
<button class="btn btn-primary">${submit}</button>
</form>`
    return popup(action, heading, body, action === facts.sent)
  }
  const actions = openActions(facts)
  return {
    open: actions.filter((action) => action === facts.sent).map(renderForm),
    closed: actions.filter((action) => action !== facts.sent).map(renderForm),
  }
}

/** Secondary actions of the page. */
export function actionMenu(facts: Facts): Html[] {
  if (facts.operations === null) return []
  const path = pathOf(facts.ctx, `invites/${facts.invite.id}`)
  const isMain = (action: InviteForm): boolean =>
    action === 'reactivate' || (action === 'resend' && facts.invite.assessmentSession === null)
  const items = openActions(facts).filter((action) => !isMain(action) && action !== facts.sent)
  const mayRevoke = mayMove('revoke' satisfies Move, facts.invite.status)
  return [
    ...items.map((id) => popupButton({ id, ...ACTIONS[id] })),
    ...(mayRevoke
      ? [
          confirmButton({
            label: 'Revoke',
            question: 'Revoke the invite?',
            consequence: 'Its link stops working at once. You can reactivate the invite later, with a new link.',
            address: `${path}/revoke`,
            look: 'menu',
          }),
        ]
      : []),
  ]
}

const readTexts = (form: Form, { recipientName, customMessage, ...limits }: InviteDetail): Html =>
  html`${field(form, { name: 'recipientName', label: 'Name', value: recipientName ?? '', optional: true })}
${area(form, { name: 'customMessage', label: 'Message', value: customMessage })}
${field(form, { name: 'questionReplayLimit', label: 'Replays of each question', type: 'number', value: String(limits.questionReplayLimit) })}
${field(form, { name: 'answerRecordLimit', label: 'Recordings of each answer', type: 'number', value: String(limits.answerRecordLimit) })}`

function extraTime(form: Form, { invite: { status, extraTimePercent } }: Facts): Html {
  const hint = status === 'started' ? `From ${extraTimePercent} to 300.` : 'From 0 to 300.'
  return html`<p class="hint mb-3">More time for each question, its preparation, and the whole${status === 'started' && ', from now on. You can’t reduce it while the candidate is taking the assessment'}. Graders don’t see it. The audit log records who changed it, without a reason.</p>
${field(form, { name: 'extraTimePercent', label: 'Extra time, in percent', type: 'number', value: String(extraTimePercent), hint })}`
}

/** Mailing a candidate who has declined takes an explicit confirmation. */
const hasDeclined = (form: Form, isKnown: boolean): Html | false =>
  (isKnown || form.issues.some(({ rule }) => rule === 'declined')) &&
  html`<p>The candidate has declined this invitation.</p>
${checkbox(form, { name: 'afterDecline', label: 'Invite them anyway' })}`

export const REQUIREMENT_NAMES = new Map<string, string>([
  ['camera', 'Camera check'],
  ['microphone', 'Microphone check'],
  ['screen', 'Screen sharing'],
  ['id_photo', 'ID photo'],
  ['face_photo', 'Face photo'],
] satisfies [Requirement, string][])

/** Requirements that can be waived: all before the start; during a test those that are recorded continuously. */
function findWaivable({ status, waivedChecks, webcamMonitoring }: InviteDetail, requirements: Requirement[]): Requirement[] {
  const isStarted = status === 'started'
  if (!isStarted && status !== 'pending' && status !== 'accepted') return []
  const isLasting = (requirement: Requirement) => requirement === 'screen' || (requirement === 'camera' && webcamMonitoring)
  return requirements.filter((requirement) => !waivedChecks.includes(requirement) && (!isStarted || isLasting(requirement)))
}

function waiving(form: Form, { invite, operations }: Facts): Html {
  const verb = invite.status === 'started' ? 'continue' : 'start'
  const options = findWaivable(invite, operations?.requirements ?? []).map((requirement): [string, string] => [
    requirement,
    REQUIREMENT_NAMES.get(requirement)!,
  ])
  return html`<p class="hint mb-3">If the candidate can’t meet a requirement, you can waive it: they can then ${verb} without it. The audit log records this.</p>
${choice(form, { name: 'requirement', label: 'Requirement', options })}`
}
