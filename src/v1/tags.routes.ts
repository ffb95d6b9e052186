import { Type } from '@sinclair/typebox'
import { createTag, deleteTag, getTag, listTags, updateTag } from '../domain/tags.ts'
import { answerOnce, IdempotencyHeaders } from '../http/idempotency.ts'
import { ref } from '../http/schema-ref.ts'
import { errorResponses } from './errors.ts'
import type { V1App } from './index.ts'
import { answerList, ListOf, ListQuery, toOrder, toPage } from './list.ts'
import { NewTagBody, presentTag, TagChangeBody, TagView, toNewTag, toTagChange } from './tags.view.ts'

export const tagSortWords = { name: 'name', created_at: 'createdAt', updated_at: 'updatedAt' } as const
const OneTag = Type.Object({ tag: ref(TagView) })
const params = Type.Object({ tagId: Type.String({ format: 'uuid' }) })
const tags = ['Tags']

/** v1.md, Tags. */
export function tagRoutes(app: V1App): void {
  app.get(
    '/tags',
    {
      schema: {
        tags,
        operationId: 'listTags',
        summary: 'List tags',
        querystring: ListQuery(tagSortWords, {}),
        response: { 200: ListOf('tags', TagView), ...errorResponses(400) },
      },
    },
    async (request, reply) => {
      const { ctx, query } = request
      const list = await listTags(ctx, {}, toOrder(tagSortWords, query), toPage(query))
      return answerList(request, reply, 'tags', list, presentTag)
    },
  )

  app.get(
    '/tags/:tagId',
    { schema: { tags, operationId: 'getTag', summary: 'Get a tag', params, response: { 200: OneTag, ...errorResponses(404) } } },
    async ({ ctx, params }) => ({ tag: presentTag(await getTag(ctx, params.tagId)) }),
  )

  app.post(
    '/tags',
    {
      schema: {
        tags,
        operationId: 'createTag',
        summary: 'Create a tag',
        headers: IdempotencyHeaders,
        body: NewTagBody,
        response: { 201: OneTag, ...errorResponses(400, 409, 413, 422) },
      },
    },
    async (request, reply) =>
      answerOnce(
        request,
        reply,
        async (ctx) => ({ status: 201, body: { tag: presentTag(await createTag(ctx, toNewTag(request.body))) } }),
        ({ tag }) => `${app.prefix}/tags/${tag.id}`,
      ),
  )

  app.patch(
    '/tags/:tagId',
    {
      schema: {
        tags,
        operationId: 'updateTag',
        summary: 'Change a tag',
        description: 'At least one of name, color, description is required.',
        params,
        body: TagChangeBody,
        response: { 200: OneTag, ...errorResponses(400, 404, 409, 413) },
      },
    },
    async ({ ctx, params, body }) => ({ tag: presentTag(await updateTag(ctx, params.tagId, toTagChange(body))) }),
  )

  app.delete(
    '/tags/:tagId',
    {
      schema: {
        tags,
        operationId: 'deleteTag',
        summary: 'Delete a tag',
        description:
          'For good: the tag also disappears from every assessment, invite and member. Answers with the tag as it was.',
        params,
        response: { 200: OneTag, ...errorResponses(400, 404, 413) },
      },
    },
    async ({ ctx, params }) => ({ tag: presentTag(await deleteTag(ctx, params.tagId)) }),
  )
}
