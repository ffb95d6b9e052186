import { MAX_NOTES_AT_ONCE } from '../../../domain/limits.ts'
import type { Session } from './session.ts'

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

export type Notes = ReturnType<typeof keepNotes>

const SEND_AFTER_MS = 2_000

/** Notes what happens besides the answers, and sends it: with how long ago it was, since the device's clock may be wrong. */
export function keepNotes(session: Session) {
  const waiting: { kind: NoteKind; at: number }[] = []
  let isSending = false
  let isOn = false

  function note(kind: NoteKind): void {
    if (!isOn) return
    waiting.push({ kind, at: performance.now() })
    setTimeout(send, SEND_AFTER_MS)
  }

  async function send(): Promise<void> {
    if (isSending || waiting.length === 0 || !session.isReachable()) return
    isSending = true
    const notes = waiting.slice(0, MAX_NOTES_AT_ONCE)
    const isTaken = await post(notes)
    if (isTaken) waiting.splice(0, notes.length)
    isSending = false
    if (isTaken) void send()
  }

  const post = (notes: typeof waiting, keepalive = false): Promise<boolean> => {
    const json = { notes: notes.map(({ kind, at }) => ({ kind, ago: Math.round(performance.now() - at) })) }
    return session.send('POST', '/notes', { json, keepalive }).then(
      () => true,
      () => false,
    )
  }

  document.addEventListener('visibilitychange', () => note(document.hidden ? 'tab_hidden' : 'tab_shown'))
  document.addEventListener('fullscreenchange', () =>
    note(document.fullscreenElement ? 'full_screen_entered' : 'full_screen_left'),
  )
  window.addEventListener('pagehide', () => {
    if (isOn && waiting.length > 0) void post(waiting.splice(0, MAX_NOTES_AT_ONCE), true)
  })

  return {
    note,
    send,
    /** From the start of the assessment on; before, nobody is watched. */
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
