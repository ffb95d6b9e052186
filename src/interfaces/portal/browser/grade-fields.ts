/** As it is typed. */
export type Grade = { points: string; comment: string }

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
    asSaved: (): Grade => ({ points: points?.defaultValue ?? '', comment: comment.defaultValue }),
    seen: () => form.querySelector<HTMLInputElement>('[name=seen]')!.value,
    isEmpty: () => (points?.value ?? '') === '' && comment.value === '',
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

/** Whether the service would keep the same of both: it takes no white space around a comment, and "3,0" for "3". */
export const isSame = (one: Grade, other: Grade): boolean =>
  one.comment.trim() === other.comment.trim() && toNumber(one.points) === toNumber(other.points)

const toNumber = (points: string): string => {
  const typed = points.trim().replace(',', '.')
  return /^\d+(\.\d+)?$/.test(typed) ? String(Number(typed)) : typed
}

export const wordGrade = ({ points, comment }: Grade): string =>
  [points === '' ? 'no points' : `${points} points`, comment && `“${comment}”`].filter(Boolean).join(', ')
