import type { FastifyReply } from 'fastify'
import { findUsers } from '../../domain/access/members.ts'
import { findCategories, findInstructions, findLanguages } from '../../domain/assessments/assessments.ts'
import type { Context } from '../../domain/context.ts'
import { findById } from '../../domain/shared-query.ts'
import { presentAssessment, shownOfAssessment } from './assessments.view.ts'
import { presentCategory, presentInstruction, presentLanguage, presentOrganization, presentUser } from './nested.view.ts'
import { presentOrganizationUser, shownWithUser } from './organization-users.view.ts'
import { presentTag, shownOfTag } from './tags.view.ts'

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
type Loadable = Exclude<Kind, 'invite'>
type View = { [field: string]: unknown }

/** Which fields of which resource are the ids of which other: what `depth` turns into objects. */
const references: Partial<Record<Kind, Record<string, Loadable>>> = {
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

const byKind = new Map(Object.entries(references).map(([kind, fields]) => [kind, Object.entries(fields)]))
const referencesOf = (kind: Kind): [field: string, referred: Loadable][] => byKind.get(kind) ?? []

type Found = { kind: Loadable; view: View & { id: string } }
type Load = (ctx: Context, ids: string[]) => Promise<Found[]>

const found = (kind: Loadable, view: View & { id: string }): Found => ({ kind, view })

const findAssessments = findById(shownOfAssessment)
const findMembers = findById(shownWithUser)
const findTags = findById(shownOfTag)

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
type Wanted = Map<Loadable, Set<string>>

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
  for (let level = 1; level <= depth && nodes.length > 0; level++) {
    const wanted = await loadReferences(ctx, nodes, known)
    nodes = placeObjects(nodes, level === depth ? known : copyObjects(known, wanted))
  }
  // The response schemas, and the serializers made from them, are those of plain ids.
  reply.type('application/json; charset=utf-8').serializer(JSON.stringify)
  return body
}

/** @returns the ids of what is referred to, which is known then as far as it is there. */
async function loadReferences(ctx: Context, nodes: Node[], known: Objects): Promise<Wanted> {
  const wanted: Wanted = new Map()
  for (const { kind, view } of nodes)
    for (const [field, referred] of referencesOf(kind)) {
      const ids = wanted.get(referred) ?? new Set()
      wanted.set(referred, ids)
      addIds(ids, view[field])
    }
  await loadMissing(ctx, wanted, known)
  return wanted
}

function addIds(ids: Set<string>, value: unknown): void {
  if (Array.isArray(value)) for (const id of value) ids.add(id)
  else if (value !== null) ids.add(String(value))
}

/** Puts the objects in the place of their ids. @returns them, for the next level. */
function placeObjects(nodes: Node[], objects: Objects): Node[] {
  for (const { kind, view } of nodes)
    for (const [field, referred] of referencesOf(kind)) {
      const ofKind = objects.get(referred)
      const object = (id: unknown) => ofKind?.get(String(id)) ?? id
      const value = view[field]
      view[field] = Array.isArray(value) ? value.map(object) : object(value)
    }
  return [...objects].flatMap(([kind, views]) => [...views.values()].map((view) => ({ kind, view })))
}

async function loadMissing(ctx: Context, wanted: Wanted, known: Objects): Promise<void> {
  const loads = [...wanted].map(async ([kind, ids]) => {
    const missing = [...ids].filter((id) => !known.get(kind)?.has(id))
    return missing.length > 0 ? loaders[kind](ctx, missing) : []
  })
  for (const { kind, view } of (await Promise.all(loads)).flat()) {
    if (!known.has(kind)) known.set(kind, new Map())
    known.get(kind)!.set(view.id, view)
  }
}

/** Those that are wanted, to put objects into: an object that is met again on the next level has its ids there. */
const copyObjects = (known: Objects, wanted: Wanted): Objects =>
  new Map([...wanted].map(([kind, ids]) => [kind, copyOfKind(known.get(kind), ids)]))

const copyOfKind = (objects: Map<string, View> | undefined, ids: Set<string>): Map<string, View> =>
  new Map([...ids].flatMap((id) => (objects?.has(id) ? [[id, { ...objects.get(id) }]] : [])))
