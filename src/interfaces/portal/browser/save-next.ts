import type { saveGradeAsTyped } from './grade-form.ts'

type Options = { form: ReturnType<typeof saveGradeAsTyped>; next: string; say: (text: string) => void }

/** The button and the key Enter that save a grade and then open the next answer. A second press while saving does nothing. */
export function setUpSaveAndNext(sheet: HTMLElement, { form, next, say }: Options): void {
  const button = sheet.querySelector<HTMLButtonElement>('[data-save-next]')
  if (!button) return
  let isSaving = false
  async function goOn(): Promise<void> {
    if (isSaving) return
    if (!form.hasPoints()) return say('Not graded yet. Press n to skip this answer.')
    isSaving = true
    const isSaved = await form.save()
    isSaving = false
    if (isSaved) location.assign(next)
  }
  button.addEventListener('click', (event) => {
    event.preventDefault()
    void goOn()
  })
  document.addEventListener('keydown', (event) => {
    if (event.key !== 'Enter' || event.altKey || event.shiftKey) return
    const target = event.target instanceof HTMLElement ? event.target : null
    const isText = target?.matches('textarea') && !event.ctrlKey && !event.metaKey
    if (isText || target?.closest('a, button, summary, select')) return
    event.preventDefault()
    void goOn()
  })
}
