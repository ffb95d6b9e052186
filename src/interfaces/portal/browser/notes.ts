import { setText } from '../../../http/browser/dom.ts'
import type { GradingViewResponse } from './grade-form.ts'

type Options = {
  /** Address of the grading view. */
  address: string
  /** Tags of the parts that the page shows. */
  listShown: () => string
  onAnswer: (answer: GradingViewResponse) => void
  say: (text: string) => void
}
type Saved = GradingViewResponse & { nextId: string }

/** Saves notes at moments of recordings without leaving the page, so that the recording plays on. */
export function setUpNotes(sheet: HTMLElement, { address, listShown, onAnswer, say }: Options) {
  const sending = new WeakSet<HTMLFormElement>()
  sheet.addEventListener('submit', (event) => {
    const form = event.target
    if (!(form instanceof HTMLFormElement) || !form.matches('[data-note-form]')) return
    event.preventDefault()
    void save(form)
  })

  async function save(form: HTMLFormElement): Promise<void> {
    if (sending.has(form)) return
    sending.add(form)
    const fail = (text: string) => setText(form.querySelector<HTMLElement>('[data-note-mistake]')!, text)
    try {
      const body = new URLSearchParams({ shown: listShown() })
      for (const [name, value] of new FormData(form)) if (typeof value === 'string') body.set(name, value)
      const answer = await fetch(`${address}/notes/save${location.search}`, { method: 'POST', body, redirect: 'manual' })
      if (answer.status === 422) return fail(((await answer.json()) as { mistakes: string[] }).mistakes.join(' '))
      if (!answer.ok) return fail('Not saved. Reload the page, and try again.')
      const saved = (await answer.json()) as Saved
      fail('')
      form.reset()
      fieldOf(form, 'id').value = saved.nextId
      leave(form)
      onAnswer(saved)
      say('Note added')
    } catch {
      fail('Not saved: the connection was lost. The note is still here.')
    } finally {
      sending.delete(form)
    }
  }

  const formOf = (question: Element | undefined) => question?.querySelector<HTMLFormElement>('[data-note-form]')
  return {
    /** Begins a note at the playing time. */
    begin(question: Element | undefined): void {
      const form = formOf(question)
      if (!form) return
      fieldOf(form, 'at').value = playingTime(form)
      fieldOf(form, 'text').focus()
    },
    /** Ends its range at the playing time. */
    end(question: Element | undefined): void {
      const form = formOf(question)
      if (!form || fieldOf(form, 'at').value === '') return
      fieldOf(form, 'until').value = playingTime(form)
      fieldOf(form, 'text').focus()
    },
  }
}

const fieldOf = (form: HTMLFormElement, name: string) => form.querySelector<HTMLInputElement>(`[name=${name}]`)!

/** "1:02.5" */
function playingTime(form: HTMLFormElement): string {
  const player = form.closest('[data-attempt]')?.querySelector<HTMLMediaElement>('audio, video')
  const tenths = Math.floor((player?.currentTime ?? 0) * 10)
  return `${Math.floor(tenths / 600)}:${((tenths % 600) / 10).toFixed(1).padStart(4, '0')}`
}

/** Moves the focus to the question, where the shortcuts work. */
function leave(form: HTMLFormElement): void {
  const heading = form.closest('[data-question]')?.querySelector('h2')
  if (!heading || !form.contains(document.activeElement)) return
  heading.tabIndex = -1
  heading.focus({ preventScroll: true })
}
