import { make } from '../../../http/browser/dom.ts'

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
  const form = make(
    'form',
    { method: 'post', action: said('to'), class: 'modal-action' },
    ...others.map(([name, value]) => make('input', { type: 'hidden', name, value: String(value) })),
    make('button', { type: 'button', class: 'btn', autofocus: true, onclick: () => dialog.close() }, 'Cancel'),
    make('button', { class: 'btn btn-error' }, said('label')),
  )
  const dialog: HTMLDialogElement = make(
    'dialog',
    {
      class: 'modal',
      'aria-labelledby': 'ask-heading',
      'aria-describedby': 'ask-text',
      onclose: () => dialog.remove(),
      onclick: ({ target }) => target === dialog && dialog.close(),
    },
    make(
      'div',
      { class: 'modal-box' },
      make('h2', { id: 'ask-heading', class: 'text-lg' }, said('question')),
      make('p', { id: 'ask-text', class: 'pt-3' }, said('consequence')),
      form,
    ),
  )
  document.body.append(dialog)
  dialog.showModal()
}
