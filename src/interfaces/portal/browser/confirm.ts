import { createElement } from '../../../http/browser/dom.ts'

/**
 * `<form data-confirm>` asks in a dialog instead of on the page of kit/confirm.ts. The focus starts on the cancel button and returns to the
 * button that was pressed; Escape and a click outside close the dialog.
 */
export function confirmInDialogs(): void {
  document.addEventListener('submit', (event) => {
    const form = event.target
    if (!(form instanceof HTMLFormElement) || form.dataset.confirm === undefined) return
    event.preventDefault()
    event.stopImmediatePropagation()
    ask(new FormData(form))
  })
}

function ask(values: FormData): void {
  const field = (name: string) => String(values.get(`ask_${name}`))
  const otherValues = [...values].filter(([name]) => !name.startsWith('ask_'))
  const form = createElement(
    'form',
    { method: 'post', action: field('to'), class: 'modal-action' },
    ...otherValues.map(([name, value]) => createElement('input', { type: 'hidden', name, value: String(value) })),
    createElement('button', { type: 'button', class: 'btn', autofocus: true, onclick: () => dialog.close() }, 'Cancel'),
    createElement('button', { class: 'btn btn-error' }, field('label')),
  )
  const dialog: HTMLDialogElement = createElement(
    'dialog',
    {
      class: 'modal',
      'aria-labelledby': 'ask-heading',
      'aria-describedby': 'ask-text',
      onclose: () => dialog.remove(),
      onclick: ({ target }) => target === dialog && dialog.close(),
    },
    createElement(
      'div',
      { class: 'modal-box' },
      createElement('h2', { id: 'ask-heading', class: 'text-lg' }, field('question')),
      createElement('p', { id: 'ask-text', class: 'pt-3' }, field('consequence')),
      form,
    ),
  )
  document.body.append(dialog)
  dialog.showModal()
}
