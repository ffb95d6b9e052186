import { type Choice, MAX_CHOICES } from '../../../domain/invites/form-options.ts'
import { MAX_FILTER_LENGTH } from '../../../domain/limits.ts'
import { type Html, html } from '../../../html/html.ts'
import { emptyForm, field, readFields } from './forms.ts'

// Selects show a limited number of names. If there may be more, the page has a field that filters them.

/** The text that filters a page's selects; empty if there is none. */
export const readNameFilter = (values: URLSearchParams): string =>
  readFields(values, 'named').named.trim().slice(0, MAX_FILTER_LENGTH).toWellFormed()

/** Field that filters the selects of a filter form; false if they show everything. */
export const nameFilterField = (named: string, lists: readonly Choice[][]): Html | false =>
  (named !== '' || lists.some(isCut)) &&
  field(emptyForm, { name: 'named', label: 'Filter the lists by name', type: 'search', value: named, optional: true })

/** Form that filters the selects, for a page without a filter form. @param address of the page. */
export function nameFilterForm(address: string, named: string, lists: readonly Choice[][]): Html | false {
  const filterField = nameFilterField(named, lists)
  return (
    filterField &&
    html`<form method="get" action="${address}" class="flex flex-wrap items-end gap-3">${filterField}<button class="btn mb-4">Apply</button></form>\n`
  )
}

/** Hint of a select that may not show every name. */
export const limitHint = (list: Choice[]): { hint?: string } =>
  isCut(list) ? { hint: `The first ${MAX_CHOICES.toLocaleString('en')} by name. To find others, filter the lists by name.` } : {}

const isCut = (list: Choice[]): boolean => list.length >= MAX_CHOICES
