import type { Grade, SavedGrade } from './grade.ts'

export function findFields(form: HTMLFormElement) {
  const points = form.querySelector<HTMLInputElement>('[name=points]')
  const comment = form.querySelector<HTMLTextAreaElement>('[name=comment]')!
  const steps = [...form.querySelectorAll<HTMLButtonElement>('[data-points]')]
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
  showPoints()
  return {
    comment,
    read: (): Grade => ({ points: points?.value ?? '', comment: comment.value }),
    write(grade: Grade): void {
      if (points) points.value = grade.points
      showPoints()
      comment.value = grade.comment
    },
    asSaved: (): SavedGrade => ({
      points: points?.defaultValue ?? '',
      comment: comment.defaultValue,
      seen: form.querySelector<HTMLInputElement>('[name=seen]')!.value,
    }),
    setInvalid: (is: boolean) => points?.setAttribute('aria-invalid', String(is)),
    describeBy(line: HTMLElement): void {
      for (const field of [points, comment]) field?.setAttribute('aria-describedby', line.id)
    },
    lock(): void {
      if (points) points.readOnly = true
      comment.readOnly = true
    },
  }
}
