import { createElement, setText } from '../../browser/dom.ts'
import { type SearchEntry, searchEntries } from '../search-entries.ts'

/** Shows results while typing. Enter submits the form, which works without JavaScript, too. */
export function searchAsTyped(): void {
  const form = document.querySelector<HTMLFormElement>('[data-search]')
  const input = form?.querySelector('input')
  const results = form?.querySelector<HTMLElement>('[data-found]')
  const status = form?.querySelector<HTMLElement>('[role=status]')
  if (!form || !input || !results || !status) return
  let index: Promise<SearchEntry[]> | undefined
  const load = async (): Promise<SearchEntry[]> => (await fetch(`${new URL(form.action).pathname}.json`)).json()
  const show = async () => {
    const query = input.value
    index ??= load().catch(() => {
      index = undefined // retry on the next input
      return []
    })
    const entries = searchEntries(await index, query)
    if (query !== input.value) return
    results.replaceChildren(...entries.map(toLink))
    results.hidden = entries.length === 0
    setText(status, query.trim() === '' ? '' : `${entries.length} found`)
  }
  const hide = () => {
    results.hidden = true
  }
  input.addEventListener('input', show)
  input.addEventListener('keydown', (event) => {
    if (event.key === 'Escape') hide()
    if (event.key !== 'ArrowDown' || results.hidden) return
    event.preventDefault()
    results.querySelector('a')?.focus()
  })
  results.addEventListener('keydown', (event) => moveFocus(event, results, input))
  results.addEventListener('click', hide) // a link to a heading of this page does not load a page
  document.addEventListener('click', ({ target }) => {
    if (!form.contains(target as Node)) hide()
  })
}

const toLink = ({ title, where, address }: SearchEntry): HTMLElement =>
  createElement(
    'a',
    { class: 'block px-4 py-2 text-sm hover:bg-base-200', href: address },
    title,
    createElement('span', { class: 'quiet block text-xs' }, where),
  )

function moveFocus(event: KeyboardEvent, results: HTMLElement, input: HTMLInputElement): void {
  const links = [...results.querySelectorAll('a')]
  const position = links.indexOf(document.activeElement as HTMLAnchorElement)
  if (event.key === 'Escape') {
    results.hidden = true
    input.focus()
  }
  if (event.key !== 'ArrowDown' && event.key !== 'ArrowUp') return
  event.preventDefault()
  ;(links[event.key === 'ArrowDown' ? position + 1 : position - 1] ?? input).focus()
}
