import { expect, it } from 'vitest'
import { transact } from '../../../../src/db/transact.ts'
import { enterOrganization } from '../../../../src/domain/context.ts'
import { resendJoinLink } from '../../../../src/domain/members/invite-member.ts'
import { lockMember } from '../../../../src/domain/members/members.ts'
import { DAY_MS } from '../../../support/factories.ts'
import { asOperator, joinAs, joinPath, PASSWORD, visit } from '../../../support/portal.ts'
import { repeatWhileBusy } from '../../../support/repeat-while-busy.ts'
import { startServiceForFile } from '../../../support/service.ts'
import { PATIENT, waitUntil } from '../../../support/wait-until.ts'

const service = await startServiceForFile()

const fields = { firstName: ' Grace ', lastName: 'Hopper', password: PASSWORD }
const DEAD = 'This link no longer works'

it('accepts a name and a password, and signs the member in', async () => {
  const organization = await service.make.organization()
  const member = await service.make.member(organization.id, { roles: ['grader'], email: 'Grace@example.com' })
  const path = await joinPath(service, organization, 'grace@EXAMPLE.com', ['client'])
  const person = visit(service)
  const answer = await person.post(path, fields)
  expect([answer.status, answer.headers.location]).toEqual([303, `/portal/${organization.id}/`])
  const home = (await person.get(answer.headers.location!)).text
  for (const section of ['Assigned to you', 'Your assessments']) expect(home).toContain(section)
  expect(home).toContain('Grace Hopper')
  const shown = await service.v1(organization.key).get('/members')
  expect(shown.body.members.map(({ id, firstName }: { id: string; firstName: string }) => [id, firstName])).toEqual([
    [member.id, 'Grace'],
  ])
})

it('shows a join link repeatedly without changing anything', async () => {
  const organization = await service.make.organization()
  const path = await joinPath(service, organization, 'scanner@example.com')
  for (let i = 0; i < 3; i++) {
    const page = await visit(service).get(path)
    expect([page.status, page.headers['set-cookie']]).toEqual([200, undefined])
    expect(page.text).toContain('scanner@example.com')
  }
  expect((await visit(service).post(path, fields)).status).toBe(303)
  expect((await visit(service).get(path)).text).toContain(DEAD)
  expect((await visit(service).post(path, fields)).text).toContain(DEAD)
})

it('lets one of fifty concurrent uses succeed', async () => {
  const organization = await service.make.organization()
  const path = await joinPath(service, organization, 'popular@example.com')
  const answers = await Promise.all(
    Array.from({ length: 50 }, (_, i) =>
      repeatWhileBusy(() => visit(service).post(path, { ...fields, password: `${PASSWORD} ${i}` })),
    ),
  )
  const winners = answers.flatMap(({ status }, i) => (status === 303 ? [i] : []))
  expect(winners).toHaveLength(1)
  const { email } = await service.db.member.findFirstOrThrow({ where: { organizationId: organization.id } })
  service.clock.advance(DAY_MS) // the losing passwords may count as failed attempts of the new account
  const password = `${PASSWORD} ${winners[0]}`
  expect((await visit(service).post('/portal/sign-in', { email, password })).status).toBe(303)
  expect(await service.db.auditEntry.count({ where: { organizationId: organization.id, action: 'joined' } })).toBe(1)
})

it('accepts a link while another is being sent, without waiting', async () => {
  const organization = await service.make.organization()
  const path = await joinPath(service, organization, 'in-a-hurry@example.com')
  const { id } = await service.db.member.findFirstOrThrow({ where: { organizationId: organization.id } })
  let joining: Promise<{ text: string }> | undefined
  await transact(
    service.db,
    async (db) => {
      await db.$executeRaw`SET LOCAL idle_in_transaction_session_timeout = 0` // hashing a password can take long on a slow machine
      const resending = enterOrganization({ ...asOperator(service, organization), db }, organization)
      await lockMember(resending, id)
      joining = Promise.resolve(visit(service).post(path, fields))
      const waiting = () => service.db.$queryRaw<object[]>`
        SELECT FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`
      await waitUntil('the other request to wait for the member', async () => (await waiting())[0])
      await resendJoinLink(resending, id)
    },
    { timeout: PATIENT.timeout },
  )
  expect((await joining)?.text).toContain(DEAD)
})

it('rejects a link after seven days', async () => {
  const path = await joinPath(service, await service.make.organization(), 'late@example.com')
  service.clock.advance(7 * DAY_MS - 1)
  expect((await visit(service).get(path)).status).toBe(200)
  service.clock.advance(1)
  expect((await visit(service).get(path)).status).toBe(404)
  expect((await visit(service).post(path, fields)).status).toBe(404)
})

it('rejects links of deactivated members, and forged links', async () => {
  const organization = await service.make.organization()
  const path = await joinPath(service, organization, 'gone@example.com')
  await service.db.member.updateMany({ where: { organizationId: organization.id }, data: { status: 'inactive' } })
  const token = path.split('/').at(-1)!
  const altered = token.replace(/^./, (first) => (first === 'A' ? 'B' : 'A'))
  for (const made of [
    path,
    `/portal/join/${altered}`,
    `/portal/reset/${token}`,
    '/portal/join/x',
    `/portal/join/${'x'.repeat(150)}`,
  ]) {
    expect((await visit(service).get(made)).text).toContain(DEAD)
    expect((await visit(service).post(made, fields)).text).toContain(DEAD)
  }
})

it('creates no account for a member who is deactivated at the same moment', async () => {
  const organization = await service.make.organization()
  const email = 'dismissed@example.com'
  const path = await joinPath(service, organization, email)
  const { sent } = await service.db.$transaction(async (db) => {
    await db.member.updateMany({ where: { organizationId: organization.id, email }, data: { status: 'inactive' } })
    const sent = visit(service).post(path, fields).then()
    await waitUntil('the join to wait for the member', async () => {
      const waiting = await service.db.$queryRaw<object[]>`
        SELECT FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`
      return waiting.length > 0 || undefined
    })
    return { sent }
  })
  const answer = await sent
  expect([answer.text.includes(DEAD), answer.headers['set-cookie']]).toEqual([true, undefined])
  expect(await service.db.credential.count({ where: { email } })).toBe(0)
})

it('shows mistakes at their fields, keeps the typed text except the password, and keeps the link valid', async () => {
  const organization = await service.make.organization()
  const path = await joinPath(service, organization, 'careful-person@example.com')
  const problem = async (wrong: object) => {
    const answer = await visit(service).post(path, { ...fields, ...wrong })
    expect(answer.status).toBe(422)
    return [...answer.text.matchAll(/<p class="mistake" id="(\w+)-mistake">([^<]+)/g)].map(
      ([, field, words]) => `${field}: ${words}`,
    )
  }
  expect(await problem({ firstName: ' ', lastName: '' })).toEqual([
    'firstName: Enter the first name.',
    'lastName: Enter the last name.',
  ])
  expect(await problem({ password: '123456789' })).toEqual(['password: The password needs at least 15 characters.'])
  expect(await problem({ password: 'GraceHopper2026!!!' })).toEqual([
    'password: The password is easy to guess: attackers try “Grace”, “Hopper”, “2026”, “!!!” first. Add something unrelated, such as two or three more words.',
  ])
  expect(await problem({ password: 'x'.repeat(201) })).toEqual(['password: The password has more than 200 characters.'])
  expect(await problem({ password: 'Careful-Person@example.com' })).toEqual([
    'password: The password must not be your email address.',
  ])
  expect(await problem({ firstName: 'x'.repeat(201) })).toEqual(['firstName: The first name has more than 200 characters.'])
  const typed = await visit(service).post(path, { firstName: '"><script>', lastName: 'Hopper', password: 'short' })
  expect(typed.text).toContain('value="&quot;&gt;&lt;script&gt;"')
  expect(typed.text).not.toContain('short')
  expect((await visit(service).post(path, { ...fields, firstName: 'Gr\0ace' })).status).toBe(303)
})

it('opens only its organization, and keeps an existing password', async () => {
  const [mine, another] = [await service.make.organization(), await service.make.organization()]
  const { email } = await joinAs(service, mine)
  // An admin of another organization has the link, but not the password.
  const path = await joinPath(service, another, email)
  const attempt = await visit(service).post(path, { ...fields, password: 'a password of their own' })
  expect(attempt.status).toBe(422)
  expect((await visit(service).post('/portal/sign-in', { email, password: 'a password of their own' })).status).toBe(422)
  expect((await visit(service).post('/portal/sign-in', { email, password: PASSWORD })).status).toBe(303)
})

it('grants an account of several organizations only the one whose link was used', async () => {
  const [one, other] = [await service.make.organization(), await service.make.organization()]
  const { userId, email } = await service.make.member(one.id, { roles: ['admin'] })
  const now = service.clock.now()
  const row = { id: service.deps.newId(), organizationId: other.id, userId, email, roles: ['admin'] }
  await service.db.member.create({ data: { ...row, joinedAt: now, createdAt: now, updatedAt: now } })
  const person = visit(service)
  expect((await person.post(await joinPath(service, other, email), fields)).status).toBe(303)
  expect((await person.get(`/portal/${other.id}/`)).status).toBe(200)
  expect((await person.get(`/portal/${one.id}/`)).status).toBe(404)
})
