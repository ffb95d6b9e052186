import type { FastifyReply } from 'fastify'
import { findMembers, findUsers } from '../../domain/access/members.ts'
import { findAssessments, findCategories, findInstructions, findLanguages } from '../../domain/assessments/assessments.ts'
import { findTags } from '../../domain/assessments/tags.ts'
import type { Context } from '../../domain/context.ts'
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

type Loadable = Exclude<Kind, 'invite'>
type Found = { kind: Loadable; view: View & { id: string } }
type Load = (ctx: Context, ids: string[]) => Promise<Found[]>

const found = (kind: Loadable, view: View & { id: string }): Found => ({ kind, view })

/** Each kind is loaded as its own endpoint shows it, so that nesting can show no more; with what has come along. */
const loaders: Record<Loadable, Load> = {
  assessment: async (ctx, ids) => (await findAssessments(ctx, ids)).map((row) => found('assessment', presentAssessment(row))),
  organization_user: async (ctx, ids) =>
    (await findMembers(ctx, ids)).flatMap((member) => [
      found('organization_user', presentOrganizationUser(member)),
      found('user', presentUser(member.user)),
    ]),
  tag: async (ctx, ids) => (await findTags(ctx, ids)).map((row) => found('tag', presentTag(row))),
  organization: async ({ organization }) => [found('organization', presentOrganization(organization))],
  user: async (ctx, ids) => (await findUsers(ctx, ids)).map((row) => found('user', presentUser(row))),
  instruction: async (ctx, ids) => (await findInstructions(ctx, ids)).map((row) => found('instruction', presentInstruction(row))),
  language: async (ctx, ids) => (await findLanguages(ctx, ids)).map((row) => found('language', presentLanguage(row))),
  category: async (ctx, ids) => (await findCategories(ctx, ids)).map((row) => found('category', presentCategory(row))),
}

type Node = { kind: Kind; view: View }
/** Objects by kind and id, with plain ids in them. */
type Objects = Map<Loadable, Map<string, View>>

/**
 * The answer, a resource or a page of them, with related objects in the place of their ids, as many levels deep as `depth` asks
 * (alternate-behaviour.md, Depth). A level costs one query for each kind that no level before has loaded, however many items there are.
 */
export async function nestObjects<Body extends object>(
  { ctx, query: { depth = 0 } }: { ctx: Context; query: { depth?: number } },
  reply: FastifyReply,
  kind: Kind,
  body: Body,
): Promise<Body> {
  if (depth === 0) return body
  const views = ('results' in body ? body.results : [body]) as View[]
  const known: Objects = new Map()
  let nodes: Node[] = views.map((view) => ({ kind, view }))
  for (let level = 0; level < depth && nodes.length > 0; level++) nodes = await expandLevel(ctx, nodes, known)
  // The response schemas, and the serializers made from them, are those of plain ids.
  reply.type('application/json; charset=utf-8').serializer(JSON.stringify)
  return body
}

/** @returns the objects put in, for the next level. */
async function expandLevel(ctx: Context, nodes: Node[], known: Objects): Promise<Node[]> {
  const wanted = new Map<Loadable, Set<string>>()
  forEachReference(nodes, (kind, ids) => {
    const all = wanted.get(kind) ?? new Set()
    wanted.set(kind, all)
    for (const id of ids) all.add(id)
  })
  await loadMissing(ctx, wanted, known)
  // Copies: an object that is met again on the next level has its ids there.
  const placed: Objects = new Map([...wanted].map(([kind, ids]) => [kind, copyObjects(known.get(kind), ids)]))
  forEachReference(nodes, (kind, _ids, node, field) => {
    const object = (id: unknown) => placed.get(kind)?.get(String(id)) ?? id
    const value = node.view[field]
    node.view[field] = Array.isArray(value) ? value.map(object) : object(value)
  })
  return [...placed].flatMap(([kind, views]) => [...views.values()].map((view) => ({ kind, view })))
}

async function loadMissing(ctx: Context, wanted: Map<Loadable, Set<string>>, known: Objects): Promise<void> {
  const loads = [...wanted].map(async ([kind, ids]) => {
    const missing = [...ids].filter((id) => !known.get(kind)?.has(id))
    return missing.length > 0 ? loaders[kind](ctx, missing) : []
  })
  for (const { kind, view } of (await Promise.all(loads)).flat()) {
    if (!known.has(kind)) known.set(kind, new Map())
    known.get(kind)!.set(view.id, view)
  }
}

const copyObjects = (objects: Map<string, View> | undefined, ids: Set<string>): Map<string, View> =>
  new Map([...ids].flatMap((id) => (objects?.has(id) ? [[id, { ...objects.get(id) }]] : [])))

function forEachReference(nodes: Node[], visit: (kind: Loadable, ids: string[], node: Node, field: string) => void): void {
  for (const node of nodes) {
    for (const [field, kind] of Object.entries(references[node.kind] ?? {})) {
      const ids = [node.view[field]].flat().filter((id) => id !== null)
      visit(kind as Loadable, ids as string[], node, field)
    }
  }
}
