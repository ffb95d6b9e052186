import { may } from '../../../domain/access/permissions.ts'
import type { Context } from '../../../domain/context.ts'
import type { Move } from '../../../domain/errors.ts'
import { declinedAtOf } from '../../../domain/invites/declined.ts'
import { type InviteEmailRow, shownEmailState } from '../../../domain/invites/emails.ts'
import type { Named } from '../../../domain/invites/form-options.ts'
import type { InviteDetail } from '../../../domain/invites/invites.ts'
import { mayMove } from '../../../domain/invites/moves.ts'
import type { Timeline } from '../../../domain/invites/timeline.ts'
import { DEFAULT_EXPIRES_IN_DAYS } from '../../../domain/limits.ts'
import { mayGrade } from '../../../domain/members/graders.ts'
import type { Member } from '../../../domain/members/members.ts'
import type { Requirement } from '../../../domain/submissions/needs.ts'
import { mayGiveExtraTime } from '../../../domain/submissions/taking/give-extra-time.ts'
import { mayReadSubmission } from '../../../domain/submissions/visibility.ts'
import type { Tag } from '../../../domain/tags/tags.ts'
import { type Html, html, type Value } from '../../../html/html.ts'
import { icon } from '../../../http/pages/icon.ts'
import { demandsOf } from '../kit/assessment-words.ts'
import { limitHint, narrowing } from '../kit/choices.ts'
import { confirmation } from '../kit/confirm.ts'
import { checkbox, choice, type Form, field, mistakes } from '../kit/forms.ts'
import { type Page, panel, pathOf } from '../kit/layout.ts'
import { onceField } from '../kit/once.ts'
import { facts as factList, linkButton } from '../kit/parts.ts'
import { badge } from '../kit/status.ts'
import { table } from '../kit/table.ts'
import { time, wordState } from '../kit/wording.ts'
import { corrections } from './invite-corrections.page.ts'
import { timelineTable } from './timeline.ts'

const NOTICES = new Map([
  ['invited', 'The invite is created.'],
  ['resend', 'The invitation is being sent again.'],
  ['extend', 'The expiry date is changed.'],
  [
    'correct',
    'The invite is corrected. Emails already sent stay as they are: send the invitation again if the candidate should see the change.',
  ],
  ['replaced', 'The right address is invited now, and the earlier invite is revoked.'],
  ['revoke', 'The invite is revoked: its link no longer works.'],
  ['reactivate', 'The invite is pending again, and a new link is on its way.'],
  ['grader', 'The grader is changed.'],
  ['tags', 'The tags are changed.'],
  ['extra-time', 'The extra time is changed. A page that the candidate has open shows it within a minute.'],
  ['waive', 'The requirement is waived: the candidate can start and continue without it.'],
])

type Facts = {
  ctx: Context
  invite: InviteDetail
  createdBy: Member | undefined
  /** The attempt after it. */
  retake: string | null
  tags: Tag[]
  emails: InviteEmailRow[]
  timeline: Timeline
  /** What can be done with it, by who may: null for who may only look. */
  operations: { link: string; named: string; tagChoices: Named[]; graders: Named[]; requirements: Requirement[] } | null
  done: string | undefined
}

export function invitePage(form: Form, { done = '', ...facts }: Facts): Page {
  const { ctx, invite, operations, emails } = facts
  const { recipientName, recipientEmail } = invite
  const mayOpen = mayReadSubmission(ctx, invite, null) && invite.assessmentSession !== null
  return {
    title: `Invite of ${recipientEmail}`,
    heading: recipientName || recipientEmail,
    state: badge(wordState(invite)),
    subtitle: html`${candidateOf(ctx, invite)} · ${may(ctx, 'read') ? assessmentLink(ctx, invite) : invite.assessmentName}`,
    trail: [['Invites', pathOf(ctx, 'invites')]],
    actions: mayOpen && linkButton(pathOf(ctx, `invites/${invite.id}/submission`), 'Open submission', 'file-text', 'main'),
    notice: NOTICES.get(done),
    body: html`${mistakes(form)}<div class="grid items-start gap-6 lg:grid-cols-3">
<div class="space-y-6 lg:col-span-2">${operations && linkAndMoves(form, invite, pathOf(ctx, `invites/${invite.id}`), { link: operations.link, mayRetake: facts.retake === null && may(ctx, 'invite') })}${timeline(facts)}${mails(emails, ctx.deps.clock())}</div>
<div class="space-y-6">${[about(facts), ...belongings(form, facts)]}</div>
</div>`,
  }
}

type Shown = Omit<Facts, 'done'>

/** Their address; with the way to all that there is of them, for who may see it. */
const candidateOf = (ctx: Context, { id, recipientEmail }: InviteDetail): Value =>
  may(ctx, 'read') ? html`<a href="${pathOf(ctx, `candidates/${id}`)}">${recipientEmail}</a>` : recipientEmail

/** Between the attempts of a candidate, for who may see all of them. */
const attemptLink = (ctx: Context, id: string | null, attempt: number): Html | false =>
  id !== null && may(ctx, 'read') && html`<a href="${pathOf(ctx, `invites/${id}`)}">attempt ${attempt}</a>`

function about({ ctx, invite, createdBy, tags, operations, retake }: Shown): Html {
  const readsAll = may(ctx, 'read')
  const declinedAt = declinedAtOf(invite)
  const facts: [string, Value][] = [
    ['Retake of', attemptLink(ctx, invite.retakeOf, invite.attempt - 1)],
    ['Retaken in', attemptLink(ctx, retake, invite.attempt + 1)],
    ['External ID', invite.externalId],
    ['Metadata', invite.metadata && wordMetadata(invite.metadata)],
    ['Sent', time(invite.sentAt)],
    ['Expires', time(invite.expiresAt)],
    ['Accepted', invite.acceptedAt && time(invite.acceptedAt)],
    ['Started', invite.startedAt && time(invite.startedAt)],
    ['Completed', invite.completedAt && time(invite.completedAt)],
    ['Declined', declinedAt && time(declinedAt)],
    ['Revoked', invite.revokedAt && !declinedAt && time(invite.revokedAt)],
    // As in the timeline: clients are not told who works for the organization.
    ['Invited by', readsAll && inviter(invite, createdBy)],
    ['Mode', invite.mode === 'test' && 'Test: its emails are not sent'],
    ['Replays of a question', invite.questionReplayLimit],
    ['Recordings of an answer', invite.answerRecordLimit],
    // Only for who gives it: it may say something of the candidate's health.
    ['Extra time', operations !== null && invite.extraTimePercent > 0 && `${invite.extraTimePercent} %`],
    ['Requirements', demandsOf(invite).join(', ') || 'none'],
    ['Waived', invite.waivedChecks.map((waived) => REQUIREMENT_NAMES.get(waived) ?? waived).join(', ')],
    ['Grader', readsAll && invite.assignedGrader && wordGrader(invite.assignedGrader)],
    ['Tags', operations === null && tags.map(({ name }) => name).join(', ')],
    ['Message', invite.customMessage && html`<span class="preformatted">${invite.customMessage}</span>`],
  ]
  return panel('about', 'Details', factList(facts))
}

const wordMetadata = (metadata: Record<string, string>): Html | false => {
  const lines = Object.entries(metadata).map(([key, value]) => `${key}: ${value}`)
  return lines.length > 0 && html`<span class="preformatted">${lines.join('\n')}</span>`
}

const assessmentLink = (ctx: Context, { assessmentId, assessmentName }: InviteDetail): Html =>
  html`<a href="${pathOf(ctx, `assessments/${assessmentId}`)}">${assessmentName}</a>`

const nameOf = ({ firstName, lastName, email }: { firstName: string; lastName: string; email: string }): string =>
  `${firstName} ${lastName}`.trim() || email

function inviter({ createdByKeyId }: InviteDetail, createdBy: Member | undefined): string {
  const who = createdBy && nameOf(createdBy.user)
  if (createdByKeyId === null) return who ?? 'the operator'
  return who ? `an API key of ${who}` : 'an API key'
}

/** What can be changed besides where it stands. */
function belongings(form: Form, { ctx, invite, tags, operations }: Shown): (Html | false)[] {
  if (operations === null) return []
  const { requirements, named, graders, tagChoices } = operations
  const path = pathOf(ctx, `invites/${invite.id}`)
  return [
    narrowing(path, named, [graders, tagChoices]),
    panel('grader', 'Grader', graderForm(form, invite, path, graders)),
    panel('tags', 'Tags', tagForms(form, tags, path, tagChoices)),
    ...extraTime(form, invite, path),
    ...waiving(form, invite, path, requirements),
    ...corrections(form, invite, path),
  ]
}

type Moving = { link: string; mayRetake: boolean }

/** Its link, and what moves it, as far as it can be moved. */
function linkAndMoves(form: Form, invite: InviteDetail, path: string, { link, mayRetake }: Moving): Html | false {
  const { status } = invite
  const ifMay = (move: Move, shown: Html): Html | false => mayMove(move, status) && shown
  const days = (value: string) => field(form, { name: 'expiresInDays', label: 'Days until it expires', type: 'number', value })
  if (status === 'completed')
    return (
      mayRetake &&
      panel(
        'moves',
        'Another attempt',
        html`<form method="post" action="${`${path}/retake`}">${onceField()}${days(String(DEFAULT_EXPIRES_IN_DAYS))}<p><button class="btn">Invite to another attempt</button></p></form>`,
      )
    )
  return panel(
    'moves',
    'Invitation',
    html`${ifMay(
      'resend',
      html`<p class="hint mb-2">The link in the email. Anyone who has it can take the assessment: share it with the candidate only.</p>
<code class="mb-3 block rounded-field border border-base-300 bg-base-200 px-4 py-3 select-all" id="link">${link}</code>
<div class="mb-4 flex flex-wrap gap-2"><button hidden data-copy="link" type="button" class="btn">Copy link</button>
<form method="post" action="${`${path}/resend`}">${onceField()}<button class="btn btn-primary">${icon('send')}Send invitation again</button></form></div>`,
    )}
${ifMay('reactivate', html`<form method="post" action="${`${path}/reactivate`}">${onceField()}${days(String(DEFAULT_EXPIRES_IN_DAYS))}${hasDeclined(form, declinedAtOf(invite) !== null)}<p><button class="btn btn-primary">${icon('rotate-ccw')}Reactivate with a new link</button></p></form>`)}
<div class="flex flex-wrap items-start gap-x-6">${ifMay(
      'extend',
      html`<details ${form.issues.some(({ field }) => field === 'expiresInDays') && html`open`}>
<summary class="btn btn-sm">${icon('calendar-plus')}Extend</summary>
<form method="post" action="${`${path}/extend`}" class="mt-3">${onceField()}${days(String(DEFAULT_EXPIRES_IN_DAYS))}<button class="btn">Change expiry</button></form>
</details>`,
    )}
${ifMay('revoke', confirmation({ label: 'Revoke', question: 'Revoke the invite?', consequence: 'Its link stops working at once. You can reactivate the invite later, with a new link.', address: `${path}/revoke` }))}</div>`,
  )
}

/** Nobody who has declined is mailed again by a mere click. */
const hasDeclined = (form: Form, isKnown: boolean): Html | false =>
  (isKnown || form.issues.some(({ rule }) => rule === 'declined')) &&
  html`<p>The candidate has declined this invitation.</p>
${checkbox(form, { name: 'afterDecline', label: 'Invite them anyway' })}`

const REQUIREMENT_NAMES = new Map<string, string>([
  ['camera', 'Camera check'],
  ['microphone', 'Microphone check'],
  ['screen', 'Screen sharing'],
  ['id_photo', 'ID photo'],
  ['face_photo', 'Face photo'],
] satisfies [Requirement, string][])

/** For a candidate who can't meet something: before the start or, of what is recorded all the time, while they take it. */
function waiving(form: Form, invite: InviteDetail, path: string, requirements: Requirement[]): Html[] {
  const { status, waivedChecks, webcamMonitoring } = invite
  const isStarted = status === 'started'
  const isLasting = (requirement: Requirement) => requirement === 'screen' || (requirement === 'camera' && webcamMonitoring)
  const open = requirements.filter((requirement) => !waivedChecks.includes(requirement) && (!isStarted || isLasting(requirement)))
  if (open.length === 0 || !(isStarted || status === 'pending' || status === 'accepted')) return []
  const options = open.map((requirement): [string, string] => [requirement, REQUIREMENT_NAMES.get(requirement)!])
  const what = isStarted ? 'continue' : 'start'
  const body = html`<p class="hint mb-3">If the candidate cannot meet a requirement, you can waive it: they can then ${what} without it. The audit log records this.</p>
<form method="post" action="${`${path}/waive`}">
${choice(form, { name: 'requirement', label: 'Requirement', options })}
<button class="btn">Waive requirement</button>
</form>`
  return [panel('waive', 'Requirements', body)]
}

/** More time, before the start or while it runs. */
function extraTime(form: Form, invite: InviteDetail, path: string): Html[] {
  if (!mayGiveExtraTime(invite)) return []
  const { status, extraTimePercent } = invite
  const hint = status === 'started' ? `From ${extraTimePercent} to 300.` : 'From 0 to 300.'
  const body = html`<p class="hint mb-3">More time for each question and for the whole${status === 'started' && ', from now on: it can not be taken back while the candidate is taking the assessment'}. Graders do not see it. Who changed it stays in the audit log, without a reason.</p>
<form method="post" action="${`${path}/extra-time`}">${onceField()}
${field(form, { name: 'extraTimePercent', label: 'Extra time, in percent', type: 'number', value: String(extraTimePercent), hint })}
<button class="btn">Change the extra time</button>
</form>`
  return [panel('extra-time', 'Extra time', body)]
}

const wordGrader = (grader: NonNullable<InviteDetail['assignedGrader']>): string =>
  mayGrade(grader)
    ? nameOf(grader.user)
    : `${nameOf(grader.user)}, who no longer grades: another grader can take over the submission`

/** Who grades it now can be kept, also where they may not grade any more or are not among those listed. */
function graderForm(form: Form, { assignedGrader }: InviteDetail, path: string, graders: Named[]): Html {
  const isListed = graders.some(({ id }) => id === assignedGrader?.id)
  const present = assignedGrader && !isListed ? [{ id: assignedGrader.id, name: nameOf(assignedGrader.user) }] : []
  return html`<form method="post" action="${`${path}/grader`}">
${choice(form, {
  name: 'assignedGraderId',
  label: 'Grader',
  value: assignedGrader?.id ?? '',
  options: [['', 'Nobody yet'], ...[...present, ...graders].map(({ id, name }): [string, string] => [id, name])],
  ...limitHint(graders),
})}
<button class="btn">Assign</button>
</form>`
}

function tagForms(form: Form, tags: Tag[], path: string, choices: Named[]): Html {
  const others = choices.filter(({ id }) => !tags.some((tag) => tag.id === id))
  return html`${
    tags.length === 0
      ? html`<p class="hint mb-3">No tags yet.</p>`
      : html`<ul class="mb-4 flex flex-wrap gap-2">${tags.map(
          ({ id, name }) =>
            html`<li class="badge badge-soft badge-lg gap-1 pr-1">${name}<form method="post" action="${`${path}/tags/${id}/remove`}"><button class="btn btn-ghost btn-circle btn-xs" aria-label="${`Remove ${name}`}">${icon('x', 'size-3.5')}</button></form></li>`,
        )}</ul>`
  }
${
  others.length > 0
    ? html`<form method="post" action="${`${path}/tags`}">
${choice(form, { name: 'tagIds', label: 'Add a tag', options: others.map(({ id, name }) => [id, name]), ...limitHint(choices) })}
<button class="btn">Add</button>
</form>`
    : html`<p id="tagIds" class="hint">There are no other tags to add.</p>`
}`
}

const timeline = ({ timeline }: Shown): Html => panel('timeline', 'Timeline', timelineTable('timeline-heading', timeline))

const mails = (emails: InviteEmailRow[], now: Date): Html =>
  panel(
    'mails',
    'Emails',
    emails.length === 0
      ? html`<p class="hint">No emails yet.</p>`
      : table(
          'mails-heading',
          ['Created', 'Status', 'Sent', 'Attempts', 'Reason'],
          emails.map(({ createdAt, sentAt, attempts, reason, delayedUntil, ...email }) => [
            time(createdAt),
            badge(shownEmailState({ ...email, delayedUntil }, now)),
            sentAt && time(sentAt),
            attempts,
            shownEmailState({ ...email, delayedUntil }, now) === 'delayed' && delayedUntil
              ? html`daily limit reached; sent after ${time(delayedUntil)}`
              : reason,
          ]),
        ),
  )
