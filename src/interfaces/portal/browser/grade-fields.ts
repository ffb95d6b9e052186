import type { Grade, SavedGrade } from './grade.ts'
import { findLevels } from './rubric-levels.ts'

export function findFields(form: HTMLFormElement) {
  const points = form.querySelector<HTMLInputElement>('[name=points]')
  const comment = form.querySelector<HTMLTextAreaElement>('[name=comment]')!
  const steps = [...form.querySelectorAll<HTMLButtonElement>('[data-points]')]
  const levels = findLevels(form)
  /** Marks the button of the typed points as pressed. */
  const showPoints = () => {
    const typed = points?.value.trim().replace(',', '.') ?? ''
    for (const step of steps) step.ariaPressed = String(typed !== '' && Number(typed) === Number(step.dataset.points))
  }
  points?.addEventListener('input', showPoints)
  for (const step of steps)
    step.addEventListener('click', () => {
      if (!points || points.readOnly) return
      points.value = step.dataset.points!
      points.dispatchEvent(new Event('input', { bubbles: true }))
    })
  // Before the listener that saves the form, so that the points are saved with the levels that make them.
  levels.listen((newPoints) => {
    if (points) points.value = newPoints
  })
  showPoints()
  return {
    comment,
    read: (): Grade => ({ points: points?.value ?? '', comment: comment.value, levels: levels.read() }),
    write(grade: Grade): void {
      if (points) points.value = grade.points
      showPoints()
      comment.value = grade.comment
      levels.write(grade.levels ?? '')
    },
    asSaved: (): SavedGrade => ({
      points: points?.defaultValue ?? '',
      comment: comment.defaultValue,
      levels: levels.asSaved(),
      seen: form.querySelector<HTMLInputElement>('[name=seen]')!.value,
    }),
    setInvalid: (isInvalid: boolean) => points?.setAttribute('aria-invalid', String(isInvalid)),
    describeBy(line: HTMLElement): void {
      for (const field of [points, comment]) field?.setAttribute('aria-describedby', line.id)
    },
    lock(): void {
      if (points) points.readOnly = true
      comment.readOnly = true
      levels.lock()
    },
  }
}
