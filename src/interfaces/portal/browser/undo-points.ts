import { SAME_NUMBER_MS } from './type-points.ts'

type Change = { field: HTMLInputElement; before: string; at: number }

/** Records each change of points by keys, buttons, or typing. */
export function rememberPoints(sheet: HTMLElement) {
  const changes: Change[] = []
  const now = new WeakMap<HTMLInputElement, string>()
  let isUndoing = false
  for (const field of sheet.querySelectorAll<HTMLInputElement>('[name=points]')) now.set(field, field.value)

  sheet.addEventListener('input', ({ target, timeStamp: at }) => {
    if (!(target instanceof HTMLInputElement) || target.name !== 'points') return
    const last = changes.at(-1)
    const isOneNumber = last?.field === target && at - last.at < SAME_NUMBER_MS
    if (isOneNumber) last.at = at
    else if (!isUndoing) changes.push({ field: target, before: now.get(target) ?? '', at })
    now.set(target, target.value)
  })

  /** Reverts the last change. @returns the changed field; undefined if there was no change. */
  return function undo(): HTMLInputElement | undefined {
    const last = changes.pop()
    if (!last || last.field.readOnly) return undefined
    isUndoing = true
    last.field.value = last.before
    last.field.dispatchEvent(new Event('input', { bubbles: true }))
    isUndoing = false
    return last.field
  }
}
