import type { EventType, InviteChanges, ToldData } from '../../../domain/events/event.ts'
import type { InviteEvent } from '../../../domain/events/feed.ts'
import { TIMELINE_LENGTH, type Timeline } from '../../../domain/invites/timeline.ts'
import { type Html, html } from '../../../html/html.ts'
import { type IconName, icon } from '../../../http/pages/icon.ts'
import { wordEvent } from '../kit/event-words.ts'
import { time } from '../kit/wording.ts'

const FAILURES: Record<NonNullable<ToldData['reason']>, string> = {
  obsolete: 'its link no longer worked',
  refused: 'the mail server rejected it permanently',
  given_up: 'all attempts have failed',
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
  'submission.released': 'check',
  'submission.media_deleted': 'trash-2',
}

/**
 * What happened to an invite, or to several of one candidate, the newest last.
 *
 * @param assessments of several: what each invite, by its id, is to.
 */
export const timelineList = (headingId: string, { events, names, isWhole }: Timeline, assessments?: Map<string, string>): Html =>
  html`${
    events.length > 0 &&
    html`<ol class="events" aria-labelledby="${headingId}">
${events.map((event) => eventItem(event, names, assessments?.get(event.data.inviteId)))}</ol>`
  }
${!isWhole && html`<p class="hint">${reasonOf(events)}</p>`}`

/** A newer release may have recorded types that have no icon here. */
const eventItem = (event: InviteEvent, names: Map<string, string>, assessment: string | undefined): Html =>
  html`<li class="event">${icon((ICONS as Record<string, IconName>)[event.type] ?? 'circle-dashed', 'size-5')}<div class="min-w-0"><p class="font-medium">${whatOf(event)}</p><p class="hint">${assessment && `${assessment} · `}${time(event.createdAt)} · ${whoOf(event, names)}</p></div></li>
`

function reasonOf({ length }: InviteEvent[]): string {
  if (length === TIMELINE_LENGTH) return `These are the last ${TIMELINE_LENGTH} events.`
  const known = 'The details show when the invite was sent, accepted, started or completed.'
  return length === 0
    ? `No events: the invite was imported, or its events are no longer kept. ${known}`
    : `Earlier events are missing: the invite was imported, or they are no longer kept. ${known}`
}

function whatOf({ type, data }: InviteEvent): Html {
  const { expiresAt, reason, mode, changes } = data
  const aside = [mode === 'test' && 'as a test', reason && FAILURES[reason], ...wordChanges(changes)].filter(Boolean).join(', ')
  return html`${wordEvent(type)}${aside && `: ${aside}`}${expiresAt && html`: it expires ${time(new Date(expiresAt))}`}`
}

const CORRECTED = {
  recipientName: 'the name was corrected',
  customMessage: 'the message was corrected',
  questionReplayLimit: 'the replays of questions were changed',
  answerRecordLimit: 'the recordings of answers were changed',
} as const

const wordChanges = ({ tagIds, assignedGraderId, expiresAt, corrected = [] }: InviteChanges = {}): string[] => [
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
      return 'the candidate'
    case 'system':
      return 'the service'
  }
}
