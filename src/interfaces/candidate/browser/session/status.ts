import { createButton, createElement, setNotice } from '../../../../http/browser/dom.ts'
import type { BrowserTexts } from '../../../../locales/texts.ts'
import type { Outbox } from './outbox.ts'
import type { Recording } from './recording.ts'

type Telling = { details?: [heading: string, text: string]; onSeen?: () => void }

export type Status = ReturnType<typeof showStatus>

/** Status above every page of the session: connection, uploads, and screen sharing. */
export function showStatus(t: BrowserTexts) {
  const connection = createElement('p', { class: 'notice alert alert-soft alert-warning mt-3', hidden: true })
  const storage = createElement('p', { class: 'notice alert alert-soft alert-warning mt-3', hidden: true })
  const sending = createElement('p', { class: 'sending quiet mt-3 text-sm', hidden: true })
  const asking = createElement('div', { hidden: true })
  const messageList = createElement('div')
  /** Urgent messages for screen readers only. */
  const spoken = createElement('p', { class: 'sr-only', role: 'status' })
  const bar = createElement(
    'aside',
    { class: 'session mx-auto max-w-3xl px-4', 'aria-label': t.text('status.name') },
    connection,
    storage,
    asking,
    messageList,
    sending,
    spoken,
  )
  document.querySelector('main')!.before(bar)
  let isReachable = true

  const say = (text: string): void => {
    spoken.textContent = text
  }

  /** Shows recordings that are not uploaded yet. */
  function uploads(outbox: Outbox): void {
    const pending = outbox.list().filter(({ state }) => state === 'sending' || state === 'completing')
    setNotice(sending, isReachable && pending.length > 0 ? formatPending(t, pending) : '')
    const isAtRisk = isReachable && !outbox.survivesClosing() && !outbox.isEmpty()
    setNotice(storage, isAtRisk ? t.text('status.unkept') : '')
  }

  return {
    say,
    connection(isOnline: boolean, outbox: Outbox | null): void {
      isReachable = isOnline
      setNotice(connection, isOnline ? '' : t.text(outbox?.survivesClosing() ? 'status.offline.kept' : 'status.offline'))
      say(isOnline ? t.text('status.online') : connection.textContent!)
      if (outbox) uploads(outbox)
    },
    uploads,
    /** Shows a request to the candidate; without content, removes it. */
    ask(...content: Node[]): void {
      asking.replaceChildren(...content)
      asking.hidden = content.length === 0
    },
    /**
     * Shows a message on every page until the candidate has read it.
     *
     * @param key topic: replaces an earlier message with the same key. @param details a heading, and a text below it.
     */
    tell(key: string, text: string, { details, onSeen }: Telling = {}): void {
      const more =
        details &&
        createElement(
          'details',
          {},
          createElement('summary', {}, details[0]),
          createElement('p', { class: 'script' }, details[1]),
        )
      const read = () => {
        notice.remove()
        onSeen?.()
      }
      const seenButton = createButton(t.text('status.seen'), read, 'btn btn-sm')
      const notice = createElement(
        'div',
        { class: 'notice alert alert-soft alert-error mt-3 flex flex-col items-start', 'data-told': key },
        createElement('p', {}, text),
        more ?? null,
        seenButton,
      )
      for (const before of messageList.children) if ((before as HTMLElement).dataset.told === key) before.remove()
      messageList.append(notice)
      say(text)
    },
    remove: () => bar.remove(),
  }
}

function formatPending(t: BrowserTexts, pending: Recording[]): string {
  const kinds = new Set(pending.map(({ kind }) => (kind === 'screen' || kind === 'webcam' ? kind : 'answer')))
  return t.text('status.sending', { recordings: t.list([...kinds].map((kind) => t.text('status.recording', { kind }))) })
}
