import { describe, expect, it } from 'vitest'
import { allowOtherSignInMethods } from '../../../../src/domain/single-sign-on/enforcement.ts'
import { codeAt, enrolApp } from '../../../support/factors.ts'
import { mistakesIn } from '../../../support/forms.ts'
import { startIdp } from '../../../support/idp.ts'
import { asOperator, joinAs, joinPath, PASSWORD } from '../../../support/portal.ts'
import { startServiceForFile } from '../../../support/service.ts'
import { browse, goThrough, IDP_ON_LOOPBACK, makeOnlyWayIn, providerFields, setUpSso, wayBack } from '../../../support/sso.ts'

const service = await startServiceForFile(IDP_ON_LOOPBACK)
const { db, clock } = service
const HOUR_MS = 3_600_000

const titleOf = (text: string) => /<h1[^>]*>([^<]*)/.exec(text)?.[1]
const actionsOf = async (organizationId: string) =>
  (await db.auditEntry.findMany({ where: { organizationId }, orderBy: { id: 'asc' } })).map(({ action }) => action)
const mailsOf = async (organizationId: string, kind: string) =>
  (await db.memberEmail.findMany({ where: { organizationId, kind }, include: { member: true } })).map(
    ({ member }) => member.email,
  )
const isEnforced = async (organizationId: string) =>
  (await db.organizationSecurity.findUnique({ where: { organizationId } }))?.ssoEnforcedAt != null

/** Creates an organization that requires single sign-on. */
async function setUp(more: Record<string, string> = {}) {
  const sso = await setUpSso(service, { provisionsMembers: 'yes', ...more })
  const enforced = await makeOnlyWayIn(service, sso)
  expect(mistakesIn(enforced.answer)).toEqual([])
  expect(await isEnforced(sso.organization.id)).toBe(true)
  return { ...sso, ...enforced }
}

async function signInByPassword(email: string) {
  const browser = browse(service)
  await browser.post('/portal/sign-in', { email, password: PASSWORD, next: '/portal' })
  return browser
}

describe('the requirement of single sign-on', () => {
  it('is rejected without a test in this session with these settings, and without an emergency owner', async () => {
    const { organization, admin, idp, page, person } = await setUpSso(service)
    const enforce = async () => (await admin.post(`${admin.home}settings/sign-in/enforce`, { ssoSessionHours: '12' })).text
    const untried = 'Try the identity provider first'
    const noWayBack = 'Somebody must be able to sign in'
    expect(await enforce()).toContain(untried)
    expect(await enforce()).toContain(noWayBack)
    const other = await signInByPassword(admin.email)
    idp.person = person('ada')
    await goThrough(other, idp, `${page}/try`)
    expect(await enforce()).toContain(untried)
    await goThrough(admin, idp, `${page}/try`)
    expect(await enforce()).not.toContain(untried)
    expect(await enforce()).toContain(noWayBack)
    // The emergency owner is named, but has never used the sign-in method that would be required.
    const name = { email: admin.email, signInException: 'break_glass' }
    expect((await admin.post(`${admin.home}settings/sign-in/own-ways`, name)).status).toBe(303)
    await enrolApp(admin, clock.now)
    expect(await enforce()).toContain(noWayBack)
    await admin.post(page, providerFields(idp, { clientSecret: 'another-secret' }))
    expect(await enforce()).toContain(untried)
    expect(await isEnforced(organization.id)).toBe(false)
  })

  it('accepts only an owner who has joined for emergencies', async () => {
    const { organization, admin } = await setUpSso(service)
    const grader = await joinAs(service, organization, { roles: ['grader'] })
    await joinPath(service, organization, 'invited@example.com', ['admin'])
    for (const email of [grader.email, 'invited@example.com', 'nobody@example.com']) {
      const { status, text } = await admin.post(`${admin.home}settings/sign-in/own-ways`, {
        email,
        signInException: 'break_glass',
      })
      expect([email, status, text.includes('Only an owner who has joined')]).toEqual([email, 422, true])
    }
  })

  it('shows the members who would be locked out, and is announced', async () => {
    const sso = await setUpSso(service)
    const outside = await joinAs(service, sso.organization, { roles: ['grader'] })
    const inside = await joinAs(service, sso.organization, { roles: ['grader'], email: `grace@${sso.domain}` })
    const { owner, settings, answer } = await makeOnlyWayIn(service, sso)
    expect(answer.status).toBe(303)
    const { text } = await owner.get(settings)
    expect(text).toContain('1 member locked out')
    expect(text.slice(text.indexOf('shut-out-heading'))).toContain(outside.email)
    expect(text).not.toContain(inside.email)
    expect(await actionsOf(sso.organization.id)).toEqual(expect.arrayContaining(['changed_sign_in_exception', 'enforced_sso']))
    expect(await mailsOf(sso.organization.id, 'security_changed')).toContain(sso.admin.email)
  })
})

describe('an organization that requires single sign-on', () => {
  it('admits a member through it; their password only opens other organizations', async () => {
    const { organization, idp, begin, person, domain } = await setUp()
    const elsewhere = await service.make.organization()
    const email = `grace@${domain}`
    await joinAs(service, elsewhere, { email })
    idp.person = person('grace')
    const home = `/portal/${organization.id}/`
    const colleague = browse(service)
    expect((await goThrough(colleague, idp, begin)).status).toBe(303)
    expect((await colleague.get(home)).status).toBe(200)
    const byPassword = await signInByPassword(email)
    const closed = await byPassword.get(`${home}invites`)
    expect([closed.status, titleOf(closed.text)]).toEqual([403, 'Sign in with your organization'])
    expect(closed.text).toContain(`href="${begin}?next=${encodeURIComponent(`${home}invites`)}"`)
    expect((await byPassword.get(`/portal/${elsewhere.id}/`)).status).toBe(200)
    // Single sign-on opens the organization in the existing session.
    expect((await goThrough(byPassword, idp, `${begin}?next=${home}invites`)).headers.location).toBe(`${home}invites`)
    expect((await byPassword.get(`${home}invites`)).status).toBe(200)
    expect((await byPassword.get(`/portal/${elsewhere.id}/`)).status).toBe(200)
  })

  it('is closed to passwords with codes and to passkeys, and asks again after the configured hours', async () => {
    const { organization, idp, begin, person, owner, settings } = await setUp()
    idp.person = person('grace')
    const colleague = browse(service)
    await goThrough(colleague, idp, begin)
    const { credentialId, memberId } = await db.identity.findFirstOrThrow({ where: { organizationId: organization.id } })
    await owner.post(`${settings}/enforce`, { ssoSessionHours: '1' })
    const home = `/portal/${organization.id}/`
    clock.advance(HOUR_MS)
    expect((await colleague.get(home)).status).toBe(403)
    expect((await goThrough(colleague, idp, begin)).status).toBe(303)
    expect((await colleague.get(home)).status).toBe(200)
    for (const kind of ['password', 'totp', 'passkey', 'recovery', 'device'])
      await db.sessionAuthentication.createMany({
        data: (await db.session.findMany({ where: { credentialId, endedAt: null } })).map(({ id: sessionId }) => ({
          id: service.deps.newId(),
          sessionId,
          kind,
          at: clock.now(),
        })),
      })
    await db.sessionAuthentication.deleteMany({ where: { session: { credentialId }, kind: 'oidc' } })
    expect((await colleague.get(home)).status).toBe(403)
    await db.member.update({ where: { id: memberId! }, data: { signInException: 'guest' } })
    expect((await colleague.get(home)).status).toBe(200)
  })

  it('saves a late form until its sender has signed in again', async () => {
    const { organization, idp, begin, person, owner, settings } = await setUp({ defaultRoles: 'grader' })
    idp.person = person('grace')
    const colleague = browse(service)
    await goThrough(colleague, idp, begin)
    await owner.post(`${settings}/enforce`, { ssoSessionHours: '1' })
    clock.advance(HOUR_MS)
    const home = `/portal/${organization.id}/`
    const turned = await colleague.post(`${home}account/name`, { firstName: 'Grace Brewster', lastName: 'Hopper' })
    const closed = await colleague.get(turned.headers.location!)
    expect(titleOf(closed.text)).toBe('Sign in with your organization')
    expect(closed.text).toContain('What you filled in is saved')
    const link = /href="([^"]*with[^"]*)"/.exec(closed.text)![1]!.replaceAll('&amp;', '&')
    const { headers } = await goThrough(colleague, idp, link)
    expect(headers.location).toMatch(/^\/portal\/resume\//)
    expect((await colleague.get(headers.location!)).text).toContain('Grace Brewster')
    expect((await browse(service).get(headers.location!)).status).not.toBe(200)
  })

  it('rejects invitations to other domains, except for guests, who use a password and a code', async () => {
    const { organization, owner, settings, domain } = await setUp()
    const home = `/portal/${organization.id}/`
    const invite = (email: string) => owner.post(`${home}members/invite`, { email, roles: 'grader' })
    expect(mistakesIn(await invite('guest@elsewhere.example')).join()).toContain('in none of its verified domains')
    expect(await db.member.count({ where: { organizationId: organization.id, email: 'guest@elsewhere.example' } })).toBe(0)
    expect((await invite(`colleague@${domain}`)).status).toBeLessThan(400)
    await owner.post(`${settings}/own-ways`, { email: 'guest@elsewhere.example', signInException: 'guest' })
    expect((await invite('guest@elsewhere.example')).status).toBeLessThan(400)
    const guest = await joinAs(service, organization, { email: 'guest@elsewhere.example', roles: ['grader'] })
    expect((await guest.get(home)).headers.location).toMatch(/^\/portal\/factors\?/)
    const { secret } = await enrolApp(guest, clock.now)
    expect((await guest.get(home)).status).toBe(200)
    clock.advance(60_000)
    const again = await signInByPassword(guest.email)
    expect((await again.get(home)).status).toBe(303)
    await again.post('/portal/second-step', { code: codeAt(secret, clock.now()), next: '/portal' })
    expect((await again.get(home)).status).toBe(200)
    expect(await mailsOf(organization.id, 'break_glass_used')).toEqual([])
    // The owner can end the exception.
    const { id } = await db.member.findFirstOrThrow({ where: { organizationId: organization.id, email: guest.email } })
    await owner.post(`${settings}/own-ways/${id}/end`)
    expect((await again.get(home)).status).toBe(403)
  })
})

describe('emergency access', () => {
  it('admits the emergency owner while the provider is down and mails all owners; the operator can end the requirement', async () => {
    const sso = await setUpSso(service, { provisionsMembers: 'yes' })
    const second = await joinAs(service, sso.organization, { email: `second@${sso.domain}` })
    const { signIn } = await makeOnlyWayIn(service, sso)
    const { organization, admin, idp } = sso
    await idp.close()
    expect((await second.get(admin.home)).status).toBe(403)
    const owner = await signIn()
    expect((await owner.get(admin.home)).status).toBe(200)
    expect((await mailsOf(organization.id, 'break_glass_used')).toSorted()).toEqual([admin.email, second.email].toSorted())
    expect((await actionsOf(organization.id)).filter((action) => action === 'used_break_glass')).toHaveLength(1)
    expect(await allowOtherSignInMethods(asOperator(service, organization))).toBe(true)
    expect(await allowOtherSignInMethods(asOperator(service, organization))).toBe(false)
    expect((await second.get(admin.home)).status).toBe(200)
    expect(await actionsOf(organization.id)).toContain('stopped_enforcing_sso')
  })

  it('sends no mail when the emergency owner uses the provider, and accepts a passkey or a code', async () => {
    const { organization, idp, begin, page, person, signIn } = await setUp()
    idp.person = person('ada')
    const owner = browse(service)
    await goThrough(owner, idp, begin)
    const proven = await owner.get(`${page}`)
    expect(proven.status).toBe(200)
    const countEmergencyMails = async () => (await mailsOf(organization.id, 'break_glass_used')).length
    expect(await countEmergencyMails()).toBe(0)
    await signIn()
    expect(await countEmergencyMails()).toBe(1)
  })

  it('never loses its last emergency owner', async () => {
    const sso = await setUpSso(service)
    const { organization, admin } = sso
    // With another admin, nothing is rejected for lack of one.
    const other = await joinAs(service, organization)
    const { owner, settings } = await makeOnlyWayIn(service, sso)
    const { id } = await db.member.findFirstOrThrow({ where: { organizationId: organization.id, email: admin.email } })
    const last = 'This is the last owner with emergency access'
    expect((await owner.post(`${settings}/own-ways/${id}/end`)).text).toContain(last)
    expect((await owner.post(`${settings}/own-ways`, { email: admin.email, signInException: 'guest' })).text).toContain(last)
    const context = { ...asOperator(service, organization) }
    const { deactivateMember, changeMember } = await import('../../../../src/domain/members/manage-members.ts')
    const issue = { issues: [{ field: '', rule: 'account', problem: 'lastBreakGlass' }] }
    await expect(deactivateMember(context, id)).rejects.toMatchObject(issue)
    await expect(changeMember(context, id, { roles: ['grader'] })).rejects.toMatchObject(issue)
    const factor = await db.secondFactor.findFirstOrThrow({ where: { credential: { email: admin.email } } })
    expect((await owner.post(`/portal/factors/${factor.id}/remove`, { next: '/portal' })).text).toContain('your only one')
    expect(await db.secondFactor.count({ where: { id: factor.id } })).toBe(1)
    expect(other.email).not.toBe(admin.email)
  })

  it('keeps the settings in use while others wait to be tested, and applies the new ones after the test', async () => {
    const { organization, owner, idp, page, providerId, begin, person } = await setUp()
    const where = { id: providerId }
    const live = () =>
      db.signInProvider.findUniqueOrThrow({
        where,
        select: { issuer: true, encryptedClientSecret: true, testedSettingsHash: true },
      })
    const before = await live()
    const saved = await owner.post(page, providerFields(idp, { clientSecret: '', name: 'Another name' }))
    expect([saved.headers.location, await isEnforced(organization.id)]).toEqual([`${page}?done=saved`, true])
    const wrong = await owner.post(page, providerFields(idp, { clientSecret: 'another-secret' }))
    expect([wrong.headers.location, await isEnforced(organization.id), await live()]).toEqual([
      `${page}?done=waits`,
      true,
      before,
    ])
    expect((await owner.get(page)).text).toContain('is a draft')
    idp.person = person('ada')
    expect(titleOf((await goThrough(owner, idp, `${page}/try`)).text)).toBe('The sign-in can’t be trusted')
    expect((await goThrough(browse(service), idp, begin)).status).toBe(303)
    await owner.post(`${page}/discard`)
    expect([await live(), (await db.signInProvider.findUniqueOrThrow({ where })).encryptedDraft]).toEqual([before, null])

    const moved = await startIdp({ now: clock.now, redirectUri: service.deps.links.signInUrl(providerId, 'callback') })
    // Only the other provider's own form shows its settings.
    const asked = { clientSecret: '', secretExpiresAt: '2030-01-01', provisionsMembers: 'yes', requiredClaims: 'tid=moved' }
    await owner.post(page, providerFields(moved, asked))
    idp.person = person('grace')
    expect((await goThrough(browse(service), idp, begin)).status).toBe(303)
    moved.person = person('ada')
    expect(titleOf((await goThrough(owner, moved, `${page}/try`)).text)).not.toBe('It works')
    await owner.post(page, providerFields(moved, { ...asked, requiredClaims: '' }))
    moved.person = person('ada')
    expect(titleOf((await goThrough(owner, moved, `${page}/try`)).text)).toBe('It works')
    const after = await db.signInProvider.findUniqueOrThrow({ where })
    expect(after).toMatchObject({ issuer: moved.issuer, encryptedDraft: null, secretExpiresAt: new Date('2030-01-01') })
    // The new provider has other subject ids, so members of the previous one are linked again by their address.
    expect(after.relinkUntil!.getTime()).toBeGreaterThan(clock.now().getTime())
    expect(await actionsOf(organization.id)).toContain('allowed_relinking')
    expect(await isEnforced(organization.id)).toBe(true)
    moved.person = person('grace')
    const browser = browse(service)
    expect((await goThrough(browser, moved, begin)).status).toBe(303)
    expect((await browser.get(`/portal/${organization.id}/`)).status).toBe(200)
    expect((await actionsOf(organization.id)).filter((action) => action === 'stopped_enforcing_sso')).toEqual([])
    await owner.post(`${page}/remove`)
    expect(await isEnforced(organization.id)).toBe(false)
  })

  it('is unaffected by another provider that is added, changed, and removed untested', async () => {
    const { organization, owner, idp, settings } = await setUp()
    const { headers } = await owner.post(`${settings}/providers`, providerFields(idp, { name: 'Second' }))
    const second = headers.location!.split('?')[0]!
    expect((await owner.post(second, providerFields(idp, { name: 'Third' }))).headers.location).toBe(`${second}?done=saved`)
    expect(await isEnforced(organization.id)).toBe(true)
    await owner.post(`${second}/remove`)
    expect(await isEnforced(organization.id)).toBe(true)
  })

  it('applies only settings tested by an owner, and none that were discarded', async () => {
    const { organization, admin, owner, idp, page, providerId, begin, person } = await setUp()
    const moved = await startIdp({ now: clock.now, redirectUri: service.deps.links.signInUrl(providerId, 'callback') })
    await owner.post(page, providerFields(moved, { clientSecret: '', provisionsMembers: 'yes' }))
    idp.person = person('grace')
    const grader = browse(service)
    await goThrough(grader, idp, begin)
    expect((await grader.get(`/portal/${organization.id}/`)).status).toBe(200)
    expect((await grader.get(`${page}/try`)).status).toBe(404)
    // The member loses the role between the start of the test and its end.
    moved.person = person('ada')
    const back = await wayBack(owner, moved, `${page}/try`)
    const where = { organizationId: organization.id, email: admin.email }
    const { roles, portalRoles } = await db.member.findFirstOrThrow({ where })
    await db.member.updateMany({ where, data: { roles: ['grader'], portalRoles: [] } })
    expect((await owner.get(back)).status).toBe(404)
    await db.member.updateMany({ where, data: { roles, portalRoles } })
    const discarded = await wayBack(owner, moved, `${page}/try`)
    await owner.post(`${page}/discard`)
    expect(titleOf((await owner.get(discarded)).text)).toMatch(/can’t be/)
    expect((await db.signInProvider.findUniqueOrThrow({ where: { id: providerId } })).issuer).toBe(idp.issuer)
  })

  it('applies the tested settings, not later ones', async () => {
    const { owner, idp, page, providerId, person } = await setUp()
    const moved = await startIdp({ now: clock.now, redirectUri: service.deps.links.signInUrl(providerId, 'callback') })
    await owner.post(page, providerFields(moved, { clientSecret: '' }))
    moved.person = person('ada')
    const back = await wayBack(owner, moved, `${page}/try`)
    const { identityProviders } = service.deps
    const redeem: typeof identityProviders.redeem = async (...asked) => {
      const answer = await identityProviders.redeem(...asked)
      await owner.post(page, providerFields(moved, { clientSecret: 'another-secret' }))
      return answer
    }
    service.deps.identityProviders = { ...identityProviders, redeem }
    try {
      expect(titleOf((await owner.get(back)).text)).toBe('Please start again')
    } finally {
      service.deps.identityProviders = identityProviders
    }
    expect((await db.signInProvider.findUniqueOrThrow({ where: { id: providerId } })).issuer).toBe(idp.issuer)
  })
})
