import { describe, expect, it } from 'vitest'
import { checkSignInDomains } from '../../../src/domain/single-sign-on/check-sign-in-domains.ts'
import { joinAs } from '../../support/portal.ts'
import { startServiceForFile } from '../../support/service.ts'
import { browse, goThrough, IDP_ON_LOOPBACK, providerFields, setUpSso } from '../../support/sso.ts'

const service = await startServiceForFile(IDP_ON_LOOPBACK)
const { db, clock, deps } = service
const DAY_MS = 86_400_000

const titleOf = (text: string) => /<h1[^>]*>([^<]*)/.exec(text)?.[1]
const mailsOf = async (organizationId: string, kind: string) =>
  (await db.memberEmail.findMany({ where: { organizationId, kind }, include: { member: true }, orderBy: { id: 'asc' } })).map(
    ({ member }) => member.email,
  )
/** Text of an organization's newest mail in the development mailbox. */
async function readNewest(organizationId: string, kind: string): Promise<string> {
  const { id } = await db.memberEmail.findFirstOrThrow({ where: { organizationId, kind }, orderBy: { id: 'desc' } })
  const { text } = await service.mailbox(`/${id}?view=text`)
  return text.replace(/<[^>]+>/g, ' ')
}

describe('an owner', () => {
  it('is notified 30, 7, and 1 day before a client secret expires, once each', async () => {
    const { admin, organization, idp, page } = await setUpSso(service)
    await joinAs(service, organization, { roles: ['grader'] })
    const endsOn = new Date(clock.now().getTime() + 40 * DAY_MS).toISOString().slice(0, 10)
    await admin.post(page, providerFields(idp, { clientSecret: '', secretExpiresAt: endsOn }))
    const mailCounts: number[] = []
    for (let day = 0; day < 45; day++) {
      await checkSignInDomains(service.system)
      await checkSignInDomains(service.system)
      mailCounts.push((await mailsOf(organization.id, 'secret_ending')).length)
      clock.advance(DAY_MS)
    }
    expect(mailCounts.map((count, day) => count - (mailCounts[day - 1] ?? 0)).filter((more) => more > 0)).toEqual([1, 1, 1])
    expect([mailCounts.indexOf(1), mailCounts.indexOf(2), mailCounts.indexOf(3)]).toEqual([10, 33, 39])
    expect(await mailsOf(organization.id, 'secret_ending')).toEqual([admin.email, admin.email, admin.email])
    const text = await readNewest(organization.id, 'secret_ending')
    expect(text).toContain('The client secret of Acme Login expires soon')
    expect(text).toContain('Settings, Single sign-on')
  })

  it("is notified of a domain's missing record, without which its addresses link and add nobody after 30 days", async () => {
    const { admin, organization, idp, begin, person, domain, domainId } = await setUpSso(service, { provisionsMembers: 'yes' })
    idp.person = person('early')
    await goThrough(browse(service), idp, begin)
    const early = { ...idp.person }
    const { identityProviders } = deps
    let asked = 0
    let answer: () => Promise<string[]> = async () => []
    const textRecords = (name: string) => {
      if (!name.endsWith(domain)) return identityProviders.textRecords(name)
      asked++
      return answer()
    }
    deps.identityProviders = { ...identityProviders, textRecords }
    const state = () => db.signInDomain.findFirstOrThrow({ where: { id: domainId } })
    const pass = async (days: number) => {
      clock.advance(days * DAY_MS)
      await checkSignInDomains(service.system)
    }
    await pass(6)
    expect(asked).toBe(0)
    // A lookup without an answer doesn't count as a missing record.
    answer = () => Promise.reject(new Error('ETIMEOUT'))
    await pass(1.1)
    expect([asked, (await state()).failingSince]).toEqual([1, null])
    answer = async () => ['v=spf1 -all']
    await pass(1.1)
    const { failingSince } = await state()
    expect(failingSince).toEqual(clock.now())
    expect(await mailsOf(organization.id, 'domain_failing')).toEqual([admin.email])
    expect(await readNewest(organization.id, 'domain_failing')).toContain(`The record of ${domain} is missing`)
    idp.person = person('late')
    expect((await goThrough(browse(service), idp, begin)).status).toBe(303)
    for (let day = 0; day < 31; day++) await pass(1)
    expect([await mailsOf(organization.id, 'domain_failing'), (await state()).failingSince]).toEqual([
      [admin.email],
      failingSince,
    ])
    idp.person = person('later')
    expect(titleOf((await goThrough(browse(service), idp, begin)).text)).toBe('You are not a member yet')
    idp.person = early
    expect((await goThrough(browse(service), idp, begin)).status).toBe(303)
    const { token } = await state()
    answer = async () => [token]
    await pass(1)
    expect((await state()).failingSince).toBeNull()
    idp.person = person('again')
    expect((await goThrough(browse(service), idp, begin)).status).toBe(303)
    deps.identityProviders = identityProviders
  })
})

describe('a domain that an organization has lost', () => {
  it('moves to another organization once that one verifies it, and the former one is notified then', async () => {
    const { organization, admin, domain, domainId } = await setUpSso(service)
    const other = await joinAs(service, await service.make.organization())
    const settings = `${other.home}settings/sign-in/domains`
    const add = async () => (await other.post(settings, { domain })).status
    const since = (days: number) => new Date(clock.now().getTime() - days * DAY_MS)
    await db.signInDomain.updateMany({ where: { id: domainId }, data: { failingSince: since(29) } })
    expect(await add()).toBe(422)
    await db.signInDomain.updateMany({ where: { id: domainId }, data: { failingSince: since(31) } })
    expect(await add()).toBe(303)
    const { id, token } = await db.signInDomain.findFirstOrThrow({ where: { domain, id: { not: domainId } } })
    const verify = async () => (await other.post(`${settings}/${id}/verify`)).headers.location ?? 'refused'
    const { identityProviders } = deps
    try {
      // The record of the first organization still exists, although the sweep has not checked it since.
      expect(await verify()).toBe('refused')
      deps.identityProviders = { ...identityProviders, textRecords: async () => [token] }
      expect(await verify()).toContain('done=verified')
    } finally {
      deps.identityProviders = identityProviders
    }
    expect(await db.signInDomain.findFirstOrThrow({ where: { id: domainId } })).toMatchObject({
      verifiedAt: null,
      failingSince: null,
    })
    const entry = await db.auditEntry.findFirstOrThrow({
      where: { organizationId: organization.id, action: 'lost_sign_in_domain' },
    })
    expect([entry.actorKind, entry.address, entry.details]).toEqual(['system', null, { domain }])
    expect(await mailsOf(organization.id, 'domain_lost')).toEqual([admin.email])
    expect(await readNewest(organization.id, 'domain_lost')).toContain(`${domain} now belongs to another organization`)
    // The first organization can't take it back by verifying its old record.
    expect((await admin.post(`${admin.home}settings/sign-in/domains/${domainId}/verify`)).status).toBe(422)
  })
})

describe('a domain', () => {
  it('belongs to only one of two organizations that verify it at once', async () => {
    const domain = `both-${service.deps.newId().slice(-6)}.example`
    const { identityProviders } = deps
    const tokens: string[] = []
    const two = []
    for (let i = 0; i < 2; i++) {
      const organization = await service.make.organization()
      const { home, post } = await joinAs(service, organization)
      expect((await post(`${home}settings/sign-in/domains`, { domain })).status).toBe(303)
      const { id, token } = await db.signInDomain.findFirstOrThrow({ where: { domain, organizationId: organization.id } })
      tokens.push(token)
      two.push(() => post(`${home}settings/sign-in/domains/${id}/verify`))
    }
    deps.identityProviders = { ...identityProviders, textRecords: async () => tokens }
    try {
      const answers = await Promise.all(two.map((verify) => verify()))
      expect(answers.map(({ status }) => status).toSorted()).toEqual([303, 422])
    } finally {
      deps.identityProviders = identityProviders
    }
    expect(await db.signInDomain.count({ where: { domain, verifiedAt: { not: null } } })).toBe(1)
  })
})

describe('a person', () => {
  it('is notified of a new linked identity, but not of the first one of a new account', async () => {
    const { organization, idp, begin, person, domain } = await setUpSso(service, { provisionsMembers: 'yes' })
    idp.person = person('new')
    await goThrough(browse(service), idp, begin)
    expect(await mailsOf(organization.id, 'identity_linked')).toEqual([])
    const known = await joinAs(service, organization, { email: `known@${domain}`, roles: ['grader'] })
    idp.person = person('known')
    await goThrough(browse(service), idp, begin)
    expect(await mailsOf(organization.id, 'identity_linked')).toEqual([known.email])
    expect(await readNewest(organization.id, 'identity_linked')).toContain('You can now sign in with Acme Login')
  })
})
