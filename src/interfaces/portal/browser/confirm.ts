import { createElement } from '../../../http/browser/dom.ts'

/**
 * `<form data-confirm>` asks in a dialog what it would ask on a page of its own, see kit/confirm.ts. The focus is on what does nothing, and
 * goes back to the button; Escape, and a click beside the dialog, close it.
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
  const said = (name: string) => String(values.get(`ask_${name}`))
  const others = [...values].filter(([name]) => !name.startsWith('ask_'))
  const form = createElement(
    'form',
    { method: 'post', action: said('to'), class: 'modal-action' },
    ...others.map(([name, value]) => createElement('input', { type: 'hidden', name, value: String(value) })),
    createElement('button', { type: 'button', class: 'btn', autofocus: true, onclick: () => dialog.close() }, 'Cancel'),
    createElement('button', { class: 'btn btn-error' }, said('label')),
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
      createElement('h2', { id: 'ask-heading', class: 'text-lg' }, said('question')),
      createElement('p', { id: 'ask-text', class: 'pt-3' }, said('consequence')),
      form,
    ),
  )
  document.body.append(dialog)
  dialog.showModal()
}
