import { createElement } from '../../../../http/browser/dom.ts'

type Field = HTMLInputElement | HTMLTextAreaElement | HTMLSelectElement
const optionsOf = ({ options }: HTMLSelectElement): HTMLOptionElement[] => [...options]

/**
 * Keeps a question's fields in a hidden text area as URL-encoded form data, so that they are saved like a text. Updates the text area when the
 * fields change.
 */
export function mirrorFields(fields: HTMLFieldSetElement) {
  const area = createElement('textarea', { hidden: true, 'aria-hidden': 'true' }) as HTMLTextAreaElement
  const read = () =>
    new URLSearchParams([...new FormData(fields.form!)].filter(([name]) => name === 'answer') as [string, string][]).toString()
  // The state as loaded: choices made before this script ran count as changes.
  area.defaultValue = readAsLoaded(fields)
  area.value = read()
  fields.append(area)
  const change = () => {
    area.value = read()
    area.dispatchEvent(new Event('input'))
  }
  fields.addEventListener('input', (event) => event.target !== area && change())
  fields.querySelector('[data-clear]')?.addEventListener('click', (event) => {
    event.preventDefault()
    for (const radio of fields.querySelectorAll<HTMLInputElement>('input')) radio.checked = false
    change()
  })
  return {
    area,
    /** Fills the fields from the text area, which may hold a draft of an earlier page. */
    fill(): void {
      const values = new URLSearchParams(area.value).getAll('answer')
      for (const field of fields.querySelectorAll<Field>('[name=answer]')) {
        if (field instanceof HTMLInputElement && field.type !== 'text') field.checked = values.includes(field.value)
        else if (field instanceof HTMLSelectElement)
          field.value = optionsOf(field).find(({ value }) => value !== '' && values.includes(value))?.value ?? ''
        else field.value = values[0] ?? ''
      }
    },
    setOpen(isOpen: boolean): void {
      fields.disabled = !isOpen
    },
  }
}

function readAsLoaded(fields: HTMLElement): string {
  const loaded = new URLSearchParams()
  for (const field of fields.querySelectorAll<Field>('[name=answer]')) {
    if (field instanceof HTMLSelectElement) {
      const chosen = optionsOf(field).find(({ defaultSelected }) => defaultSelected) ?? optionsOf(field)[0]
      loaded.append('answer', chosen?.value ?? '')
      continue
    }
    const isTicked = field instanceof HTMLInputElement && field.type !== 'text'
    if (!isTicked) loaded.append('answer', field.defaultValue)
    else if (field.defaultChecked) loaded.append('answer', field.value)
  }
  return loaded.toString()
}
