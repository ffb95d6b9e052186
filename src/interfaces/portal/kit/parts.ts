import type { Context } from '../../../domain/context.ts'
import { type Html, html, type Value } from '../../../html/html.ts'
import { portalPathOf } from '../../../http/addresses/links.ts'
import { type IconName, icon } from '../../../http/pages/icon.ts'

// Building blocks of pages besides forms and tables.

type Tab = { label: string; address: string; isCurrent: boolean; count?: number | string | undefined }

export const tabs = (
  label: string,
  items: readonly Tab[],
): Html => html`<nav class="border-base-300 overflow-x-auto border-b print:hidden" aria-label="${label}">
<div class="tabs tabs-border min-w-max">${items.map(tab)}</div>
</nav>
`

function tab({ label, address, isCurrent, count }: Tab): Html {
  const content = html`${label}${count !== undefined && html` <span class="text-base-content/70 ml-2 text-xs tabular-nums">${count.toLocaleString('en')}</span>`}`
  return isCurrent
    ? html`<a class="tab tab-active font-medium" href="${address}" aria-current="page">${content}</a>\n`
    : html`<a class="tab" href="${address}">${content}</a>\n`
}

export const avatar = (name: string): Html => {
  const letters = name.split(/\s+/).flatMap((word) => [...word].slice(0, 1))
  return html`<span class="bg-primary/10 text-primary grid size-9 shrink-0 place-items-center rounded-full text-xs font-semibold" aria-hidden="true">${letters.slice(0, 2).join('').toUpperCase()}</span>`
}

/** Name and address of a person. @param address of their page; without it no link. */
export function person({ name, email, address }: { name: string | null; email: string; address?: string | undefined }): Html {
  const displayName = name || email
  return html`<span class="flex items-center gap-3">${avatar(displayName)}<span class="min-w-0">${address ? html`<a class="named block" href="${address}">${displayName}</a>` : html`<span class="block font-medium">${displayName}</span>`}${name && html`<span class="address text-base-content/70 block text-xs font-normal" title="${email}">${email}</span>`}</span></span>`
}

/** An email address in a column. */
export const addressCell = (email: string): Html => html`<span class="address block" title="${email}">${email}</span>`

/** A number in a table. 0 is gray. */
export const countCell = (count: number): Html | number => (count === 0 ? html`<span class="quiet tabular-nums">0</span>` : count)

export const progressBar = (done: number, total: number): Html =>
  html`<p><label for="progress">${done.toLocaleString('en')} of ${total.toLocaleString('en')}</label>
<progress class="progress progress-primary" id="progress" value="${done}" max="${total}"></progress></p>`

/** Names and values; empty values are left out. @param place `aside` aligns values at the right. */
export const factList = (rows: readonly (readonly [name: string, value: Value])[], place: 'wide' | 'aside' = 'wide'): Html =>
  html`<dl class="${FACTS[place]}">${rows.map(
    ([name, value]) =>
      value !== null &&
      value !== undefined &&
      value !== false &&
      value !== '' &&
      html`<div><dt>${name}</dt><dd>${value}</dd></div>\n`,
  )}</dl>`

const FACTS = { wide: 'details', aside: 'details aside' }

/** Empty state, with the first action to take. */
export const empty = (
  name: IconName,
  text: string,
  action?: Html | false,
): Html => html`<div class="grid justify-items-center gap-3 px-5 py-10 text-center">
<span class="bg-base-200 text-base-content/70 grid size-12 place-items-center rounded-full">${icon(name, 'size-6')}</span>
<p class="text-base-content/70 max-w-md">${text}</p>${action}
</div>`

/** Links to the people whose data is stored. */
export const personalDataLinks = (ctx: Pick<Context, 'organization' | 'mode'>): Html =>
  html`<div class="flex gap-2">${linkButton(`${portalPathOf(ctx)}candidates`, 'Candidates', 'users', 'small')}${linkButton(`${portalPathOf(ctx)}members`, 'Members', 'user-cog', 'small')}</div>`

/** @param look `main` for the one main action of a page. */
export const linkButton = (address: string, label: string, name?: IconName, look: 'main' | 'other' | 'small' = 'other'): Html =>
  html`<a class="${LOOKS[look]}" href="${address}">${name && icon(name)}${label}</a>`

const LOOKS = { main: 'btn btn-primary', other: 'btn', small: 'btn btn-sm' }

/** Menu of secondary actions. */
export const moreMenu = (items: Html): Html => html`<details class="dropdown dropdown-end">
<summary class="btn">${icon('ellipsis')}More</summary>
<div class="dropdown-content bg-base-100 border-base-300 rounded-box z-10 mt-1 grid w-64 gap-1 border p-2 shadow-lg">${items}</div>
</details>`

/** Something that needs attention: with an action, or with a table that opens below it. */
export type AttentionItem = { icon: IconName; look: 'error' | 'warning' | 'info'; text: string; detail: Value } & (
  | { action: Html | false }
  | { rows: Html }
)

export const attentionList = (items: readonly AttentionItem[]): Html =>
  html`<ul class="divide-base-300 -mx-5 -mb-5 divide-y">${items.map((need) => html`<li>${'rows' in need ? attentionDetails(need) : html`<div class="${NEED}">${attentionText(need)}${need.action}</div>`}</li>\n`)}</ul>`

const NEED = 'flex items-center gap-4 px-5 py-3'

const attentionText = ({ icon: name, look, text, detail }: AttentionItem): Html =>
  html`<span class="${NEEDS[look]}">${icon(name, 'size-5')}</span><span class="min-w-0 grow"><span class="block font-medium">${text}</span><span class="text-base-content/70 block text-sm">${detail}</span></span>`

const attentionDetails = (need: AttentionItem & { rows: Html }): Html => html`<details class="group">
<summary class="${`${NEED} list-none [&::-webkit-details-marker]:hidden`}">${attentionText(need)}<span class="btn btn-sm"><span class="group-open:hidden">Show</span><span class="hidden group-open:inline">Hide</span></span></summary>
${need.rows}
</details>`

const NEEDS = { error: 'text-error', warning: 'text-warning', info: 'text-info' }

/** Text with a copy button. @param id of the element with the text. */
export const copyBox = (id: string, text: string, label = 'Copy'): Html =>
  html`<div class="mb-4 flex flex-wrap items-center gap-2 last:mb-0"><code class="secret block min-w-0 grow basis-64 rounded-field border border-base-300 bg-base-200 px-4 py-2.5 select-all" id="${id}">${text}</code>
<button class="btn" hidden data-copy="${id}" type="button">${icon('copy')}${label}</button></div>`

export const figure = (
  label: string,
  value: string | number,
  note: Value,
  curve?: Html,
): Html => html`<div class="panel"><p class="text-base-content/70 text-sm">${label}</p>
<p class="mt-1 text-3xl font-semibold tracking-tight tabular-nums">${value}</p>
<p class="text-base-content/70 mt-1 text-sm">${note}</p>${curve}</div>
`
