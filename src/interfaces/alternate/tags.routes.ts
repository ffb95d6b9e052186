import type { Static } from '@sinclair/typebox'
import { omitUndefined } from '../../domain/fields/omit-undefined.ts'
import { getTag, listTags, type TagFilter } from '../../domain/tags/tags.ts'
import type { TypedApp } from '../../http/requests/typed-app.ts'
import { nestObjects } from './depth.ts'
import { SearchFilter, TextFilter, UuidFilter } from './filters.ts'
import { Envelope, IdParameter, ItemQuery, LIST_ORDER, ListQuery, presentPage } from './list.ts'
import { tagView } from './tags.view.ts'

const Query = ListQuery({
  organization: UuidFilter('Organization'),
  name: TextFilter('Name, exact, case-sensitive'),
  created_by: UuidFilter('Creating organization user'),
  search: SearchFilter('Free text in the name'),
})
const tags = ['Tags']

const toTagFilter = ({ name, created_by, search }: Static<typeof Query>): TagFilter =>
  omitUndefined({ name, createdById: created_by, search })

/** alternate.md, GET /tags and GET /tags/{id}. */
export function tagRoutes(app: TypedApp): void {
  app.get(
    '/tags',
    {
      schema: {
        tags,
        operationId: 'listTags',
        scope: 'tags:read',
        summary: 'List tags',
        description: 'The tags of the organization, oldest first.',
        querystring: Query,
        response: { 200: Envelope(tagView.schema) },
        errors: ['page_not_found'],
      },
    },
    async (request, reply) => {
      const filter = toTagFilter(request.query)
      const page = await presentPage(
        request,
        (ctx, page) => listTags(ctx, tagView.shown, filter, LIST_ORDER, page),
        tagView.present,
      )
      return nestObjects(request, reply, 'tag', page)
    },
  )

  app.get(
    '/tags/:id',
    {
      schema: {
        tags,
        operationId: 'getTag',
        scope: 'tags:read',
        summary: 'Get a tag',
        description: 'One tag of the organization.',
        params: IdParameter,
        querystring: ItemQuery,
        response: { 200: tagView.schema },
        hasEtag: true,
        errors: ['tag_not_found'],
      },
    },
    async (request, reply) => nestObjects(request, reply, 'tag', tagView.present(await getTag(request.ctx, request.params.id))),
  )
}
