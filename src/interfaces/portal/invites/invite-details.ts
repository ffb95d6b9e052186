import { may } from '../../../domain/authorization/permissions.ts'
import type { Context } from '../../../domain/context.ts'
import { declinedAtOf } from '../../../domain/invites/declined.ts'
import type { Choice } from '../../../domain/invites/form-options.ts'
import type { InviteDetail } from '../../../domain/invites/invites.ts'
import { mayGrade } from '../../../domain/members/graders.ts'
import type { Member } from '../../../domain/members/members.ts'
import type { ListedTag } from '../../../domain/tags/tags.ts'
import { displayNameOf } from '../../../domain/text/display-name.ts'
import { type Html, html, type Value } from '../../../html/html.ts'
import { icon } from '../../../http/pages/icon.ts'
import { labelRequirements } from '../kit/assessment-labels.ts'
import { limitHint, nameFilterForm } from '../kit/choices.ts'
import { doesNotExpire, labelInviteStatus, time } from '../kit/formatting.ts'
import { choice, type Form } from '../kit/forms.ts'
import { panel, pathOf } from '../kit/layout.ts'
import { factList, linkButton } from '../kit/parts.ts'
import { popupButton } from '../kit/popup.ts'
import { badge } from '../kit/status.ts'
import { REQUIREMENT_NAMES } from './invite-actions.ts'
import type { InviteFacts as Facts } from './invite-facts.ts'

/** Link to another attempt, for members who may see all of them. */
const attemptLink = (ctx: Context, id: string | null, attempt: number): Html | false =>
  id !== null && may(ctx, 'read') && html`<a href="${pathOf(ctx, `invites/${id}`)}">attempt ${attempt}</a>`

export function inviteDetails({ ctx, invite, createdBy, tags, operations, retake, timeline, sent }: Facts): Html {
  const readsAll = may(ctx, 'read')
  const facts: [string, Value][] = [
    ['Earlier attempt', attemptLink(ctx, invite.retakeOf, invite.attempt - 1)],
    ['Next attempt', attemptLink(ctx, retake, invite.attempt + 1)],
    ['External ID', invite.externalId],
    ['Metadata', invite.metadata && formatMetadata(invite.metadata)],
    ['Sent', time(invite.sentAt)],
    ['Expires', !doesNotExpire(invite) && time(invite.expiresAt)],
    ...(timeline.isWhole ? [] : otherTimes(invite)),
    // Clients are not told who works for the organization, here and in the timeline.
    ['Invited by', readsAll && inviter(invite, createdBy)],
    ['Mode', invite.mode === 'test' && 'Test: its emails are not sent'],
    ['Replays of each question', invite.questionReplayLimit],
    ['Recordings of each answer', invite.answerRecordLimit],
    // Shown only to members who can grant it: it may reveal something about the candidate's health.
    ['Extra time', operations !== null && invite.extraTimePercent > 0 && `${invite.extraTimePercent} %`],
    ['Requirements', labelRequirements(invite).join(', ') || 'none'],
    ['Waived', invite.waivedChecks.map((waived) => REQUIREMENT_NAMES.get(waived) ?? waived).join(', ')],
    ['Grader', readsAll && invite.assignedGrader && formatGrader(invite.assignedGrader)],
    ['Tags', operations === null && tags.map(({ name }) => name).join(', ')],
    ['Message', invite.customMessage && html`<span class="preformatted">${invite.customMessage}</span>`],
  ]
  const mayCorrect = operations !== null && invite.status === 'pending' && sent !== 'correct'
  return panel(
    'about',
    'Details',
    factList(facts, 'aside'),
    mayCorrect && popupButton({ id: 'correct', label: 'Edit', icon: 'pencil' }, 'btn btn-ghost btn-sm'),
  )
}

/** Times that the timeline does not show. */
function otherTimes(invite: InviteDetail): [string, Value][] {
  const declinedAt = declinedAtOf(invite)
  return [
    ['Accepted', invite.acceptedAt && time(invite.acceptedAt)],
    ['Started', invite.startedAt && time(invite.startedAt)],
    ['Completed', invite.completedAt && time(invite.completedAt)],
    ['Declined', declinedAt && time(declinedAt)],
    ['Revoked', invite.revokedAt && !declinedAt && time(invite.revokedAt)],
  ]
}

const formatMetadata = (metadata: Record<string, string>): Html | false => {
  const lines = Object.entries(metadata).map(([key, value]) => `${key}: ${value}`)
  return lines.length > 0 && html`<span class="preformatted">${lines.join('\n')}</span>`
}

function inviter({ createdByKeyId, source }: InviteDetail, createdBy: Member | undefined): string {
  if (source === 'open') return 'nobody: they came by the open link'
  const creator = createdBy && displayNameOf(createdBy.user)
  if (createdByKeyId === null) return creator ?? 'the operator'
  return creator ? `an API key of ${creator}` : 'an API key'
}

/** Settings that can be changed at any time: grader and tags. */
export function graderAndTags(form: Form, { ctx, invite, tags, operations }: Facts): (Html | false)[] {
  if (operations === null) return []
  const { named, graders, tagChoices } = operations
  const path = pathOf(ctx, `invites/${invite.id}`)
  return [
    nameFilterForm(path, named, [graders, tagChoices]),
    panel('grader', 'Grader', graderForm(form, invite, path, graders)),
    panel('tags', 'Tags', tagForms(form, tags, path, tagChoices)),
  ]
}

const formatGrader = (grader: NonNullable<InviteDetail['assignedGrader']>): string =>
  mayGrade(grader)
    ? displayNameOf(grader.user)
    : `${displayNameOf(grader.user)}, who no longer grades: another grader can take over the submission`

/** The current grader stays selectable, even if they no longer grade or are not among the listed ones. */
function graderForm(form: Form, { assignedGrader }: InviteDetail, path: string, graders: Choice[]): Html {
  const isListed = graders.some(({ id }) => id === assignedGrader?.id)
  const present = assignedGrader && !isListed ? [{ id: assignedGrader.id, name: displayNameOf(assignedGrader.user) }] : []
  return html`<form method="post" action="${`${path}/grader`}" class="one-field">
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

function tagForms(form: Form, tags: ListedTag[], path: string, choices: Choice[]): Html {
  const otherTags = choices.filter(({ id }) => !tags.some((tag) => tag.id === id))
  return html`${
    tags.length > 0 &&
    html`<ul class="mb-4 flex flex-wrap gap-2">${tags.map(
      ({ id, name }) =>
        html`<li class="badge badge-soft badge-lg h-auto gap-1 pr-1">${name}<form method="post" action="${`${path}/tags/${id}/remove`}"><button class="btn btn-ghost btn-circle btn-xs" aria-label="${`Remove ${name}`}">${icon('x', 'size-3.5')}</button></form></li>`,
    )}</ul>`
  }
${
  otherTags.length > 0
    ? html`<form method="post" action="${`${path}/tags`}" class="one-field">
${choice(form, { name: 'tagIds', label: tags.length === 0 ? 'Tag' : 'Add a tag', options: otherTags.map(({ id, name }) => [id, name]), ...limitHint(choices) })}
<button class="btn">Add</button>
</form>`
    : html`<p id="tagIds" class="hint">There are no other tags to add.</p>`
}`
}

export const otherInvites = ({ ctx, invite, siblingInvites }: Facts): Html | false =>
  siblingInvites.length > 0 &&
  panel(
    'others',
    'Other invites of this candidate',
    html`<ul class="space-y-3 text-sm">${siblingInvites.map(
      (other) =>
        html`<li class="flex items-center gap-3"><a class="min-w-0 grow hover:underline" href="${pathOf(ctx, `invites/${other.id}`)}">${other.assessment}${other.attempt > 1 && ` (attempt ${other.attempt})`}</a>${badge(labelInviteStatus(other))}</li>`,
    )}</ul>`,
    linkButton(pathOf(ctx, `candidates/${invite.id}`), 'All', undefined, 'small'),
  )
