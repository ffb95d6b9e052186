import type { Given, Grade } from './grade.ts'

/** The fields of a question's form. */
export function findFields(form: HTMLFormElement) {
  const points = form.querySelector<HTMLInputElement>('[name=points]')
  const comment = form.querySelector<HTMLTextAreaElement>('[name=comment]')!
  return {
    comment,
    read: (): Grade => ({ points: points?.value ?? '', comment: comment.value }),
    write(grade: Grade): void {
      if (points) points.value = grade.points
      comment.value = grade.comment
    },
    /** As the page came. */
    asSaved: (): Given => ({
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
