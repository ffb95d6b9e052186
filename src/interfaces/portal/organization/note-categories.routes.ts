import type { FastifyInstance, FastifyRequest } from 'fastify'
import { authorize } from '../../../domain/authorization/permissions.ts'
import { changeNoteCategories, findNoteCategories } from '../../../domain/organization/note-categories.ts'
import { emptyForm, type Form, submit } from '../kit/forms.ts'
import { pathOf, show } from '../kit/layout.ts'
import { queryOf } from '../kit/paging.ts'
import { NOTE_SETTINGS, noteCategoriesPage } from './note-categories.page.ts'

export function noteCategoriesRoutes(app: FastifyInstance): void {
  const page = async ({ ctx }: FastifyRequest, form: Form, done = '') => {
    authorize(ctx, 'manage_settings')
    return noteCategoriesPage(form, { ctx, categories: await findNoteCategories(ctx), done })
  }

  app.get(`/${NOTE_SETTINGS}`, async (request, reply) =>
    show(request, reply, await page(request, emptyForm, queryOf(request).get('done') ?? '')),
  )

  app.post(`/${NOTE_SETTINGS}`, (request, reply) =>
    submit(request, reply, {
      page: (form) => page(request, form),
      async work(values) {
        await changeNoteCategories(request.ctx, (values.get('categories') ?? '').split('\n'))
        return `${pathOf(request.ctx, NOTE_SETTINGS)}?done=saved`
      },
    }),
  )
}
