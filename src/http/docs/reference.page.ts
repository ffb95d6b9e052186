import { type Html, html } from '../../html/html.ts'
import { icon } from '../pages/icon.ts'
import { codeBlock } from './code-block.ts'
import type { Description, Operation } from './describe.ts'
import { type MenuGroup, type Page, pageHead } from './layout.ts'
import { objectFields, operationArticle } from './operation.page.ts'
import type { SearchEntry } from './search-entries.ts'

/** Reference of one interface. @property address path of its first page. */
export type Reference = { name: string; title: string; address: string; description: Description }
type Group = Description['groups'][number]

/** @param guides path of the guides. */
export function pagesOf(reference: Reference, guides: string): Page[] {
  const { address, title, description } = reference
  const { keyHeader, groups } = description
  return [
    { title, address, body: () => referenceBody(reference, guides) },
    ...groups.map((group) => ({
      ...{ title: `${group.name} · ${title}`, address: addressOf(reference, group), keyHeader },
      body: () => groupBody(reference, group),
    })),
    { title: `Objects · ${title}`, address: objectsOf(reference), body: () => objectsBody(reference) },
  ]
}

const addressOf = ({ address }: Reference, group: Pick<Group, 'name'>): string =>
  `${address}/${group.name.toLowerCase().replaceAll(' ', '-')}`

const objectsOf = ({ address }: Reference): string => `${address}/objects`

/** First page of an interface: authentication, downloads, and a list of all operations. */
const referenceBody = (reference: Reference, guides: string): Html => {
  const { description, address, title, name } = reference
  const { introduction, keyHeader, version, groups, objects } = description
  return html`${pageHead(title, introduction)}
<p class="my-4 leading-7">Every request carries an API key in the header <code>${keyHeader}</code>: see <a href="${guides}/authentication">Authentication</a>. This is version ${version}.</p>
<p class="flex flex-wrap gap-3"><a class="btn btn-sm" href="${address}/openapi.json" download="${name}-openapi.json">${icon('download')}OpenAPI (JSON)</a><a class="btn btn-sm" href="${address}/openapi.yaml" download="${name}-openapi.yaml">${icon('download')}OpenAPI (YAML)</a><a class="btn btn-sm" href="${address}/bruno.json">${icon('download')}Collection for Bruno</a><a class="btn btn-sm" href="${address}/postman.json">${icon('download')}Collection for Postman</a></p>
${groups.map(
  (
    group,
  ) => html`<section class="mt-10"><h2 class="text-xl"><a class="hover:underline" href="${addressOf(reference, group)}">${group.name}</a></h2>
${group.description && html`<p class="quiet mt-1">${group.description}</p>`}
<ul class="divide-base-300 mt-3 divide-y">${group.operations.map((operation) => html`<li class="flex flex-wrap items-baseline gap-x-4 py-2" id="${operation.id}"><a class="link link-primary basis-64 font-medium" href="${addressOf(reference, group)}#${operation.id}">${operation.summary}</a>${endpoint(operation)}</li>\n`)}</ul></section>\n`,
)}<section class="mt-10"><h2 class="text-xl"><a class="hover:underline" href="${objectsOf(reference)}">Objects</a></h2>
<ul class="mt-3 flex flex-wrap gap-x-6 gap-y-2">${objects.map((object) => html`<li><a href="${objectsOf(reference)}#object-${object.name}">${object.name}</a></li>\n`)}</ul></section>
`
}

const groupBody = (reference: Reference, group: Group): Html => html`${pageHead(group.name, group.description, keyForm)}
<ul class="mt-6 flex flex-wrap gap-x-5 gap-y-2 text-sm">${group.operations.map(({ id, summary }) => html`<li><a href="#${id}">${summary}</a></li>\n`)}</ul>
${group.operations.map((operation) => operationArticle(operation, { keyHeader: reference.description.keyHeader, objects: objectsOf(reference) }))}`

/** Hidden without JavaScript, which sends the requests. */
const keyForm = html`<form class="panel max-w-sm p-4 text-sm noscript:hidden" data-key>
<label class="font-medium" for="key">API key, to try requests with</label>
<div class="mt-1 flex gap-2"><input class="input input-sm w-full" id="key" type="password" autocomplete="off" spellcheck="false" aria-describedby="key-note"><button class="btn btn-sm" type="reset">Forget</button></div>
<p class="hint mt-1" id="key-note">Requests go to this service and act on your organization's data. The key stays in this tab of the browser until it is closed.</p>
</form>`

const objectsBody = (reference: Reference): Html => html`${pageHead('Objects', `Objects in answers of ${reference.title}.`)}
${reference.description.objects.map(
  ({
    name,
    description,
    type,
    fields,
    example,
  }) => html`<article id="object-${name}" class="border-base-300 mt-10 scroll-mt-20 border-t pt-6">
<h2 class="text-xl"><a class="hover:underline" href="#object-${name}">${name}</a></h2>
${objectFields({ description, type, fields }, objectsOf(reference))}
<details class="mt-4"><summary>Example</summary>${codeBlock(example)}</details>
</article>
`,
)}`

const endpoint = ({ method, path }: Operation): Html =>
  html`<span class="min-w-0 text-sm"><span class="badge badge-sm badge-ghost font-mono">${method}</span> <code>${path}</code></span>`

export const menuOfReference = (reference: Reference): MenuGroup => ({
  name: reference.title,
  isReference: true,
  items: [
    { label: 'Overview', address: reference.address },
    ...reference.description.groups.map((group) => ({ label: group.name, address: addressOf(reference, group) })),
    { label: 'Objects', address: objectsOf(reference) },
  ],
})

/** Search entries of the operations and objects. */
export const entriesOfReference = (reference: Reference): SearchEntry[] => {
  const { title, description } = reference
  return [
    ...description.groups.flatMap((group) =>
      group.operations.map(({ id, summary, method, path, description: text }) => ({
        ...{ title: summary, where: `${title}: ${method} ${path}`, address: `${addressOf(reference, group)}#${id}` },
        text: plain(text),
      })),
    ),
    ...description.objects.map(({ name, description: lead, fields }) => ({
      ...{ title: name, where: `${title}: an object`, address: `${objectsOf(reference)}#object-${name}` },
      text: [lead, ...fields.map((field) => (field.description ? `${field.name}: ${field.description}` : field.name))]
        .filter(Boolean)
        .map(plain)
        .join(' · '),
    })),
  ]
}

/** Removes the backquotes of code. */
const plain = (text: string): string => text.replaceAll('`', '')
