import { make, setNotice } from '../../../http/browser/dom.ts'
import type { Outbox, Recording } from './outbox.ts'

export type Status = ReturnType<typeof showStatus>

/** What is true on every page of the session, above it: the connection, what is still being sent, what is wrong with the sharing. */
export function showStatus() {
  const connection = make('p', { class: 'notice bad', hidden: true })
  const sending = make('p', { class: 'sending', hidden: true })
  const asking = make('div', { hidden: true })
  /** Read aloud, not seen: only what a candidate has to know at once. */
  const spoken = make('p', { class: 'unseen', role: 'status' })
  const bar = make('aside', { class: 'session', 'aria-label': 'Your session' }, connection, asking, sending, spoken)
  document.querySelector('main')!.before(bar)
  let isReachable = true

  const say = (text: string): void => {
    spoken.textContent = text
  }

  return {
    say,
    connection(is: boolean, outbox: Outbox | null): void {
      isReachable = is
      const kept = outbox?.survivesClosing() ? 'it is kept on this device' : 'keep this page open'
      setNotice(connection, is ? '' : `No connection. What you do is not lost: ${kept}, and sent when the connection is back.`)
      say(is ? 'The connection is back.' : connection.textContent!)
    },
    /** What has been recorded and is not all there yet. */
    uploads(outbox: Outbox): void {
      const pending = outbox.list().filter(({ state }) => state === 'sending' || state === 'completing')
      setNotice(sending, isReachable && pending.length > 0 ? wordPending(pending) : '')
    },
    /** Something that only the candidate can do. */
    ask(...content: Node[]): void {
      asking.replaceChildren(...content)
      asking.hidden = content.length === 0
    },
    remove: () => bar.remove(),
  }
}

const NAMES: Record<string, string> = {
  answer: 'your answer',
  audio: 'your answer',
  video: 'your answer',
  screen: 'the recording of your screen',
  webcam: 'the recording of your webcam',
}

const wordPending = (pending: Recording[]): string =>
  `Sending ${[...new Set(pending.map(({ kind }) => NAMES[kind] ?? 'a recording'))].join(' and ')}…`
