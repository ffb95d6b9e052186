import { MAX_CHOICES, type Named } from '../../../domain/invites/form-options.ts'
import { MAX_FILTER_LENGTH } from '../../../domain/limits.ts'
import { type Html, html } from '../../../html/html.ts'
import { emptyForm, field, readFields } from './forms.ts'

// Lists to choose from show so many names at most. Where there may be more, a page lets them be narrowed to those with a text in them.

/** The text that the address of a page, or the filter on it, narrows its lists to; empty: they have all names that fit. */
export const readNamed = (values: URLSearchParams): string =>
  readFields(values, 'named').named.trim().slice(0, MAX_FILTER_LENGTH).toWellFormed()

/** Part of a filter: narrows its lists, where they do not show all there is. */
export const namedField = (named: string, lists: readonly Named[][]): Html | false =>
  (named !== '' || lists.some(isCut)) &&
  field(emptyForm, { name: 'named', label: 'Filter the lists by name', type: 'search', value: named, optional: true })

/** A form that narrows the lists of a page, for a page without a filter. @param address of the page. */
export function narrowing(address: string, named: string, lists: readonly Named[][]): Html | false {
  const shown = namedField(named, lists)
  return (
    shown &&
    html`<form method="get" action="${address}" class="flex flex-wrap items-end gap-3">${shown}<button class="btn mb-4">Apply</button></form>\n`
  )
}

/** Says of a list to choose from that it may not be all there is. */
export const limitHint = (list: Named[]): { hint?: string } =>
  isCut(list) ? { hint: `The first ${MAX_CHOICES.toLocaleString('en')} by name. To find others, filter the lists by name.` } : {}

const isCut = (list: Named[]): boolean => list.length >= MAX_CHOICES
