import type { FastifyInstance, FastifyRequest } from 'fastify'
import { authorize } from '../../../domain/authorization/permissions.ts'
import { changeSelectionRates, showsSelectionRates } from '../../../domain/submissions/grading/selection-rates.ts'
import { html } from '../../../html/html.ts'
import { emptyForm, type Form, mistakes, submit } from '../kit/forms.ts'
import { type Page, panel, pathOf, show } from '../kit/layout.ts'
import { queryOf } from '../kit/paging.ts'

export const SELECTION_SETTINGS = 'settings/selection-rates'

export function selectionSettingsRoutes(app: FastifyInstance): void {
  app.get(`/${SELECTION_SETTINGS}`, async (request, reply) => show(request, reply, await settingsPage(request, emptyForm)))

  app.post(`/${SELECTION_SETTINGS}`, (request, reply) =>
    submit(request, reply, {
      page: (form) => settingsPage(request, form),
      async work(values) {
        await changeSelectionRates(request.ctx, values.get('isOn') === 'yes')
        return `${pathOf(request.ctx, SELECTION_SETTINGS)}?done=saved`
      },
    }),
  )
}

async function settingsPage(request: FastifyRequest, form: Form): Promise<Page> {
  const { ctx } = request
  authorize(ctx, 'manage_settings')
  const isOn = await showsSelectionRates(ctx)
  return {
    title: 'Selection rates',
    subtitle: 'How many candidates of each group are selected.',
    trail: [['Settings', pathOf(ctx, 'settings')]],
    notice: queryOf(request).get('done') === 'saved' ? 'The settings are saved.' : undefined,
    body: html`${mistakes(form)}${panel(
      'selection-rates',
      isOn ? 'Selection rates are on' : 'Selection rates are off',
      html`<ul class="mb-4 list-disc space-y-1 pl-5">
<li>The statistics of an assessment compare, by tags that you give to invites, how many candidates are shortlisted or advanced.</li>
<li>Tags for groups, such as age or gender, are personal data, and in many countries specially protected. Ask your lawyer before you collect them.</li>
<li>Everybody who sees statistics sees the rates. Graders and clients don’t.</li>
</ul>
<form method="post" action="${pathOf(ctx, SELECTION_SETTINGS)}"><input type="hidden" name="isOn" value="${isOn ? 'no' : 'yes'}">
<button class="${isOn ? 'btn' : 'btn btn-primary'}">${isOn ? 'Switch off' : 'Switch on'}</button>
</form>`,
    )}`,
  }
}
