import { Type } from '@sinclair/typebox'
import { onReplica } from '../../domain/lists/on-replica.ts'
import { createTag, deleteTag, getTag, listTags, updateTag } from '../../domain/tags/tags.ts'
import { answerIdempotently, IdempotencyHeaders } from '../../http/requests/idempotency.ts'
import type { TypedApp } from '../../http/requests/typed-app.ts'
import { NAME } from '../../http/schema/schema-keywords.ts'
import { answerList, ListOf, ListQuery, toOrder, toPage } from './list.ts'
import { NewTagBody, TagChangeBody, tagView, toNewTag, toTagChange } from './tags.view.ts'

export const tagSortWords = { name: 'name', created_at: 'createdAt', updated_at: 'updatedAt' } as const
const OneTag = Type.Object({ tag: tagView.schema }, { [NAME]: 'OneTag', description: 'The tag' })
const params = Type.Object({ tagId: Type.String({ format: 'uuid', description: 'Id of the tag' }) })
const tags = ['Tags']

/** v1.md, Tags. */
export function tagRoutes(app: TypedApp): void {
  readingRoutes(app)
  changingRoutes(app)
}

function readingRoutes(app: TypedApp): void {
  app.get(
    '/tags',
    {
      schema: {
        tags,
        operationId: 'listTags',
        scope: 'tags:read',
        summary: 'List tags',
        description:
          'The tags of the organization, by default from Z to A. A live key gets live tags, a test key live and test tags.',
        querystring: ListQuery(tagSortWords, {}),
        response: { 200: ListOf('tags', tagView.schema) },
      },
    },
    async (request, reply) => {
      const { ctx, query } = request
      const list = await onReplica(ctx, (ctx) => listTags(ctx, tagView.shown, {}, toOrder(tagSortWords, query), toPage(query)))
      return answerList(request, reply, 'tags', list, tagView.present)
    },
  )

  app.get(
    '/tags/:tagId',
    {
      schema: {
        tags,
        operationId: 'getTag',
        scope: 'tags:read',
        summary: 'Get a tag',
        description: 'One tag of the organization.',
        params,
        response: { 200: OneTag },
        hasEtag: true,
        errors: ['tag_not_found'],
      },
    },
    async ({ ctx, params }) => ({ tag: tagView.present(await getTag(ctx, params.tagId)) }),
  )
}

function changingRoutes(app: TypedApp): void {
  app.post(
    '/tags',
    {
      schema: {
        tags,
        operationId: 'createTag',
        scope: 'tags:write',
        summary: 'Create a tag',
        description:
          'Its name must be unique in the organization, in upper or lower case. A test key creates a test tag, which live keys don’t see. If a live key uses the name of a test tag, the test tag becomes “Name (test)”.',
        headers: IdempotencyHeaders,
        body: NewTagBody,
        response: { 201: OneTag },
        errors: ['duplicate_tag_name'],
      },
    },
    async (request, reply) =>
      answerIdempotently(
        request,
        reply,
        async (ctx) => ({ status: 201, body: { tag: tagView.present(await createTag(ctx, toNewTag(request.body))) } }),
        ({ tag }) => `${app.prefix}/tags/${tag.id}`,
      ),
  )

  app.patch(
    '/tags/:tagId',
    {
      schema: {
        tags,
        operationId: 'updateTag',
        scope: 'tags:write',
        summary: 'Change a tag',
        description: 'At least one of name, color, description is required. A test key changes test tags only.',
        params,
        body: TagChangeBody,
        response: { 200: OneTag },
        errors: ['tag_not_found', 'duplicate_tag_name', 'live_tag_read_only'],
      },
    },
    async ({ ctx, params, body }) => ({ tag: tagView.present(await updateTag(ctx, params.tagId, toTagChange(body))) }),
  )

  app.delete(
    '/tags/:tagId',
    {
      schema: {
        tags,
        operationId: 'deleteTag',
        scope: 'tags:write',
        summary: 'Delete a tag',
        description:
          'Deletes the tag permanently, also from every assessment, invite, and member. Returns the deleted tag. A test key deletes test tags only.',
        params,
        response: { 200: OneTag },
        errors: ['tag_not_found', 'live_tag_read_only'],
      },
    },
    async ({ ctx, params }) => ({ tag: tagView.present(await deleteTag(ctx, params.tagId)) }),
  )
}
