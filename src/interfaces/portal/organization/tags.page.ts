import type { Context } from '../../../domain/context.ts'
import { DEFAULT_COLOR, type ListedTag, MAX_TAG_USES, type Tag, type TagOrder, type TagUses } from '../../../domain/tags/tags.ts'
import { type Html, html } from '../../../html/html.ts'
import { confirmButton } from '../kit/confirm.ts'
import { area, type Form, field, mistakes, seenField } from '../kit/forms.ts'
import { type Page, panel, pathOf } from '../kit/layout.ts'
import { onceField } from '../kit/once.ts'
import { type FilteredList, filterLine, noRows, sizedPager, sortable } from '../kit/paging.ts'
import { popup, popupButton } from '../kit/popup.ts'
import { table } from '../kit/table.ts'

const NOTICES = new Map([
  ['created', 'The tag is created.'],
  ['saved', 'The tag is saved.'],
  ['deleted', 'The tag is deleted.'],
])

type ListFacts = { ctx: Context; found: FilteredList<ListedTag>; uses: Map<string, TagUses>; done: string }

export const tagsPage = (form: Form, { ctx, found, uses, done }: ListFacts): Page => ({
  title: 'Tags',
  notice: NOTICES.get(done),
  actions: !isRefused(form) && popupButton(CREATING, 'btn btn-primary'),
  body: html`${mistakes(form)}${mistakes(found.form)}${isRefused(form) && creating(form, ctx)}<section class="panel" aria-labelledby="tags-heading">
<h2 class="mb-4" id="tags-heading">${found.list.total === 1 ? 'One tag' : html`${found.list.total} tags`}</h2>
${filterLine(pathOf(ctx, 'tags'), found.form.values, field(found.form, { name: 'search', label: 'Name', type: 'search', optional: true }))}
${found.list.items.length === 0 ? noRows('No tags match.', pathOf(ctx, 'tags'), found.form.values) : tagTable(ctx, found, uses)}
${sizedPager(pathOf(ctx, 'tags'), found.form.values, found.list)}
</section>
<div>${!isRefused(form) && creating(form, ctx)}</div>`,
})

const CREATING = { id: 'create', label: 'New tag', icon: 'plus' } as const
const isRefused = ({ issues }: Form): boolean => issues.length > 0

const creating = (form: Form, ctx: Context): Html =>
  popup(
    CREATING.id,
    'Create a tag',
    html`<form method="post" action="${pathOf(ctx, 'tags')}">${onceField()}
${fields(form, { name: '', color: DEFAULT_COLOR, description: '' })}
<button class="btn btn-primary">Create tag</button>
</form>`,
    isRefused(form),
  )

export const TAG_ORDERS: Record<string, TagOrder> = {
  name: { field: 'name', direction: 'asc' },
  'name-last': { field: 'name', direction: 'desc' },
}

const tagTable = (ctx: Context, { form, list }: FilteredList<ListedTag>, uses: Map<string, TagUses>): Html =>
  table(
    'tags-heading',
    [
      sortable('Name', 'name', { path: pathOf(ctx, 'tags'), query: form.values, orders: TAG_ORDERS }),
      ...['Assessments', 'Members', 'Invites', 'Description'],
    ],
    list.items.map((tag) => [
      html`${color(tag)}${symbol(tag)}<a class="named" href="${pathOf(ctx, `tags/${tag.id}`)}">${tag.name}</a>${isReadOnly(ctx, tag) && html` <span class="badge badge-sm badge-ghost">Live</span>`}`,
      ...countsOf(uses.get(tag.id)!).map(([label, count]) =>
        label === 'invites' && count !== '0' ? html`<a href="${pathOf(ctx, `invites?tag=${tag.id}`)}">${count}</a>` : count,
      ),
      tag.description,
    ]),
  )

/** On pages of test data, live tags are read-only. */
const isReadOnly = (ctx: Context, { mode }: Pick<Tag, 'mode'>): boolean => ctx.mode === 'test' && mode === 'live'

/** SVG, because the page's policy forbids inline styles. */
const color = ({ color }: Pick<Tag, 'color'>): Html =>
  html`<svg class="mr-2 inline size-4 align-[-0.125rem]" viewBox="0 0 16 16" aria-hidden="true"><circle cx="8" cy="8" r="7" fill="${color}"></circle></svg>`

/** The tag's icon, if it is an emoji. Integrations set it; other values are names in their own icon set. */
const symbol = ({ icon }: Pick<Tag, 'icon'>): Html | false =>
  icon !== null && EMOJI.test(icon) && html`<span class="mr-2" aria-hidden="true">${icon}</span>`
const EMOJI = /^\p{RGI_Emoji}$/v

const countsOf = ({ assessments, members, invites }: TagUses): [string, string][] => [
  ['assessments', count(assessments)],
  ['members', count(members)],
  ['invites', count(invites)],
]

const count = (uses: number): string => (uses < MAX_TAG_USES ? String(uses) : `${MAX_TAG_USES} or more`)

export function tagPage(form: Form, { ctx, tag, uses }: { ctx: Context; tag: Tag; uses: TagUses }): Page {
  const address = pathOf(ctx, `tags/${tag.id}`)
  const [assessments, members, invites] = countsOf(uses).map(([label, number]) => `${label}: ${number}`)
  const usage = html`<p class="mb-4">${assessments}, ${members}, <a href="${pathOf(ctx, `invites?tag=${tag.id}`)}">${invites}</a></p>`
  const heading = { title: tag.name, trail: [['Tags', pathOf(ctx, 'tags')]] } satisfies Partial<Page>
  if (isReadOnly(ctx, tag)) {
    const live = pathOf({ ...ctx, mode: 'live' }, `tags/${tag.id}`)
    return {
      ...heading,
      body: panel('uses', 'Uses', html`${usage}<p>This is a live tag. <a href="${live}">Edit it with live data</a></p>`),
    }
  }
  return {
    ...heading,
    body: html`${mistakes(form)}<section class="panel" aria-labelledby="change-heading">
<h2 class="mb-4" id="change-heading">Edit tag</h2>
<form method="post" action="${address}">
${seenField(form, tag)}
${fields(form, tag)}
<button class="btn btn-primary">Save</button>
</form>
</section>
<section class="panel" aria-labelledby="uses-heading">
<h2 class="mb-4" id="uses-heading">Uses</h2>
${usage}
${confirmButton({ label: 'Delete', question: `Delete ${tag.name}?`, consequence: 'It is removed from everything that has it. This can’t be undone.', address: `${address}/delete` })}
</section>`,
  }
}

const fields = (form: Form, { name, color, description }: { name: string; color: string; description: string }): Html =>
  html`${field(form, { name: 'name', label: 'Name', value: name })}
${field(form, { name: 'color', label: 'Color', type: 'color', value: color })}
${area(form, { name: 'description', label: 'Description', value: description })}`
