// State machine of autosaved input: each event leads to the next state and to effects. Pure; autosave.ts performs the effects.

/** @property obstacle reason to stop saving, until the user types, the service answers, the user decides, or the page is reloaded. */
export type SaveTypes = { typed: unknown; saved: unknown; obstacle: { until: 'typed' | 'answered' | 'decided' | 'reloaded' } }

export type SaveState<K extends SaveTypes> = {
  typed: K['typed']
  saved: K['saved']
  /** Sent without an answer yet. It is repeated before anything newer is sent, because the service may have stored it. */
  sent: K['typed'] | null
  isSending: boolean
  isReachable: boolean
  /** Reason why nothing is sent. */
  obstacle: K['obstacle'] | null
}

export type SaveEvent<K extends SaveTypes> =
  | { type: 'typed'; typed: K['typed'] }
  | { type: 'due' | 'missed' | 'freed' | 'leaving' }
  /** @property typed input after the save, if the save changed it. */
  | { type: 'saved'; saved: K['saved']; typed?: K['typed'] }
  /** @property mayHaveArrived the service may have stored an earlier try whose answer was lost. */
  | { type: 'refused'; obstacle: K['obstacle']; mayHaveArrived?: boolean }
  | { type: 'blocked'; obstacle: K['obstacle'] }

/** `sendLast`: a single try while the page unloads. */
export type SaveEffect<K extends SaveTypes> = { type: 'saveSoon' } | { type: 'send' | 'sendLast'; sent: K['typed'] }

export type SaveRules<K extends SaveTypes> = {
  isSame: (typed: K['typed'], saved: K['saved']) => boolean
  /** True if requests carry a sequence number: a later one may then overtake an earlier one. */
  isNumbered: boolean
}

type Transition<K extends SaveTypes> = [SaveState<K>, SaveEffect<K>[]]

export const initialState = <K extends SaveTypes>(typed: K['typed'], saved: K['saved']): SaveState<K> => {
  return { typed, saved, sent: null, isSending: false, isReachable: true, obstacle: null }
}

export const isSaved = <K extends SaveTypes>({ typed, saved, sent }: SaveState<K>, { isSame }: SaveRules<K>): boolean =>
  sent === null && isSame(typed, saved)

export function transition<K extends SaveTypes>(before: SaveState<K>, event: SaveEvent<K>, rules: SaveRules<K>): Transition<K> {
  if (event.type === 'leaving') return saveOnUnload(before, rules)
  const after = applyEvent(before, event)
  return event.type === 'typed' ? [after, [{ type: 'saveSoon' }]] : sendNext(after, rules)
}

function applyEvent<K extends SaveTypes>(before: SaveState<K>, event: SaveEvent<K>): SaveState<K> {
  const answered = { sent: null, isSending: false, isReachable: true }
  switch (event.type) {
    case 'typed':
      return { ...clear(before, 'typed'), typed: event.typed }
    case 'missed':
      return { ...before, isReachable: false }
    case 'saved':
      return { ...clear(before, 'decided'), ...answered, saved: event.saved, typed: event.typed ?? before.typed }
    case 'refused': {
      const sent = event.mayHaveArrived ? before.sent : null
      return { ...before, ...answered, sent, obstacle: before.obstacle ?? event.obstacle }
    }
    case 'blocked':
      return { ...before, obstacle: event.obstacle }
    case 'freed':
      return clear(before, 'answered')
    default:
      return before
  }
}

const clear = <K extends SaveTypes>(before: SaveState<K>, until: K['obstacle']['until']): SaveState<K> =>
  before.obstacle?.until === until ? { ...before, obstacle: null } : before

/** One request at a time. An unanswered one is repeated first. */
function sendNext<K extends SaveTypes>(before: SaveState<K>, rules: SaveRules<K>): Transition<K> {
  if (before.isSending || before.obstacle || isSaved(before, rules)) return [before, []]
  const sent = before.sent ?? before.typed
  return [{ ...before, sent, isSending: true }, [{ type: 'send', sent }]]
}

function saveOnUnload<K extends SaveTypes>(before: SaveState<K>, rules: SaveRules<K>): Transition<K> {
  const { typed, sent, obstacle } = before
  if (isSaved(before, rules) || obstacle || (sent !== null && !rules.isNumbered)) return [before, []]
  return [rules.isNumbered ? before : { ...before, sent: typed }, [{ type: 'sendLast', sent: typed }]]
}
