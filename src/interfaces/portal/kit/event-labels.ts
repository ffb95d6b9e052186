import { EVENT_TYPES, type EventType, TEST_EVENT } from '../../../domain/events/event.ts'

export const EVENT_NAMES: Record<EventType, string> = {
  'invite.created': 'The candidate was invited',
  'invite.accepted': 'The candidate accepted',
  'invite.started': 'The candidate started',
  'invite.completed': 'The candidate completed the assessment',
  'invite.declined': 'The candidate declined',
  'invite.revoked': 'The invite was revoked',
  'invite.reactivated': 'The invite was reactivated, with a new link',
  'invite.extended': 'The invite was extended',
  'invite.resent': 'The invitation was sent again',
  'invite.updated': 'The invite was changed',
  'invite.expired': 'The invite expired',
  'email.sent': 'The email to the candidate was sent',
  'email.failed': 'The email to the candidate could not be sent',
  'email.bounced': 'The email to the candidate bounced',
  'email.complained': 'The candidate reported the email as spam',
  'email.unsubscribed': 'The candidate stopped emails',
  'reminder.sent': 'A reminder was sent to the candidate',
  'submission.released': 'The result was released',
  'submission.decided': 'The organization decided about the candidate',
  'submission.media_deleted': 'Photos or recordings were deleted',
  'invite.erased': 'The candidate was erased',
}

const isKnown = (type: string): type is EventType => Object.hasOwn(EVENT_NAMES, type)

/** Types recorded by a newer release are shown as they are. @param type null if the event was deleted. */
export function labelEvent(type: string | null): string {
  if (type === null) return 'Event no longer kept'
  if (type === TEST_EVENT) return 'Test event'
  return isKnown(type) ? EVENT_NAMES[type] : type
}

/** Event types with their labels, for selects. */
export const EVENT_OPTIONS = EVENT_TYPES.map((type) => [type, `${EVENT_NAMES[type]} (${type})`] as const)
