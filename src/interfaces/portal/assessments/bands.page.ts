import { type BandSettings, MAX_BANDS } from '../../../domain/assessments/bands.ts'
import type { Context } from '../../../domain/context.ts'
import { html } from '../../../html/html.ts'
import { plainQuestionText } from '../../../http/pages/candidate-view.ts'
import { area, type Form, mistakes } from '../kit/forms.ts'
import { type Page, pathOf } from '../kit/layout.ts'

export const bandsPath = (assessmentId: string): string => `assessments/${assessmentId}/bands`

/** Name of the field of a question's required percentage. */
export const requiredField = (questionId: string): string => `required-${questionId}`

export const bandsPage = (form: Form, ctx: Context, settings: BandSettings, done: string): Page => ({
  title: `Bands and knock-outs: ${settings.name}`,
  heading: 'Bands and knock-outs',
  subtitle: settings.name,
  trail: [
    ['Assessments', pathOf(ctx, 'assessments')],
    [settings.name, pathOf(ctx, `assessments/${settings.id}`)],
  ],
  notice: done === 'saved' ? 'The settings are saved. Released results stay as they are.' : undefined,
  body: html`${mistakes(form)}<form class="panel max-w-3xl" method="post" action="${pathOf(ctx, bandsPath(settings.id))}">
${area(form, { name: 'bands', label: 'Bands', rows: 5, value: settings.bands.map(({ name, from }) => `${from} ${name}`).join('\n'), hint: `One a line, at most ${MAX_BANDS}: the lowest percentage, then the name, for example “70 Recommended”. Candidates see their band only where they see points.` })}
<h2 class="mt-6 mb-1.5 text-sm font-medium" id="required-heading">Knock-outs</h2>
<p class="hint mb-3">The percentage that a candidate must reach in a question. Empty: none. Missing it decides nothing: the results show it, and only you see it.</p>
<ol class="divide-base-300 divide-y">${settings.questions.map((question, i) => {
    const { id, points, requiredPercent } = question
    const name = requiredField(id)
    return html`<li class="flex items-center justify-between gap-4 py-2"><label class="min-w-0 text-sm" for="${name}"><span class="line-clamp-2" lang="" dir="auto">${i + 1}. ${plainQuestionText(question)}</span><span class="hint">${points} ${points === 1 ? 'point' : 'points'}</span></label><span class="flex shrink-0 items-center gap-2"><input class="input w-20" id="${name}" name="${name}" inputmode="numeric" autocomplete="off" value="${form.values.get(name) ?? requiredPercent ?? ''}"> %</span></li>\n`
  })}</ol>
<button class="btn btn-primary mt-4">Save</button>
</form>`,
})
