import { MAX_NOTES_AT_ONCE } from '../../../../domain/limits.ts'
import { measureAgo } from './ago.ts'
import { newId, type Session } from './session.ts'

export type NoteKind =
  | 'tab_hidden'
  | 'tab_shown'
  | 'full_screen_left'
  | 'full_screen_entered'
  | 'camera_lost'
  | 'microphone_lost'
  | 'sharing_ended'
  | 'sharing_begun'
  | 'offline'
  | 'online'
  | 'taken_over'
  | 'reloaded'

export type Notes = ReturnType<typeof createNotes>

type Note = { kind: NoteKind; at: number }
/** Notes sent together. Retries have the same key, so that they are stored once. */
type Batch = { idempotencyKey: string; notes: Note[] }

const SEND_AFTER_MS = 2_000

/** Collects notes on events besides the answers, and sends them with their age, because the device's clock may be wrong. */
export function createNotes(session: Session) {
  const waiting: Note[] = []
  /** Sent without a response yet. It may have arrived. */
  let underway: Batch | null = null
  let isOn = false

  function note(kind: NoteKind): void {
    if (!isOn) return
    waiting.push({ kind, at: performance.now() })
    setTimeout(send, SEND_AFTER_MS)
  }

  async function send(): Promise<void> {
    if (underway || waiting.length === 0 || !session.isReachable()) return
    underway = takeBatch()
    await post(underway)
    underway = null
    void send()
  }

  const takeBatch = (): Batch => ({ idempotencyKey: newId(), notes: waiting.splice(0, MAX_NOTES_AT_ONCE) })

  /** Retries until the notes are saved or refused, because the assessment is submitted or another tab has taken over. */
  const post = ({ idempotencyKey, notes }: Batch, keepalive = false): Promise<unknown> => {
    const json = { notes: notes.map(({ kind, at }) => ({ kind, ago: measureAgo(at) })) }
    return session.send('POST', '/notes', { json, keepalive, idempotencyKey }).catch(() => {})
  }

  document.addEventListener('visibilitychange', () => note(document.hidden ? 'tab_hidden' : 'tab_shown'))
  document.addEventListener('fullscreenchange', () =>
    note(document.fullscreenElement ? 'full_screen_entered' : 'full_screen_left'),
  )
  window.addEventListener('pagehide', () => {
    if (!isOn) return
    if (underway) void post(underway, true)
    if (waiting.length > 0) void post(takeBatch(), true)
  })

  return {
    note,
    send,
    /** Called at the start of the assessment. Nothing is noted before. */
    begin(): void {
      if (isOn) return
      isOn = true
      const [navigation] = performance.getEntriesByType('navigation') as PerformanceNavigationTiming[]
      if (navigation?.type === 'reload') note('reloaded')
    },
    end(): void {
      isOn = false
    },
  }
}
