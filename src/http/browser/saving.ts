// State machine of autosaved input: each event leads to the next state and to effects. Pure; save-as-typed.ts performs the effects.

/** @property obstacle reason to stop saving, until the user types, the service answers, the user decides, or the page is reloaded. */
export type Kinds = { typed: unknown; saved: unknown; obstacle: { until: 'typed' | 'answered' | 'decided' | 'reloaded' } }

export type Saving<K extends Kinds> = {
  typed: K['typed']
  saved: K['saved']
  /** Sent without an answer yet. It is repeated before anything newer is sent, because the service may have stored it. */
  sent: K['typed'] | null
  isAsking: boolean
  isReachable: boolean
  /** Reason why nothing is sent. */
  obstacle: K['obstacle'] | null
}

export type Happening<K extends Kinds> =
  | { is: 'typed'; typed: K['typed'] }
  | { is: 'due' | 'missed' | 'freed' | 'leaving' }
  /** @property typed input after the save, if the save changed it. */
  | { is: 'saved'; saved: K['saved']; typed?: K['typed'] }
  /** @property mayHaveArrived the service may have stored an earlier try whose answer was lost. */
  | { is: 'refused'; obstacle: K['obstacle']; mayHaveArrived?: boolean }
  | { is: 'blocked'; obstacle: K['obstacle'] }

/** `sendLast`: a single try while the page unloads. */
export type Effect<K extends Kinds> = { do: 'saveSoon' } | { do: 'send' | 'sendLast'; sent: K['typed'] }

export type Rules<K extends Kinds> = {
  isSame: (typed: K['typed'], saved: K['saved']) => boolean
  /** True if requests carry a sequence number: a later one may then overtake an earlier one. */
  isNumbered: boolean
}

type Step<K extends Kinds> = [Saving<K>, Effect<K>[]]

export const begin = <K extends Kinds>(typed: K['typed'], saved: K['saved']): Saving<K> => {
  return { typed, saved, sent: null, isAsking: false, isReachable: true, obstacle: null }
}

export const isSaved = <K extends Kinds>({ typed, saved, sent }: Saving<K>, { isSame }: Rules<K>): boolean =>
  sent === null && isSame(typed, saved)

export function advance<K extends Kinds>(before: Saving<K>, happening: Happening<K>, rules: Rules<K>): Step<K> {
  if (happening.is === 'leaving') return leave(before, rules)
  const after = note(before, happening)
  return happening.is === 'typed' ? [after, [{ do: 'saveSoon' }]] : sendNext(after, rules)
}

function note<K extends Kinds>(before: Saving<K>, happening: Happening<K>): Saving<K> {
  const answered = { sent: null, isAsking: false, isReachable: true }
  switch (happening.is) {
    case 'typed':
      return { ...clear(before, 'typed'), typed: happening.typed }
    case 'missed':
      return { ...before, isReachable: false }
    case 'saved':
      return { ...clear(before, 'decided'), ...answered, saved: happening.saved, typed: happening.typed ?? before.typed }
    case 'refused': {
      const sent = happening.mayHaveArrived ? before.sent : null
      return { ...before, ...answered, sent, obstacle: before.obstacle ?? happening.obstacle }
    }
    case 'blocked':
      return { ...before, obstacle: happening.obstacle }
    case 'freed':
      return clear(before, 'answered')
    default:
      return before
  }
}

const clear = <K extends Kinds>(before: Saving<K>, until: K['obstacle']['until']): Saving<K> =>
  before.obstacle?.until === until ? { ...before, obstacle: null } : before

/** One request at a time. An unanswered one is repeated first. */
function sendNext<K extends Kinds>(before: Saving<K>, rules: Rules<K>): Step<K> {
  if (before.isAsking || before.obstacle || isSaved(before, rules)) return [before, []]
  const sent = before.sent ?? before.typed
  return [{ ...before, sent, isAsking: true }, [{ do: 'send', sent }]]
}

function leave<K extends Kinds>(before: Saving<K>, rules: Rules<K>): Step<K> {
  const { typed, sent, obstacle } = before
  if (isSaved(before, rules) || obstacle || (sent !== null && !rules.isNumbered)) return [before, []]
  return [rules.isNumbered ? before : { ...before, sent: typed }, [{ do: 'sendLast', sent: typed }]]
}
