import { type Html, html } from '../../../html/html.ts'
import { type IconName, icon } from '../../../http/pages/icon.ts'

type Tone = 'info' | 'warning' | 'success' | 'error' | 'neutral'

/** Complete class names: Tailwind finds only those that are written out. */
const TONES: Record<Tone, string> = {
  info: 'badge-info',
  warning: 'badge-warning',
  success: 'badge-success',
  error: 'badge-error',
  neutral: 'badge-neutral',
}

const LOOKS: Record<string, [tone: Tone, icon: IconName]> = {
  pending: ['info', 'mail'],
  accepted: ['info', 'mail-open'],
  started: ['warning', 'circle-play'],
  'in progress': ['warning', 'circle-play'],
  'being prepared': ['info', 'circle-dashed'],
  completed: ['success', 'circle-check'],
  submitted: ['success', 'circle-check'],
  expired: ['neutral', 'clock-alert'],
  revoked: ['neutral', 'ban'],
  'not delivered': ['error', 'mail-x'],
  declined: ['neutral', 'circle-slash'],
  withdrawn: ['neutral', 'circle-slash'],
  released: ['success', 'check'],
  reopened: ['warning', 'undo-2'],
  'not graded': ['warning', 'pencil-line'],
  'to be decided': ['error', 'circle-alert'],
  'to be graded': ['warning', 'pencil-line'],
  'ready to release': ['success', 'check'],
  'an admin has to decide': ['error', 'circle-alert'],
  'a third grader has to decide': ['error', 'circle-alert'],
  waiting: ['info', 'clock'],
  delayed: ['warning', 'clock'],
  queued: ['info', 'clock'],
  planned: ['info', 'clock'],
  bounced: ['error', 'mail-x'],
  'reported as spam': ['error', 'mail-x'],
  sent: ['success', 'mail-check'],
  delivered: ['success', 'circle-check'],
  'to be retried': ['warning', 'rotate-cw'],
  failed: ['error', 'circle-x'],
  failing: ['error', 'triangle-alert'],
  refused: ['error', 'ban'],
  'not allowed': ['error', 'ban'],
  'not possible': ['error', 'circle-x'],
  active: ['success', 'circle-check'],
  'invited to join': ['warning', 'mail'],
  disabled: ['neutral', 'circle-pause'],
  deactivated: ['neutral', 'circle-slash'],
  finished: ['success', 'circle-check'],
  stopped: ['warning', 'circle-pause'],
  'not sent': ['info', 'list-checks'],
  invited: ['success', 'circle-check'],
  'being invited': ['info', 'send'],
  'to be invited': ['info', 'send'],
  'already invited': ['neutral', 'history'],
  duplicate: ['neutral', 'files'],
  done: ['success', 'check'],
  'test data': ['warning', 'flask-conical'],
  captured: ['info', 'mail'],
  archived: ['neutral', 'archive'],
  connected: ['success', 'plug'],
  'needs a key': ['warning', 'key-round'],
  'not connected': ['neutral', 'circle-dashed'],
  'switched off': ['neutral', 'circle-slash'],
  tried: ['success', 'circle-check'],
  'not tried': ['warning', 'circle-dashed'],
  on: ['success', 'circle-check'],
  ready: ['success', 'circle-check'],
  missing: ['warning', 'circle-dashed'],
  used: ['success', 'circle-check'],
  'not used': ['warning', 'circle-dashed'],
  verified: ['success', 'circle-check'],
  'not verified': ['warning', 'clock'],
  'will be imported': ['info', 'circle-check'],
  'will be imported in part': ['warning', 'triangle-alert'],
  imported: ['success', 'check'],
  'can’t import': ['error', 'circle-x'],
  advance: ['success', 'circle-check'],
  shortlist: ['info', 'list-checks'],
  hold: ['warning', 'circle-pause'],
  reject: ['neutral', 'circle-slash'],
  open: ['success', 'circle-check'],
  ended: ['neutral', 'clock-alert'],
  'knocked out': ['error', 'circle-x'],
  undone: ['neutral', 'undo-2'],
}

/**
 * A status badge, colored by its meaning. Unknown statuses are neutral.
 *
 * @param status status that determines the look, if it differs from the text.
 */
export function badge(word: string, status = word): Html {
  const [tone, name] = LOOKS[status] ?? (['neutral', 'circle-dashed'] as const)
  return html`<span class="badge badge-soft ${TONES[tone]} gap-1 font-medium whitespace-nowrap">${icon(name, 'size-3.5')}<span class="inline-block first-letter:uppercase">${word}</span></span>`
}
