import type { EventPayload, EventType, InviteChanges } from '../../../domain/events/event.ts'
import type { InviteEvent } from '../../../domain/events/feed.ts'
import { DEFAULT_DECISION_NAMES } from '../../../domain/invites/decisions/decision-names.ts'
import { declinedAtOf } from '../../../domain/invites/declined.ts'
import type { InviteDetail } from '../../../domain/invites/invites.ts'
import { TIMELINE_LENGTH, type Timeline } from '../../../domain/invites/timeline.ts'
import { type Html, html } from '../../../html/html.ts'
import { type IconName, icon } from '../../../http/pages/icon.ts'
import { labelBounce } from '../kit/bounce-labels.ts'
import { labelEvent } from '../kit/event-labels.ts'
import { time } from '../kit/formatting.ts'

const FAILURES: Record<NonNullable<EventPayload['reason']>, string> = {
  obsolete: 'its link no longer worked',
  refused: 'the mail server rejected it permanently',
  given_up: 'all attempts have failed',
  suppressed: 'the address is blocked',
}

const ICONS: Record<EventType, IconName> = {
  'invite.created': 'send',
  'invite.accepted': 'mail-open',
  'invite.started': 'circle-play',
  'invite.completed': 'circle-check',
  'invite.declined': 'circle-slash',
  'invite.revoked': 'ban',
  'invite.reactivated': 'rotate-ccw',
  'invite.extended': 'calendar-plus',
  'invite.resent': 'send',
  'invite.updated': 'pencil',
  'invite.expired': 'clock-alert',
  'email.sent': 'mail-check',
  'email.failed': 'mail-x',
  'email.bounced': 'mail-x',
  'email.complained': 'mail-x',
  'email.unsubscribed': 'mail-x',
  'reminder.sent': 'mail-check',
  'submission.released': 'check',
  'submission.decided': 'list-checks',
  'submission.media_deleted': 'trash-2',
  'invite.erased': 'trash-2',
}

type Line = { type: string; at: Date; text: Html | string; actor: string | false; assessment?: string | undefined }

/**
 * Events of one invite, newest last. Times stored in the invite fill in for events that were deleted or never recorded.
 *
 * @param invite its current state.
 */
export function inviteTimeline(headingId: string, timeline: Timeline, invite: InviteDetail): Html {
  const { events, names, isWhole } = timeline
  const lines = events.map((event) => lineOf(event, names))
  if (isWhole || events.length === TIMELINE_LENGTH) return html`${linesOf(headingId, lines)}${!isWhole && hint(LAST)}`
  const recordedTypes = new Set<string>(events.map(({ type }) => type))
  const inferred = linesOfInvite(invite).filter(({ type }) => !recordedTypes.has(type))
  const sorted = [...inferred, ...lines].sort((a, b) => a.at.getTime() - b.at.getTime())
  return html`${linesOf(headingId, sorted)}${hint(`There may have been more: ${MISSING}`)}`
}

/**
 * Events of several invites of one candidate, newest last.
 *
 * @param assessments assessment of each invite, by the invite's id.
 */
export const timelineList = (headingId: string, { events, names, isWhole }: Timeline, assessments: Map<string, string>): Html =>
  html`${linesOf(
    headingId,
    events.map((event) => lineOf(event, names, assessments.get(event.data.inviteId))),
  )}
${!isWhole && hint(reasonOf(events))}`

const hint = (text: string): Html => html`<p class="hint">${text}</p>`

const LAST = `These are the last ${TIMELINE_LENGTH} events.`
const MISSING = 'the invite was imported, or its earlier events are no longer kept.'

function linesOfInvite(invite: InviteDetail): Line[] {
  const declinedAt = declinedAtOf(invite)
  const times: [EventType, Date | null, string | false][] = [
    ['invite.created', invite.sentAt, false],
    ['invite.accepted', invite.acceptedAt, BY_CANDIDATE],
    ['invite.started', invite.startedAt, BY_CANDIDATE],
    ['invite.completed', invite.completedAt, BY_CANDIDATE],
    ['invite.declined', declinedAt, BY_CANDIDATE],
    ['invite.revoked', declinedAt ? null : invite.revokedAt, false],
  ]
  return times.flatMap(([type, at, actor]) => (at ? [{ type, at, text: labelEvent(type), actor }] : []))
}

const BY_CANDIDATE = 'the candidate'

function lineOf(event: InviteEvent, names: Map<string, string>, assessment?: string): Line {
  return { type: event.type, at: event.createdAt, text: textOf(event), actor: whoOf(event, names), assessment }
}

const linesOf = (headingId: string, lines: Line[]): Html | false =>
  lines.length > 0 &&
  html`<ol class="events" aria-labelledby="${headingId}">
${lines.map(lineItem)}</ol>
`

/** Types recorded by a newer release have no icon here. */
const lineItem = ({ type, at, text, actor, assessment }: Line): Html =>
  html`<li class="event">${icon((ICONS as Record<string, IconName>)[type] ?? 'circle-dashed', 'size-5')}<div class="min-w-0"><p class="font-medium">${text}</p><p class="hint">${assessment && `${assessment} · `}${time(at)}${actor && ` · ${actor}`}</p></div></li>
`

function reasonOf({ length }: InviteEvent[]): string {
  if (length === TIMELINE_LENGTH) return LAST
  const detailsNote = 'The details show when the invite was sent, accepted, started or completed.'
  return length === 0
    ? `No events: the invite was imported, or its events are no longer kept. ${detailsNote}`
    : `Earlier events are missing: the invite was imported, or they are no longer kept. ${detailsNote}`
}

function textOf({ type, data }: InviteEvent): Html {
  const { expiresAt, reason, bounce, mode, decision, changes } = data
  const annotations = [
    mode === 'test' && 'as a test',
    reason && FAILURES[reason],
    bounce && labelBounce(bounce),
    decision && DEFAULT_DECISION_NAMES[decision].toLowerCase(),
    ...formatChanges(changes),
  ]
    .filter(Boolean)
    .join(', ')
  return html`${labelEvent(type)}${annotations && `: ${annotations}`}${expiresAt && html`: it expires ${time(new Date(expiresAt))}`}`
}

const CORRECTED = {
  recipientName: 'the name was corrected',
  customMessage: 'the message was corrected',
  questionReplayLimit: 'the replays of questions were changed',
  answerRecordLimit: 'the recordings of answers were changed',
} as const

const formatChanges = ({ tagIds, assignedGraderId, expiresAt, corrected = [] }: InviteChanges = {}): string[] => [
  ...corrected.map((field) => CORRECTED[field]),
  ...(expiresAt ? ['it expires earlier'] : []),
  ...(tagIds?.added ?? []).map(() => 'a tag was added'),
  ...(tagIds?.removed ?? []).map(() => 'a tag was removed'),
  ...(assignedGraderId ? [assignedGraderId.after === null ? 'its grader was removed' : 'its grader was changed'] : []),
]

function whoOf({ actor }: InviteEvent, names: Map<string, string>): string {
  const name = names.get(actor.id ?? '')
  switch (actor.type) {
    case 'api_key':
      return name === undefined ? 'an API key' : `the API key “${name}”`
    case 'member':
      return name ?? 'a member'
    case 'candidate':
      return BY_CANDIDATE
    case 'system':
      return 'the service'
  }
}
