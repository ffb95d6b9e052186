import type { FastifyReply } from 'fastify'
import { findAssessments, findCategories, findInstructions, findLanguages } from '../domain/assessments.ts'
import type { Context } from '../domain/context.ts'
import { findMembers, findUsers } from '../domain/members.ts'
import { findTags } from '../domain/tags.ts'
import { presentAssessment } from './assessments.view.ts'
import { presentCategory, presentInstruction, presentLanguage, presentOrganization, presentUser } from './nested.view.ts'
import { presentOrganizationUser } from './organization-users.view.ts'
import { presentTag } from './tags.view.ts'

type Kind =
  | 'invite'
  | 'assessment'
  | 'organization_user'
  | 'tag'
  | 'organization'
  | 'user'
  | 'instruction'
  | 'language'
  | 'category'
type View = { [field: string]: unknown }

/** Which fields of which resource are the ids of which other: what `depth` turns into objects. */
const references: Partial<Record<Kind, Record<string, Kind>>> = {
  invite: { organization: 'organization', assessment: 'assessment', assigned_grader: 'organization_user', tags: 'tag' },
  assessment: {
    organization: 'organization',
    tags: 'tag',
    clients: 'organization_user',
    instruction: 'instruction',
    languages: 'language',
    categories: 'category',
  },
  organization_user: { organization: 'organization', user: 'user', tags: 'tag', grading_languages: 'language' },
  tag: { organization: 'organization' },
}

type Load = (ctx: Context, ids: string[]) => Promise<(View & { id: string })[]>

/** Each kind is loaded as its own endpoint shows it, so that nesting can show no more. */
const loaders: Record<Exclude<Kind, 'invite'>, Load> = {
  assessment: async (ctx, ids) => (await findAssessments(ctx, ids)).map(presentAssessment),
  organization_user: async (ctx, ids) => (await findMembers(ctx, ids)).map(presentOrganizationUser),
  tag: async (ctx, ids) => (await findTags(ctx, ids)).map(presentTag),
  organization: async ({ organization }) => [presentOrganization(organization)],
  user: async (ctx, ids) => (await findUsers(ctx, ids)).map(presentUser),
  instruction: async (ctx, ids) => (await findInstructions(ctx, ids)).map(presentInstruction),
  language: async (ctx, ids) => (await findLanguages(ctx, ids)).map(presentLanguage),
  category: async (ctx, ids) => (await findCategories(ctx, ids)).map(presentCategory),
}

type Node = { kind: Kind; view: View }

/**
 * The answer, a resource or a page of them, with related objects in the place of their ids, as many levels deep as `depth` asks
 * (alternate-behaviour.md, Depth). A level costs one query a kind, however many items there are.
 */
export async function nestObjects<Body extends object>(
  { ctx, query: { depth = 0 } }: { ctx: Context; query: { depth?: number } },
  reply: FastifyReply,
  kind: Kind,
  body: Body,
): Promise<Body> {
  if (depth === 0) return body
  const views = ('results' in body ? body.results : [body]) as View[]
  let nodes: Node[] = views.map((view) => ({ kind, view }))
  for (let level = 0; level < depth && nodes.length > 0; level++) nodes = await expandLevel(ctx, nodes)
  // The response schemas, and the serializers made from them, are those of plain ids.
  reply.type('application/json; charset=utf-8').serializer(JSON.stringify)
  return body
}

/** @returns the objects put in, for the next level. */
async function expandLevel(ctx: Context, nodes: Node[]): Promise<Node[]> {
  const wanted = new Map<Exclude<Kind, 'invite'>, Set<string>>()
  forEachReference(nodes, (kind, ids) => wanted.set(kind, new Set([...(wanted.get(kind) ?? []), ...ids])))
  const loaded = await Promise.all(
    [...wanted].map(async ([kind, ids]) => {
      const views = ids.size > 0 ? await loaders[kind](ctx, [...ids]) : []
      return [kind, new Map(views.map((view) => [view.id, view]))] as const
    }),
  )
  const found = new Map(loaded)
  forEachReference(nodes, (kind, _ids, node, field) => {
    const object = (id: unknown) => found.get(kind)?.get(String(id)) ?? id
    const value = node.view[field]
    node.view[field] = Array.isArray(value) ? value.map(object) : object(value)
  })
  return loaded.flatMap(([kind, views]) => [...views.values()].map((view) => ({ kind, view })))
}

function forEachReference(
  nodes: Node[],
  visit: (kind: Exclude<Kind, 'invite'>, ids: string[], node: Node, field: string) => void,
): void {
  for (const node of nodes) {
    for (const [field, kind] of Object.entries(references[node.kind] ?? {})) {
      const ids = [node.view[field]].flat().filter((id) => id !== null)
      visit(kind as Exclude<Kind, 'invite'>, ids as string[], node, field)
    }
  }
}
