import type { FastifyReply } from 'fastify'
import { languages, wholeCategory, wholeInstruction } from '../../domain/assessments/assessments.ts'
import type { Context } from '../../domain/context.ts'
import type { Ids } from '../../domain/loaders/batch-loader.ts'
import { multiLoader, tenantSource } from '../../domain/loaders/multi-loader.ts'
import { users } from '../../domain/members/members.ts'
import { assessmentView } from './assessments.view.ts'
import { presentCategory, presentInstruction, presentLanguage, presentOrganization, presentUser } from './nested.view.ts'
import { organizationUserView } from './organization-users.view.ts'
import { tagView } from './tags.view.ts'

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
type Stored = Exclude<Loadable, 'organization'>
type View = { [field: string]: unknown }

/** Fields that hold the id of another resource. `depth` expands them into objects. */
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

/** Loads objects. Each kind uses the view of its own endpoint, so that nesting can't reveal more. The organization needs no query. */
const find = multiLoader<Stored, View & { id: string }>({
  assessment: tenantSource(assessmentView.shown, assessmentView.present),
  organization_user: tenantSource(organizationUserView.shown, organizationUserView.present),
  tag: tenantSource(tagView.shown, tagView.present),
  user: users(presentUser),
  instruction: tenantSource(wholeInstruction, presentInstruction),
  language: languages(presentLanguage),
  category: tenantSource(wholeCategory, presentCategory),
})

type Node = { kind: Kind; view: View }
/** Objects by kind and id. Their references are plain ids. */
type Objects = Map<Loadable, Map<string, View>>

/**
 * Replaces ids in a response by the related objects, to the requested depth (alternate-behaviour.md, Depth). A level costs one query,
 * regardless of the number of items and kinds. @param body a resource, or a page of a list.
 */
export async function nestObjects<Body extends object>(
  { ctx, query: { depth = 0 } }: { ctx: Context; query: { depth?: number } },
  reply: FastifyReply,
  kind: Kind,
  body: Body,
): Promise<Body> {
  if (depth === 0) return body
  const views = ('results' in body ? body.results : [body]) as View[]
  const nodes = views.map((view) => ({ kind, view }))
  const objects = await loadObjects(ctx, nodes, depth)
  for (const node of nodes) placeObjects(node, depth, objects)
  // The route's serializer expects plain ids.
  reply.type('application/json; charset=utf-8').serializer(JSON.stringify)
  return body
}

/** @returns the referenced objects, expanded to this depth. */
async function loadObjects(ctx: Context, roots: Node[], depth: number): Promise<Objects> {
  const { organization } = ctx
  const objects: Objects = new Map([['organization', new Map([[organization.id, presentOrganization(organization)]])]])
  let nodes = roots
  for (let level = 1; level <= depth; level++) {
    const missing = findMissing(nodes, objects)
    if (missing.size === 0) break
    const viewsByKind = await find(ctx, missing)
    nodes = []
    for (const [kind, ids] of missing) {
      const ofKind = objects.get(kind) ?? new Map()
      objects.set(kind, ofKind)
      for (const id of ids) {
        const view = viewsByKind.get(kind)?.get(id)
        if (!view) continue
        ofKind.set(id, view)
        nodes.push({ kind, view })
      }
    }
  }
  return objects
}

/** Ids that the nodes refer to and that are not loaded yet. */
function findMissing(nodes: Node[], objects: Objects): Ids<Stored> {
  const missing: Ids<Stored> = new Map()
  for (const { kind, view } of nodes)
    for (const [field, referred] of referencesOf(kind)) {
      if (referred === 'organization') continue
      const ids = missing.get(referred) ?? new Set()
      missing.set(referred, ids)
      addUnknown(ids, view[field], objects.get(referred))
    }
  return new Map([...missing].filter(([, ids]) => ids.size > 0))
}

function addUnknown(ids: Set<string>, value: unknown, views: Map<string, View> | undefined): void {
  for (const id of Array.isArray(value) ? value : [value]) if (id !== null && !views?.has(id)) ids.add(id)
}

/** Replaces the ids in a view by objects. Several views share an object, so an object that is expanded further is copied. */
function placeObjects({ kind, view }: Node, depth: number, objects: Objects): void {
  for (const [field, referred] of referencesOf(kind)) {
    const ofKind = objects.get(referred)
    const place = (id: unknown) => {
      const object = ofKind?.get(String(id))
      if (!object) return id
      if (depth === 1) return object
      const copy = { ...object }
      placeObjects({ kind: referred, view: copy }, depth - 1, objects)
      return copy
    }
    const value = view[field]
    view[field] = Array.isArray(value) ? value.map(place) : place(value)
  }
}
