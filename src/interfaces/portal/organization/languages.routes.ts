import type { FastifyInstance, FastifyRequest } from 'fastify'
import { changeLanguageSettings, readLanguageSettings } from '../../../domain/members/language-settings.ts'
import { emptyForm, type Form, findSeen, readFields, submit } from '../kit/forms.ts'
import { pathOf, show } from '../kit/layout.ts'
import { queryOf } from '../kit/paging.ts'
import { languageSettingsPage } from './languages.page.ts'

export function languageSettingsRoutes(app: FastifyInstance): void {
  const page = async ({ ctx }: FastifyRequest, form: Form, done = '') =>
    languageSettingsPage(form, { ctx, settings: await readLanguageSettings(ctx), done })

  app.get('/settings/languages', async (request, reply) =>
    show(request, reply, await page(request, emptyForm, queryOf(request).get('done') ?? '')),
  )

  app.post('/settings/languages', (request, reply) =>
    submit(request, reply, {
      page: (form) => page(request, form),
      async work(values) {
        const input = { ...readFields(values, 'language', 'timeZone'), languagesOffered: values.getAll('languagesOffered') }
        await changeLanguageSettings(request.ctx, input, findSeen(values))
        return `${pathOf(request.ctx, 'settings/languages')}?done=saved`
      },
    }),
  )
}
