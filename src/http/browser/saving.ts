// What is typed and saves itself, as a machine of states: what happens leads from one to the next, and says what is to be done. It knows no
// page and no network: save-as-typed.ts does what it says.

/** What is typed, what the service has of it, and what can stand in the way, until something else is typed or answered, or is decided. */
export type Kinds = { typed: unknown; saved: unknown; obstacle: { until: 'typed' | 'answered' | 'decided' | 'reloaded' } }

export type Saving<K extends Kinds> = {
  typed: K['typed']
  saved: K['saved']
  /** What was sent, and not answered. Until it is, nothing else is sent: whether it has arrived decides what the next takes the place of. */
  sent: K['typed'] | null
  isAsking: boolean
  isReachable: boolean
  /** Why nothing is sent. */
  obstacle: K['obstacle'] | null
}

export type Happening<K extends Kinds> =
  | { is: 'typed'; typed: K['typed'] }
  | { is: 'due' | 'missed' | 'freed' | 'leaving' }
  /** The service has that. @property typed what comes after it, where that is not what was typed last. */
  | { is: 'saved'; saved: K['saved']; typed?: K['typed'] }
  /** @property mayHaveArrived as what was sent before without an answer. */
  | { is: 'refused'; obstacle: K['obstacle']; mayHaveArrived?: boolean }
  | { is: 'blocked'; obstacle: K['obstacle'] }

/** `sendLast`: once, while the page is being left. */
export type Effect<K extends Kinds> = { do: 'saveSoon' } | { do: 'send' | 'sendLast'; sent: K['typed'] }

export type Rules<K extends Kinds> = {
  isSame: (typed: K['typed'], saved: K['saved']) => boolean
  /** Whether the service can tell what was typed later: then it may overtake what is on its way. */
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

/** One at a time: first what is on its way, then what is typed. */
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
