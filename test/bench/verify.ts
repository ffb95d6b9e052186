import { deepStrictEqual, strictEqual } from 'node:assert'
import { invitation } from './cases.ts'
import type { Organization, Organizations } from './fill.ts'
import { keyHeader, type Request } from './load.ts'
import type { RivalName, Rivals } from './rivals.ts'

type Body = Record<string, unknown>

/**
 * Asks all who are compared for the same, and compares what they answer, as far as the rival knows it: a field that the service has gained
 * since costs a rival nothing to speak of. @throws AssertionError with the difference.
 */
export async function verifyRivals(rivals: Rivals, { large, service, floor }: Organizations): Promise<void> {
  const [invite, assessment, tag] = [large.inviteIds, large.assessmentIds, large.tagIds].map((ids) => ids[ids.length >> 1]!)
  const all = ['floor', 'plain'] as const
  const compare = (path: string, names: readonly RivalName[]) => compareAnswers(rivals, large, path, names)
  await compare(`/api/v1/invites/${invite}`, ['floor'])
  await compare(`/api/v1/assessments/${assessment}`, ['floor'])
  await compare(`/api/v1/tags/${tag}`, ['floor'])
  await compare(`/api/alternate/assessment_invites/${invite}`, ['floor'])
  await compare(`/api/alternate/assessments/${assessment}`, ['floor'])
  await compare(`/api/alternate/tags/${tag}`, ['floor'])
  const lists = ['invites', 'assessments', 'members', 'tags', `assessments/${large.assessmentIds[0]}/questions`]
  for (const list of lists) await compare(`/api/v1/${list}?limit=100`, all)
  for (const list of ['assessment_invites', 'assessments', 'organization_users', 'tags'])
    await compare(`/api/alternate/${list}?page_size=100`, all)

  const [made, byFloor] = await Promise.all([
    ask(rivals, 'service', service, invitation(service.assessmentIds[0]!)),
    ask(rivals, 'floor', floor, invitation(floor.assessmentIds[0]!)),
  ])
  // Two invites: ids, address and times differ.
  const ownValues = ['id', 'assessmentId', 'recipientEmail', 'sentAt', 'expiresAt']
  deepStrictEqual(
    without(byFloor.invite as Body, ownValues),
    asFarAs(byFloor.invite, without(made.invite as Body, ownValues)),
    'floor: POST /api/v1/invites',
  )
}

async function compareAnswers(
  rivals: Rivals,
  organization: Organization,
  path: string,
  names: readonly RivalName[],
): Promise<void> {
  const read = (name: RivalName) => ask(rivals, name, organization, { path })
  const expected = await read('service')
  for (const name of names) {
    const actual = await read(name)
    try {
      deepStrictEqual(actual, asFarAs(actual, expected))
    } catch (error) {
      throw new Error(`${name} answers ${path} otherwise than the service: ${(error as Error).message}`)
    }
  }
}

async function ask(rivals: Rivals, name: RivalName, organization: Organization, { path, body }: Request): Promise<Body> {
  const response = await fetch(rivals[name].url + path, {
    headers: { ...keyHeader(path, organization.key), ...(body && { 'content-type': 'application/json' }) },
    ...(body && { method: 'POST', body: JSON.stringify(body()) }),
  })
  const text = await response.text()
  strictEqual(response.status, body ? 201 : 200, `${name} answers ${path} with ${response.status}: ${text}`)
  // Each has its own port in the addresses of pages.
  return JSON.parse(text.replaceAll(rivals[name].url, ''))
}

/** What is expected without the fields that `known` does not have, at any depth. */
function asFarAs(known: unknown, expected: unknown): unknown {
  if (Array.isArray(known) && Array.isArray(expected)) return expected.map((item, i) => asFarAs(known[i], item))
  if (!isBody(known) || !isBody(expected)) return expected
  return Object.fromEntries(Object.keys(known).map((field) => [field, asFarAs(known[field], expected[field])]))
}

const isBody = (value: unknown): value is Body => typeof value === 'object' && value !== null && !Array.isArray(value)

/** With the names of all fields, and the values of the others. */
const without = (body: Body, fields: string[]): Body =>
  Object.fromEntries(Object.entries(body).map(([field, value]) => [field, fields.includes(field) ? typeof value : value]))
