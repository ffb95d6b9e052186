import type { Response, Test } from 'supertest'
import { type Context, enterOrganization } from '../../src/domain/context.ts'
import { inviteMember } from '../../src/domain/members/invite-member.ts'
import type { MemberRole } from '../../src/domain/members/members.ts'
import { startSession } from '../../src/domain/sign-in/sessions.ts'
import { PASSWORD } from './known-secrets.ts'
import type { Service } from './service.ts'

export { PASSWORD }

/** Headers that a browser sends with a form of the same origin. */
const OWN = { 'sec-fetch-site': 'same-origin' }

/** A browser without scripts, which keeps the cookies of its session and device, and sends forms like a page of the portal. */
export type Visitor = {
  get: (path: string) => Test
  post: (path: string, fields?: Record<string, string | string[]>) => Test
  /** The session cookie as the browser would send it; undefined if there is none. */
  cookie: () => string | undefined
  /** The session cookie and the device cookie as the browser would send them. */
  cookies: () => string
}

export function visit(service: Service, start?: string): Visitor {
  let cookie = start
  let device: string | undefined
  const keep = (test: Test): Test =>
    test.on('response', ({ headers }: Response) => {
      for (const line of [headers['set-cookie'] ?? []].flat()) {
        if (line.startsWith('device=')) device = line.split(';')[0]
        else cookie = /^[^=]+=;/.test(line) ? undefined : line.split(';')[0]
      }
    })
  const cookies = () => [cookie, device].filter((one) => one !== undefined).join('; ')
  const withCookie = (test: Test) => keep(cookies() === '' ? test : test.set('cookie', cookies()))
  return {
    get: (path) => withCookie(service.http().get(path)),
    post: (path, fields = {}) => withCookie(service.http().post(path)).set(OWN).type('form').send(fields),
    cookie: () => cookie,
    cookies,
  }
}

/** Returns a context of the organization with the operator as its actor. */
export const asOperator = (service: Service, { id, name }: { id: string; name: string }): Context =>
  enterOrganization({ ...service.system, actor: { kind: 'operator' } }, { id, name, tier: 'standard' })

/** Returns a context of the organization with a new admin as its actor. */
export async function asAdmin(service: Service, organization: { id: string; name: string }): Promise<Context> {
  const { id, userId } = await service.make.member(organization.id, { roles: ['admin'] })
  return { ...asOperator(service, organization), actor: { kind: 'member', id, userId, roles: ['admin'] } }
}

/** Creates a link of the operator to join the organization. @returns its path. */
export async function joinPath(
  service: Service,
  organization: { id: string; name: string },
  email: string,
  roles: MemberRole[] = ['admin'],
): Promise<string> {
  const { url } = await inviteMember(asOperator(service, organization), { email, roles, mails: false })
  return new URL(url).pathname
}

/** Creates a link to join the organization that an admin copies, so it does not verify an email address. @returns its path. */
export async function copiedJoinPath(
  service: Service,
  organization: { id: string; name: string },
  email: string,
  roles: MemberRole[] = ['admin'],
): Promise<string> {
  const { url } = await inviteMember(await asAdmin(service, organization), { email, roles, mails: false })
  return new URL(url).pathname
}

/** Joins the organization by a link, with {@link PASSWORD}. @returns the signed-in browser. */
export async function joinAs(
  service: Service,
  organization: { id: string; name: string },
  { email = `${service.deps.newId()}@example.com`, roles = ['admin'] }: { email?: string; roles?: MemberRole[] } = {},
) {
  const visitor = visit(service)
  const path = await joinPath(service, organization, email, roles)
  const answer = await visitor.post(path, { firstName: 'Ada', lastName: 'Lovelace', password: PASSWORD })
  if (answer.status !== 303) throw new Error(`Joining was answered ${answer.status}: ${answer.text}`)
  return { ...visitor, email, home: `/portal/${organization.id}/` }
}

/** Makes the authentications of all sessions of a member recent again. */
export async function proveAgain(service: Service, { id }: { id: string }): Promise<void> {
  const theirs = { session: { credential: { memberships: { some: { id } } } } }
  await service.db.sessionAuthentication.updateMany({ where: theirs, data: { at: service.clock.now() } })
}

/** Creates a signed-in member with these roles, without the time that hashing a password takes. */
export async function signInAs(service: Service, organizationId: string, roles: string[], portalRoles: string[] = []) {
  const { db, deps } = service
  const member = await service.make.member(organizationId, { roles, portalRoles })
  const now = deps.clock()
  const times = { passwordChangedAt: now, createdAt: now, emailVerifiedAt: now }
  const data = { id: deps.newId(), email: member.email, passwordHash: 'none', ...times }
  const credential = await db.credential.create({ data })
  await db.member.update({ where: { id: member.id }, data: { credentialId: credential.id } })
  const session = await startSession(
    service.system,
    credential,
    { userAgent: 'A test', network: '192.0.2.1', isShared: false, isInside: false },
    ['password'],
  )
  return { ...visit(service, `session=${session!.token}`), member, home: `/portal/${organizationId}/` }
}
