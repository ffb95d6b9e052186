import { type Html, html } from '../../html/html.ts'
import { CODE, codeBlock } from './code-block.ts'
import type { Field, Operation, Parameter, TypePart } from './describe.ts'
import { samplesOf } from './samples.ts'

/** @property keyHeader request header with the API key. @property objects address of the page of objects. */
type OperationContext = { keyHeader: string; objects: string }

const PARAMETER_HEADINGS = { path: 'Path', query: 'Query', header: 'Headers' }

/** Reference of one operation: parameters, body, and answers next to code samples and a form to try it. */
export function operationArticle(operation: Operation, { keyHeader, objects }: OperationContext): Html {
  const { id, summary, method, path, description, parameters, body, responses, example } = operation
  const groups = Object.entries(PARAMETER_HEADINGS).map(([location, heading]) => ({
    heading,
    fields: parameters.filter((parameter) => parameter.in === location),
  }))
  const [successes, errors] = [responses.filter(isSuccess), responses.filter((response) => !isSuccess(response))]
  return html`<article id="${id}" class="border-base-300 mt-12 scroll-mt-20 border-t pt-8 lg:grid lg:grid-cols-2 lg:gap-10">
<div class="min-w-0">
<h2 class="text-xl"><a class="hover:underline" href="#${id}">${summary}</a></h2>
<p class="mt-2 text-sm"><span class="badge badge-sm badge-ghost font-mono">${method}</span> <code>${path}</code></p>
${description && html`<p class="mt-3 leading-7">${text(description)}</p>\n`}${groups.map(({ heading, fields }) => fields.length > 0 && html`${subheading(heading)}${fieldList(fields, objects, true)}\n`)}${body && html`${subheading('Body')}${fieldList(body.fields, objects, true)}\n`}${subheading('Answer')}
${successes.map((response) => answer(response, objects))}
<details class="mt-4 text-sm"><summary>Errors: ${errors.map(({ status }) => status).join(', ')}</summary>
<dl class="details mt-3">${errors.map(({ status, reason, description }) => html`<dt>${status} ${reason}</dt><dd>${text(description)}</dd>\n`)}</dl></details>
</div>
<div class="mt-6 min-w-0 lg:mt-0">
${samples(operation, keyHeader)}
${example && html`<details class="mt-4 text-sm"><summary>Example of an answer</summary>${codeBlock(example)}</details>\n`}${tryIt(operation)}
</div>
</article>
`
}

const isSuccess = ({ status }: Operation['responses'][number]): boolean => status < '400'

const subheading = (heading: string): Html => html`<h3 class="mt-6 mb-2">${heading}</h3>`

/** Tabs with a sample in each language. They are radio buttons, so they work without JavaScript. */
const samples = (operation: Operation, keyHeader: string): Html => html`<div class="tabs tabs-border tabs-sm" data-samples>
${samplesOf(operation, keyHeader).map(
  (
    { language, text },
    i,
  ) => html`<input class="tab" type="radio" name="sample-${operation.id}" value="${language}" aria-label="${language}" ${i === 0 && html`checked`}>
<div class="tab-content" data-sample="${language}">${codeBlock(text)}</div>
`,
)}</div>`

const answer = ({ status, reason, description, type, fields, headers }: Operation['responses'][number], objects: string): Html =>
  html`<p class="text-sm"><strong>${status} ${reason}</strong> <span class="quiet">${typeOf(type, objects)}</span></p>
${description && html`<p class="mt-1 text-sm">${text(description)}</p>\n`}${fields.length > 0 && fieldList(fields, objects)}${headers.length > 0 && html`<p class="quiet mt-2 text-sm">Headers: ${headers.map(({ name }, i) => html`${i > 0 && ', '}<code>${name}</code>`)}</p>\n`}`

/** Hidden without JavaScript, which sends the request. */
const tryIt = ({
  id,
  method,
  path,
  parameters,
  body,
}: Operation): Html => html`<details class="try panel mt-4 p-4 text-sm noscript:hidden">
<summary class="font-medium">Try it</summary>
<form class="mt-3 space-y-3" data-method="${method}" data-path="${path}">
${parameters.map((parameter) => html`<label class="block font-medium">${parameter.name} ${control(parameter)}</label>\n`)}${body && html`<label class="block font-medium">Body <textarea class="textarea textarea-sm mt-1 w-full font-mono" rows="${Math.min(16, body.example.split('\n').length)}" spellcheck="false">${body.example}</textarea></label>\n`}<button class="btn btn-primary btn-sm">Send</button>
<div class="answer" role="status" aria-label="Answer to ${id}"></div>
</form>
</details>`

const control = ({ name, in: place, required, words }: Parameter): Html =>
  words.length > 0
    ? html`<select class="select select-sm mt-1 w-full" name="${name}" data-in="${place}"><option value=""></option>${words.map((word) => html`<option>${String(word)}</option>`)}</select>`
    : html`<input class="input input-sm mt-1 w-full" name="${name}" data-in="${place}" autocomplete="off" spellcheck="false" ${required && html`required`}>`

/** Description, type, and fields of an object. @param objects address of the page of objects. */
export const objectFields = (
  { description, type, fields }: { description: string; type: TypePart[]; fields: Field[] },
  objects: string,
): Html =>
  html`${description && html`<p class="mt-2 leading-7">${text(description)}</p>\n`}${type.length > 0 && html`<p class="mt-2 text-sm">${typeOf(type, objects)}</p>\n`}${fields.length > 0 && fieldList(fields, objects)}`

/** @param marksRequired true for requests: in answers, `required` means always present. */
const fieldList = (
  fields: Field[],
  objects: string,
  marksRequired = false,
): Html => html`<ul class="border-base-300 my-2 space-y-2 border-l pl-4 text-sm">
${fields.map(
  ({ name, type, rules, required, description, fields: children }) => html`<li>
<p><code class="name ${CODE}">${name}</code> <span class="quiet">${typeOf(type, objects)}${rules.length > 0 && `; ${rules.join('; ')}`}</span>${required && marksRequired && html` <strong>required</strong>`}</p>
${description && html`<p>${text(description)}</p>\n`}${children.length > 0 && fieldList(children, objects, marksRequired)}</li>
`,
)}</ul>`

const typeOf = (type: TypePart[], objects: string): Html[] =>
  type.map((part) => (part.object ? html`<a href="${objects}#object-${part.object}">${part.text}</a>` : html`${part.text}`))

/** Text with code between backquotes. */
const text = (source: string): Html[] =>
  source.split('`').map((part, i) => (i % 2 === 1 ? html`<code class="${CODE}">${part}</code>` : html`${part}`))
