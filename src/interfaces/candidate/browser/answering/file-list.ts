import { createButton, createElement, setNotice, setText } from '../../../../http/browser/dom.ts'
import type { BrowserTexts } from '../../../../locales/texts.ts'

/** A file in the list. @property mediaId null until the service has granted its upload. */
export type FileRow = { element: HTMLElement; name: string; mediaId: string | null; isRemoved: boolean }

/** List of a question's files, and the reasons why others were refused. @param place contains the server's list of arrived files. */
export function openFileList(t: BrowserTexts, place: HTMLElement, remove: (row: FileRow) => void) {
  const list = place.querySelector('ul')!
  const error = place.querySelector<HTMLElement>('[role=alert]')!
  const rows = new Set<FileRow>()
  let errors: string[] = []

  function addRow(row: FileRow): FileRow {
    rows.add(row)
    row.element.append(createButton(t.text('file.remove', { name: row.name }), () => remove(row), 'btn btn-sm'))
    return row
  }

  function setErrors(texts: string[]): void {
    errors = texts
    setNotice(error, errors.join(' '))
  }

  for (const element of list.querySelectorAll<HTMLElement>('[data-file]'))
    addRow({ element, name: element.textContent, mediaId: element.dataset.file!, isRemoved: false })

  return {
    add(name: string, mediaId: string | null): FileRow {
      const text = createElement('span', { class: 'min-w-0 grow break-words', dir: 'auto' })
      const element = createElement('li', { class: 'panel flex flex-wrap items-center gap-3 p-4' }, text)
      list.append(element)
      return addRow({ element, name, mediaId, isRemoved: false })
    },
    setStatus: ({ element }: FileRow, text: string) => setText(element.querySelector('span')!, text),
    drop(row: FileRow): void {
      row.isRemoved = true
      rows.delete(row)
      row.element.remove()
    },
    count: () => rows.size,
    /** @param problem without a message of its own, the message of `other` is shown. */
    showRefusal: (name: string, problem: string) =>
      setErrors([...errors, t.text('file.refused', { name, problem: problem as never })]),
    clearErrors: () => setErrors([]),
    errors: () => errors.join(' '),
  }
}
