import type { FastifyInstance, FastifyRequest } from 'fastify'
import { authorize } from '../../../domain/authorization/permissions.ts'
import { countTagUses, createTag, deleteTag, getTag, listTags, updateTag, wholeTag } from '../../../domain/tags/tags.ts'
import { emptyForm, type Form, findSeen, readFields, submit } from '../kit/forms.ts'
import { pathOf, show } from '../kit/layout.ts'
import { submitOnce } from '../kit/once.ts'
import { queryOf, readList, readSort } from '../kit/paging.ts'
import { TAG_ORDERS, tagPage, tagsPage } from './tags.page.ts'

type TagRoute = { Params: { tagId: string } }

export function tagsRoutes(app: FastifyInstance): void {
  app.get('/tags', async (request, reply) =>
    show(request, reply, await listPage(request, emptyForm, queryOf(request).get('done') ?? '')),
  )

  app.post('/tags', (request, reply) =>
    submitOnce(request, reply, {
      page: (form) => listPage(request, form),
      async work(ctx, values) {
        await createTag(ctx, readTag(values))
        return `${pathOf(ctx, 'tags')}?done=created`
      },
    }),
  )

  app.get<TagRoute>('/tags/:tagId', async (request, reply) => show(request, reply, await onePage(request, emptyForm)))

  app.post<TagRoute>('/tags/:tagId', (request, reply) =>
    submit(request, reply, {
      page: (form) => onePage(request, form),
      async work(values) {
        await updateTag(request.ctx, request.params.tagId, readTag(values), findSeen(values))
        return `${pathOf(request.ctx, 'tags')}?done=saved`
      },
    }),
  )

  app.post<TagRoute>('/tags/:tagId/delete', (request, reply) =>
    submit(request, reply, {
      page: (form) => onePage(request, form),
      async work() {
        await deleteTag(request.ctx, request.params.tagId)
        return `${pathOf(request.ctx, 'tags')}?done=deleted`
      },
    }),
  )
}

async function listPage(request: FastifyRequest, form: Form, done = '') {
  const { ctx } = request
  authorize(ctx, 'write_tags')
  const query = queryOf(request)
  const { search } = readFields(query, 'search')
  const order = TAG_ORDERS[readSort(query, TAG_ORDERS)]!
  const found = await readList(request, (page) => listTags(ctx, wholeTag, { search }, order, page))
  const uses = await countTagUses(
    ctx,
    found.list.items.map(({ id }) => id),
  )
  return tagsPage(form, { ctx, found, uses, done })
}

async function onePage({ ctx, params }: FastifyRequest<TagRoute>, form: Form) {
  authorize(ctx, 'write_tags')
  const tag = await getTag(ctx, params.tagId)
  const uses = await countTagUses(ctx, [tag.id])
  return tagPage(form, { ctx, tag, uses: uses.get(tag.id)! })
}

function readTag(values: URLSearchParams) {
  const { name, color, description } = readFields(values, 'name', 'color', 'description')
  return { name: name.trim(), color, description }
}
