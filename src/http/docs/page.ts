import { type Html, html } from '../../html/html.ts'
import type { Description, Field, Operation, Parameter, TypePart } from './describe.ts'

type Page = Description & {
  home: string
  /** Of the interface whose page it is. */
  name: string
  pages: { name: string; title: string; path: string }[]
}

/** The page of one interface's document, for reading and trying it. */
export const docsPage = ({
  title,
  home,
  keyHeader,
  name,
  pages,
  groups,
  objects,
  introduction,
  version,
}: Page): Html => html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${title}</title>
<link rel="stylesheet" href="${home}/page.css">
<script src="${home}/page.js" defer></script>
</head>
<body data-key-header="${keyHeader}">
<a class="skip" href="#content">Skip to the content</a>
<header>
<p class="service">Assessment Invitation Service</p>
<nav aria-label="Interfaces">
${pages.map((page) =>
  page.name === name
    ? html`<a href="${page.path}" aria-current="page">${page.title}</a>\n`
    : html`<a href="${page.path}">${page.title}</a>\n`,
)}</nav>
</header>
<div class="columns">
<nav class="contents" aria-label="Contents">
<details>
<summary>Contents</summary>
${groups.map(
  (group) => html`<p><a href="#group-${anchor(group.name)}">${group.name}</a></p>
<ul>${group.operations.map(({ id, summary }) => html`<li><a href="#${id}">${summary}</a></li>`)}</ul>
`,
)}<p><a href="#objects">Objects</a></p>
<ul>${objects.map((object) => html`<li><a href="#object-${object.name}">${object.name}</a></li>`)}</ul>
</details>
</nav>
<main id="content">
<h1>${title}</h1>
<p class="introduction">${introduction}</p>
<p>Every request carries an API key in the header <code>${keyHeader}</code>. Version ${version}, also as an <a href="${home}/${name}/openapi.json">OpenAPI document</a> and as a <a href="${home}/${name}/bruno.json">collection for Bruno</a>.</p>
<form class="key" hidden>
<label>API key, to try requests with <input id="key" type="password" autocomplete="off" spellcheck="false" aria-describedby="key-note"></label>
<button type="reset">Forget</button>
<p id="key-note">Requests go to this service and act on your organization's data. The key stays in this tab of the browser, over reloads, until the tab is closed.</p>
</form>
${groups.map(
  (group) => html`<section id="group-${anchor(group.name)}">
<h2>${group.name}</h2>
${group.operations.map(operationArticle)}</section>
`,
)}<section id="objects">
<h2>Objects</h2>
${objects.map(objectArticle)}</section>
</main>
</div>
</body>
</html>
`

const anchor = (name: string): string => name.replaceAll(' ', '-')

const objectArticle = ({
  name,
  description,
  type,
  fields,
  example,
}: Description['objects'][number]): Html => html`<article id="object-${name}">
<h3><a href="#object-${name}">${name}</a></h3>
${description && html`<p>${text(description)}</p>\n`}${type.length > 0 && html`<p><span class="type">${typeOf(type)}</span></p>\n`}${fieldList(fields)}
<details><summary>Example</summary><pre>${example}</pre></details>
</article>
`

const PLACES = { path: 'Path', query: 'Query', header: 'Headers' }

function operationArticle({ id, summary, method, path, description, parameters, body, responses, example }: Operation): Html {
  const groups = Object.entries(PLACES).map(([place, heading]) => ({
    heading,
    fields: parameters.filter((parameter) => parameter.in === place),
  }))
  return html`<article id="${id}">
<h3><a href="#${id}">${summary}</a></h3>
<p class="endpoint"><span class="method ${method.toLowerCase()}">${method}</span> <code>${path}</code></p>
${description && html`<p>${text(description)}</p>\n`}${groups.map(({ heading, fields }) => fields.length > 0 && html`<h4>${heading}</h4>${fieldList(fields, true)}\n`)}${body && html`<h4>Body</h4>${fieldList(body.fields, true)}\n`}<h4>Answers</h4>
<dl class="answers">
${responses.map(answer)}</dl>
${example && html`<details><summary>Example of an answer</summary><pre>${example}</pre></details>\n`}<details class="try" hidden>
<summary>Try it</summary>
<form data-method="${method}" data-path="${path}">
${parameters.map((parameter) => html`<label>${parameter.name} ${control(parameter)}</label>\n`)}${body && html`<label>Body <textarea rows="${Math.min(16, body.example.split('\n').length)}" spellcheck="false">${body.example}</textarea></label>\n`}<button>Send</button>
<div class="answer" role="status"></div>
</form>
</details>
</article>
`
}

const answer = ({
  status,
  reason,
  description,
  type,
  fields,
  headers,
}: Operation['responses'][number]): Html => html`<dt>${status} ${reason}</dt>
<dd>
${(description || type.length > 0) && html`<p>${text(description)} <span class="type">${typeOf(type)}</span></p>\n`}${fields.length > 0 && fieldList(fields)}${headers.length > 0 && html`<p>With the headers</p>${fieldList(headers)}`}
</dd>
`

const control = ({ name, in: place, required, words }: Parameter): Html =>
  words.length > 0
    ? html`<select name="${name}" data-in="${place}"><option value=""></option>${words.map((word) => html`<option>${String(word)}</option>`)}</select>`
    : html`<input name="${name}" data-in="${place}" autocomplete="off" spellcheck="false" ${required && html`required`}>`

/** @param marksRequired where it is the client who has to send them. */
const fieldList = (fields: Field[], marksRequired = false): Html => html`<ul class="fields">
${fields.map(
  ({ name, type, rules, required, description, fields: within }) => html`<li>
<p class="field"><code class="name">${name}</code> <span class="type">${typeOf(type)}${rules.length > 0 && `; ${rules.join('; ')}`}</span>${required && marksRequired && html` <strong class="required">required</strong>`}</p>
${description && html`<p>${text(description)}</p>\n`}${within.length > 0 && fieldList(within, marksRequired)}</li>
`,
)}</ul>`

const typeOf = (type: TypePart[]): Html[] =>
  type.map((part) => (part.object ? html`<a href="#object-${part.object}">${part.text}</a>` : html`${part.text}`))

/** Text in which what stands between backquotes is code. */
const text = (marked: string): Html[] =>
  marked.split('`').map((part, i) => (i % 2 === 1 ? html`<code>${part}</code>` : html`${part}`))
