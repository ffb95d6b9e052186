import { createElement, setText } from '../../../http/browser/dom.ts'
import { type TypedPoints, typePoints } from './type-points.ts'
import { rememberPoints } from './undo-points.ts'

type Options = {
  sheet: HTMLElement
  tools: HTMLElement
  /** Question that has the grader's focus. */
  currentQuestion: () => HTMLElement | undefined
  say: (text: string) => void
}

/** Keys that set points. Points of a graded question stay until the grader opens it, since a digit is easily pressed in the wrong place. */
export function createPointKeys({ sheet, tools, currentQuestion, say }: Options) {
  const undo = rememberPoints(sheet)
  const hint = createElement('p', { class: 'hint basis-full empty:hidden' })
  tools.append(hint)
  let typed: TypedPoints = null
  /** Question whose points keys may change: it was ungraded when the grader came to it, or they have opened it. */
  let changing: HTMLFormElement | null = null

  function tell(text: string): void {
    setText(hint, text)
    say(text)
  }

  const formHere = () => currentQuestion()?.querySelector<HTMLFormElement>('form[data-grade]') ?? null

  /** @returns null if the current question has no points, is released, or is graded. */
  function findPoints() {
    const form = formHere()
    const field = form?.querySelector<HTMLInputElement>('[name=points]')
    if (!form || !field || field.readOnly) return null
    const [question, most] = [Number(form.dataset.grade), Number(form.dataset.most)]
    if (changing !== form && field.value.trim() !== '') {
      tell(`Question ${question} is graded. Press e to change its points.`)
      return null
    }
    changing = form
    const set = (points: number) => {
      field.value = String(points)
      field.dispatchEvent(new Event('input', { bubbles: true }))
      tell(`Question ${question}: ${points} of ${most} points`)
    }
    return { question, most, typed: field.value.trim().replace(',', '.'), set }
  }

  return {
    add(step: number): void {
      const field = findPoints()
      if (!field) return
      const { most, set } = field
      const next = field.typed === '' ? (step > 0 ? 0 : most) : Number(field.typed) + step
      if (!Number.isNaN(next)) set(Math.min(Math.max(next, 0), most))
    },
    typeDigit(digit: number, at: number): void {
      const field = findPoints()
      if (!field) return
      typed = typePoints(typed, { ...field, digit, at })
      if (typed) field.set(typed.points)
      else tell(`Question ${field.question} has at most ${field.most} points`)
    },
    /** Another key was pressed, so the next digit begins a new number. */
    endNumber(): void {
      typed = null
    },
    openGraded(): void {
      changing = formHere()
      if (changing) tell(`Question ${changing.dataset.grade}: type its new points.`)
    },
    takeBack(): void {
      const field = undo()
      const form = field?.closest<HTMLFormElement>('form[data-grade]')
      if (!field || !form) {
        tell('There is nothing to undo.')
        return
      }
      field.closest('details')!.open = true
      const points = field.value === '' ? 'not graded' : `${field.value} of ${form.dataset.most} points`
      tell(`Question ${form.dataset.grade}: undone, ${points}`)
    },
    leave(): void {
      changing = null
      setText(hint, '')
    },
  }
}
