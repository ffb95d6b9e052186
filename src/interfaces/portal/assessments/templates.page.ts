import type { listTemplates } from '../../../domain/assessments/templates.ts'
import type { Context } from '../../../domain/context.ts'
import { type Html, html } from '../../../html/html.ts'
import { formatCount, formatDuration } from '../../../http/pages/candidate-view.ts'
import { fromMarkdown } from '../../../http/pages/markdown.ts'
import { nameOfLanguage } from '../../../locales/names.ts'
import type { ShippedTemplate } from '../../../templates/templates.ts'
import { type Form, mistakes } from '../kit/forms.ts'
import { type Page, pathOf } from '../kit/layout.ts'
import { onceField } from '../kit/once.ts'
import { empty, linkButton, tabs } from '../kit/parts.ts'

/** @property languages that the templates come in. @property templates in `language`. */
type Facts = {
  ctx: Context
  languages: readonly string[]
  language: string
  templates: readonly ShippedTemplate[]
  ownTemplates: Awaited<ReturnType<typeof listTemplates>>
}

export function templatesPage(form: Form, { ctx, languages, language, templates, ownTemplates }: Facts): Page {
  const path = pathOf(ctx, 'assessments')
  return {
    title: 'Start from a template',
    trail: [['Assessments', path]],
    subtitle: 'You get an assessment of your own, with its questions. Change whatever you like.',
    actions: linkButton(`${path}/new`, 'Empty assessment', 'plus'),
    tabs: tabs(
      'Language',
      languages.map((code) => ({
        label: nameOfLanguage(code),
        address: `${path}/templates?language=${code}`,
        isCurrent: code === language,
      })),
    ),
    body: html`${mistakes(form)}<section id="template" tabindex="-1" aria-labelledby="shipped"><h2 class="mb-3" id="shipped">Ready assessments</h2>
<ul class="grid gap-4 lg:grid-cols-2">${templates.map((template) => shippedCard(`${path}/templates`, template))}</ul></section>
<section class="mt-8" aria-labelledby="own"><h2 class="mb-3" id="own">Your organization’s templates</h2>
${ownTemplates.length > 0 ? html`<ul class="grid gap-4 lg:grid-cols-2">${ownTemplates.map((template) => ownCard(path, template))}</ul>` : empty('files', 'None yet. Save an assessment as a template in its menu.')}</section>`,
  }
}

const shippedCard = (
  path: string,
  { name, language, summary, assessment, questions }: ShippedTemplate,
): Html => html`<li class="panel flex flex-col gap-3" lang="${language}"><h3>${assessment.name}</h3>
<p>${summary}</p>
<p class="facts" lang="en">${formatFacts(questions.length, sum(questions), assessment.timeLimit)}</p>
<details><summary class="text-sm" lang="en">Questions</summary><ol class="mt-2 list-decimal space-y-3 ps-6 text-sm">${questions.map(({ input }) => html`<li>${input.scriptFormat === 'markdown' ? fromMarkdown(input.script, language) : html`<p class="script">${input.script}</p>`}</li>`)}</ol></details>
<form class="mt-auto" method="post" action="${path}">${onceField()}<input type="hidden" name="template" value="${name}"><input type="hidden" name="language" value="${language}"><button class="btn btn-sm" aria-label="Use ${assessment.name}" lang="en">Use this template</button></form></li>
`

const ownCard = (
  path: string,
  { id, name, questionCount, totalPoints, timeLimit }: Facts['ownTemplates'][number],
): Html => html`<li class="panel flex flex-col gap-3"><h3><a href="${path}/${id}">${name}</a></h3>
<p class="facts">${formatFacts(questionCount, totalPoints, timeLimit)}</p>
<form class="mt-auto" method="post" action="${path}/${id}/duplicate">${onceField()}<button class="btn btn-sm" aria-label="Use ${name}">Use this template</button></form></li>
`

const sum = (questions: ShippedTemplate['questions']): number => questions.reduce((points, { input }) => points + input.points, 0)

const formatFacts = (questions: number, points: number, timeLimit: number): string =>
  [formatCount(questions, 'question'), formatCount(points, 'point'), timeLimit > 0 && formatDuration(timeLimit)]
    .filter(Boolean)
    .join(' · ')
