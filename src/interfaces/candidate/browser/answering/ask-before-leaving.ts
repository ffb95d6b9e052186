import { createElement } from '../../../../http/browser/dom.ts'
import type { BrowserTexts } from '../../../../locales/texts.ts'

/** Reason to ask before leaving a question: a recording would end, the answer is missing, or part of it is. */
type LeaveWarning = 'recording' | 'unanswered' | 'unfinished'

/**
 * Asks once, in a dialog, before the candidate leaves an unfinished question. The focus is on the button to stay. Escape stays, too.
 *
 * @param place the question's element. The dialog is inside of it, so that both are removed together.
 */
export function createLeaveGuard(t: BrowserTexts, place: HTMLElement, number: number, find: () => LeaveWarning | null) {
  let isAsked = true
  let mayLeave = false
  let dialog: HTMLDialogElement | null = null

  return {
    async mayLeave(): Promise<boolean> {
      const unfinished = mayLeave || !isAsked ? null : find()
      if (!unfinished) return true
      dialog = createDialog(wordsOf(t, number, unfinished))
      place.append(dialog)
      dialog.showModal()
      const { returnValue } = await closed(dialog)
      dialog = null
      mayLeave ||= returnValue === 'leave'
      return mayLeave
    },
    /** @param mayAsk false once the time is up. This closes an open dialog. */
    setAsked(mayAsk: boolean): void {
      isAsked = mayAsk
      if (!mayAsk) dialog?.close('stay')
    },
  }
}

const closed = (dialog: HTMLDialogElement): Promise<HTMLDialogElement> =>
  new Promise((resolve) => {
    dialog.addEventListener('close', () => {
      dialog.remove()
      resolve(dialog)
    })
  })

type DialogTexts = { heading: string; text: string; stay: string; leave: string }

function createDialog({ heading, text, stay, leave }: DialogTexts): HTMLDialogElement {
  const stayButton = createElement('button', { value: 'stay', class: 'btn btn-primary', autofocus: true }, stay)
  const leaveButton = createElement('button', { value: 'leave', class: 'btn' }, leave)
  const box = createElement(
    'form',
    { method: 'dialog', class: 'modal-box' },
    createElement('h2', { id: 'leave-heading', class: 'text-lg' }, heading),
    createElement('p', { id: 'leave-text', class: 'pt-3' }, text),
    createElement('div', { class: 'modal-action flex-wrap' }, stayButton, leaveButton),
  )
  // The script that sends the page's forms must not send this one.
  box.addEventListener('submit', (event) => event.stopPropagation())
  return createElement('dialog', { class: 'modal', 'aria-labelledby': 'leave-heading', 'aria-describedby': 'leave-text' }, box)
}

function wordsOf(t: BrowserTexts, number: number, unfinished: LeaveWarning): DialogTexts {
  if (unfinished === 'recording')
    return {
      heading: t.text('leave.recording.heading'),
      text: t.text('leave.recording.text'),
      stay: t.text('leave.recording.stay'),
      leave: t.text('leave.recording.go'),
    }
  return {
    heading: t.text(`leave.${unfinished}.heading`, { number }),
    text: t.text('leave.text'),
    stay: t.text('leave.stay'),
    leave: t.text('leave.go'),
  }
}

type RecordingState = { isRunning: () => boolean; isInterrupted: () => boolean; isAnswered: () => boolean }

/** @param area the text, or the values of the fields, see mirrorFields. */
export function findUnfinished(
  question: HTMLElement,
  area: HTMLTextAreaElement | null,
  recording: RecordingState | null,
): LeaveWarning | null {
  if (question.dataset.free === 'yes') return null // the candidate can come back
  if (recording?.isRunning()) return 'recording'
  if (recording?.isInterrupted()) return 'unfinished'
  if (recording?.isAnswered()) return null
  const isOfFields = question.querySelector('[data-fields]') !== null
  const values = isOfFields ? [...new URLSearchParams(area?.value).values()] : [area?.value ?? '']
  if (values.every((value) => value.trim() === '')) return 'unanswered'
  // For example a matching question with an unanswered prompt.
  return [...question.querySelectorAll('select')].some(({ value }) => value === '') ? 'unfinished' : null
}
