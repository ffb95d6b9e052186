import type { Response } from 'supertest'
import { expect, it } from 'vitest'
import { transact } from '../../../../src/db/transact.ts'
import { enterOrganization } from '../../../../src/domain/context.ts'
import { requestMemberErasure } from '../../../../src/domain/erasure/request-member-erasure.ts'
import { removeProvider } from '../../../../src/domain/single-sign-on/providers.ts'
import { asEraser } from '../../../support/erasing.ts'
import { codeAt, giveApp, readOffer } from '../../../support/factors.ts'
import { joinPath, PASSWORD } from '../../../support/portal.ts'
import { type Browser, browse, goThrough, setUpSso, startWithMicrosoft, WITH_MICROSOFT, wayBack } from '../../../support/sso.ts'
import { PATIENT, waitUntil } from '../../../support/wait-until.ts'

const { service, idp } = await startWithMicrosoft()
const { db } = service

const titleOf = (text: string) => /<h1[^>]*>([^<]*)/.exec(text)?.[1]
const names = { firstName: 'Ada', lastName: 'Lovelace', password: PASSWORD }

/** Sends a request that waits for the locks of an erasure, and continues once that is committed. */
async function askMeanwhile(erase: (inside: typeof db) => Promise<unknown>, ask: () => PromiseLike<Response>): Promise<Response> {
  // The worker that records a sent mail must not count as a waiting request.
  await waitUntil(
    'their mails to be sent',
    async () => (await db.memberEmail.count({ where: { state: 'queued' } })) === 0 || undefined,
  )
  let asked: Promise<Response> | undefined
  await transact(
    db,
    async (inside) => {
      await inside.$executeRaw`SET LOCAL idle_in_transaction_session_timeout = 0`
      await erase(inside as typeof db)
      asked = Promise.resolve(ask())
      const waiting = () => db.$queryRaw<object[]>`
        SELECT FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`
      await waitUntil('the request to wait', async () => (await waiting())[0])
    },
    { timeout: PATIENT.timeout },
  )
  return asked!
}

/** Signs in a member of one organization, whose account is deleted with them. */
async function join({ hasApp = false } = {}) {
  const [organization, email] = [await service.make.organization(), `${service.deps.newId()}@example.com`]
  const browser = browse(service)
  expect((await browser.post(await joinPath(service, organization, email, ['grader']), names)).status).toBe(303)
  const member = await db.member.findFirstOrThrow({ where: { organizationId: organization.id, email } })
  const credentialId = member.credentialId!
  const secret = hasApp ? await giveApp(service, credentialId) : undefined
  const erased = (ask: () => PromiseLike<Response>) =>
    askMeanwhile(
      (inside) =>
        requestMemberErasure(enterOrganization({ ...asEraser(service, organization), db: inside }, organization), {
          memberId: member.id,
        }),
      ask,
    )
  return { ...browser, organization, email, credentialId, secret, erased, home: `/portal/${organization.id}/` }
}

const link = async (browser: Browser, home: string) => {
  idp.person = { sub: service.deps.newId(), given_name: 'Ada' }
  await goThrough(browser, idp, `${home}account/link/microsoft`)
}

for (const hasApp of [false, true])
  it(`lets an erased person join another organization again ${hasApp ? '(with a second factor)' : ''}`, async () => {
    const { email, erased } = await join({ hasApp })
    const path = await joinPath(service, await service.make.organization(), email)
    expect((await erased(() => browse(service).post(path, names))).status).toBe(422)
    expect((await browse(service).post(path, names)).status).toBe(303)
  })

it('rejects the password, the code, and the app set-up of an erased person', async () => {
  const wrong = await join()
  await db.credential.update({ where: { id: wrong.credentialId }, data: { failures: 3 } })
  const fields = { email: wrong.email, password: PASSWORD, next: '/portal' }
  expect((await wrong.erased(() => browse(service).post('/portal/sign-in', fields))).status).toBe(422)

  const { email, secret, erased } = await join({ hasApp: true })
  const browser = browse(service)
  await browser.post('/portal/sign-in', { email, password: PASSWORD, next: '/portal' })
  const code = codeAt(secret!, service.clock.now())
  const late = await erased(() => browser.post('/portal/second-step', { code, next: '/portal' }))
  expect([late.status, late.headers.location]).toEqual([303, '/portal/sign-in?done=late'])

  const enrolling = await join()
  const offer = readOffer((await enrolling.get('/portal/factors/app')).text)
  const app = { sealed: offer.sealed, name: 'Phone', next: '/portal', code: codeAt(offer.secret, service.clock.now()) }
  expect((await enrolling.erased(() => enrolling.post('/portal/factors/app', app))).status).toBe(422)
})

it('saves no form of an erased person', async () => {
  const { post, credentialId, home, erased } = await join()
  await db.session.updateMany({ where: { credentialId }, data: { endedAt: service.clock.now() } })
  const { status, headers } = await erased(() => post(`${home}account/name`, { firstName: 'A', lastName: 'B' }))
  expect([status, headers.location]).toEqual([303, '/portal/sign-in'])
})

it('restarts a flow that comes back from Microsoft for signing in, linking, and joining', async () => {
  const known = await join()
  await link(known, known.home)
  const [browser, other] = [browse(service), browse(service)]
  const back = await wayBack(browser, idp, WITH_MICROSOFT)
  expect(titleOf((await known.erased(() => browser.get(back))).text)).toBe('Your membership has ended')

  const linking = await join()
  idp.person = { sub: service.deps.newId() }
  const linked = await wayBack(linking, idp, `${linking.home}account/link/microsoft`)
  expect(titleOf((await linking.erased(() => linking.get(linked))).text)).toBe('Please start again')

  const joining = await join()
  await link(joining, joining.home)
  const path = await joinPath(service, await service.make.organization(), joining.email)
  const joined = await wayBack(other, idp, `${path}/with/microsoft`)
  expect(titleOf((await joining.erased(() => other.get(joined))).text)).toBe('Please start again')
  expect((await goThrough(other, idp, `${path}/with/microsoft`)).status).toBe(303)
})

it("restarts a flow at an organization's provider if the account or provider is deleted", async () => {
  const { organization, idp: theirs, begin, person, domain, providerId } = await setUpSso(service)
  const elsewhere = await join()
  const email = `grace@${domain}`
  // This organization knows only the person's address; another one has their account.
  await db.credential.update({ where: { id: elsewhere.credentialId }, data: { email } })
  await joinPath(service, organization, email)
  theirs.person = person('grace')
  const [first, second] = [browse(service), browse(service)]
  const back = await wayBack(first, theirs, begin)
  expect(titleOf((await elsewhere.erased(() => first.get(back))).text)).toBe('Please start again')
  const again = await wayBack(second, theirs, begin)
  const ctx = { ...asEraser(service, organization), actor: { kind: 'operator' } as const }
  const gone = await askMeanwhile(
    (inside) => removeProvider(enterOrganization({ ...ctx, db: inside }, organization), providerId),
    () => second.get(again),
  )
  expect(titleOf(gone.text)).toBe('Please start again')
})
