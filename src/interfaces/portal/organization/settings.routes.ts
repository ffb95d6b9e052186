import type { FastifyInstance, FastifyRequest } from 'fastify'
import { authorize } from '../../../domain/authorization/permissions.ts'
import {
  changeOrganizationSettings,
  readOrganizationSettings,
  SETTINGS,
} from '../../../domain/organization/organization-settings.ts'
import { emptyForm, type Form, findSeen, readFields, submit } from '../kit/forms.ts'
import { pathOf, show } from '../kit/layout.ts'
import { queryOf } from '../kit/paging.ts'
import { settingsOf } from '../kit/settings-pages.ts'
import { organizationSettingsPage } from './settings.page.ts'
import { settingsIndexPage } from './settings-index.page.ts'

export function organizationSettingsRoutes(app: FastifyInstance): void {
  const page = async ({ ctx }: FastifyRequest, form: Form, done = '') =>
    organizationSettingsPage(form, { ctx, settings: await readOrganizationSettings(ctx), done })

  app.get('/settings', async (request, reply) => {
    // Without any visible setting, answers not permitted.
    if (settingsOf(request.ctx).length === 0) authorize(request.ctx, 'manage_settings')
    return show(request, reply, settingsIndexPage(request.ctx))
  })

  app.get('/settings/organization', async (request, reply) =>
    show(request, reply, await page(request, emptyForm, queryOf(request).get('done') ?? '')),
  )

  app.post('/settings/organization', (request, reply) =>
    submit(request, reply, {
      page: (form) => page(request, form),
      async work(values) {
        // Each section has its own form: settings without a field stay unchanged.
        const names = SETTINGS.filter((name) => values.has(name))
        await changeOrganizationSettings(request.ctx, readFields(values, ...names), findSeen(values))
        return `${pathOf(request.ctx, 'settings/organization')}?done=saved`
      },
    }),
  )
}
