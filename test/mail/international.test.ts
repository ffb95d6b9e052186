import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Server } from 'node:net'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { resolveAssessmentReferences } from '../../src/domain/assessments/assessment-references.ts'
import { listAuditEntries } from '../../src/domain/audit/audit-log.ts'
import { type Context, inMode } from '../../src/domain/context.ts'
import { findTraces } from '../../src/domain/erasure/find-traces.ts'
import { createBatch } from '../../src/domain/invites/batches/batches.ts'
import { inviteMember } from '../../src/domain/members/invite-member.ts'
import { findMemberId } from '../../src/domain/organization/organizations.ts'
import { findDomainOwner } from '../../src/domain/sign-in/domain-owners.ts'
import { addDomain } from '../../src/domain/single-sign-on/domains.ts'
import { readerOf } from '../support/candidate-lists.ts'
import { waitForState } from '../support/mail.ts'
import { asOperator, joinAs, PASSWORD, visit } from '../support/portal.ts'
import { type Service, startService } from '../support/service.ts'
import { type SmtpListener, startSmtpListener } from '../support/smtp.ts'

let modern: SmtpListener
let old: SmtpListener
let service: Service
let beside: Service
beforeAll(async () => {
  modern = await startSmtpListener()
  old = await startSmtpListener({ hideSMTPUTF8: true })
  service = await startService({ SMTP_URL: await recordCommands(modern) })
  beside = await startService({ SMTP_URL: await recordCommands(old) })
})
afterAll(async () => {
  await Promise.all([service.close(), beside.close()])
  await Promise.all([modern.close(), old.close()])
  for (const line of lines) line.close()
})

/** SMTP commands as sent: the test server would decode the domains. */
const commands: string[] = []
const lines: Server[] = []
async function recordCommands({ url }: SmtpListener): Promise<string> {
  const line = createServer((client) => {
    const server = connect(Number(new URL(url).port), '127.0.0.1')
    client.on('data', (bytes) => commands.push(...bytes.toString().split('\r\n')))
    for (const socket of [client, server]) socket.on('error', () => socket.destroy())
    client.pipe(server)
    server.pipe(client)
  })
  lines.push(line.listen(0, '127.0.0.1'))
  await once(line, 'listening')
  return `smtp://127.0.0.1:${(line.address() as AddressInfo).port}`
}
const lastRecipient = () => commands.findLast((text) => text.startsWith('RCPT TO'))?.split(/[<>]/)[1]

const [UNICODE, ASCII] = ['bücher.example', 'xn--bcher-kva.example']

async function start(on: Service) {
  const organization = await on.make.organization()
  const client = on.v1(organization.key)
  const invite = async (recipientEmail: string, status = 201) => {
    const { id: assessmentId } = await on.make.assessment(organization.id)
    return (await client.post('/invites').send({ assessmentId, recipientEmail }).expect(status)).body.invite
  }
  return { organization, client, invite }
}

it('sends to an international domain in punycode, whether or not the server supports SMTPUTF8', async () => {
  for (const on of [service, beside]) {
    const { invite } = await start(on)
    const { id, recipientEmail } = await invite(`Sam@${UNICODE}`)
    expect(recipientEmail).toBe(`Sam@${ASCII}`)
    await waitForState(on, { inviteId: id }, 'sent')
    expect(lastRecipient()).toBe(`Sam@${ASCII}`)
  }
})

it('sends to an international name if the server supports SMTPUTF8, and fails without a retry if not', async () => {
  const there = await start(service)
  const sent = await there.invite(`Jörg@${UNICODE}`)
  await waitForState(service, { inviteId: sent.id }, 'sent')
  // A server with SMTPUTF8 receives the whole address in Unicode.
  expect(lastRecipient()).toBe(`jörg@${UNICODE}`)
  expect(commands.findLast((text) => text.startsWith('MAIL FROM'))).toContain(' SMTPUTF8')
  expect(modern.mails.at(-1)!.parsed.to?.[0]?.address).toBe(`jörg@${UNICODE}`)

  const here = await start(beside)
  const before = old.mails.length
  const failed = await here.invite('jörg@example.com')
  const email = await waitForState(beside, { inviteId: failed.id }, 'failed')
  expect(email).toMatchObject({
    ...{ failure: 'refused', attempts: 1, bounce: 'blocked' },
    reason: 'The mail server takes no address with international letters before the @ (it offers no SMTPUTF8)',
  })
  // The failure affects neither the connection nor other mails.
  const next = await here.invite('sam@example.com')
  await waitForState(beside, { inviteId: next.id }, 'sent')
  expect(old.mails.slice(before).map(({ envelope }) => envelope.to)).toEqual([['sam@example.com']])
})

it('treats both forms of an address as one when inviting, searching, suppressing, and erasing', async () => {
  const { organization, client, invite } = await start(service)
  const { id: assessmentId } = await service.make.assessment(organization.id)
  const create = (recipientEmail: string) => client.post('/invites').send({ assessmentId, recipientEmail })
  await create(`sam@${ASCII}`).expect(201)
  await create(`sam@${UNICODE}`).expect(409)
  const { body: found } = await client.get('/invites').query({ recipientEmail: `SAM@${UNICODE.toUpperCase()}` })
  expect(found.invites).toHaveLength(1)

  await client
    .post('/suppressions')
    .send({ address: `Kim@${UNICODE}` })
    .expect(201)
  const { id } = await invite(`kim@${ASCII}`)
  expect(await waitForState(service, { inviteId: id }, 'failed')).toMatchObject({ failure: 'suppressed' })

  const ctx = asOperator(service, organization)
  expect(await findTraces(ctx, `sam@${UNICODE}`)).toEqual(await findTraces(ctx, `sam@${ASCII}`))
  expect(await findTraces(ctx, `Kim@${UNICODE}`)).toMatchObject({ invites: 1, suppressions: 1 })
})

it('treats both forms of an address as one in a list', async () => {
  const { organization, client } = await start(service)
  const { id: assessmentId } = await service.make.assessment(organization.id)
  const invites = [`sam@${UNICODE}`, `sam@${ASCII}`, `jörg@${UNICODE}`].map((recipientEmail) => ({ recipientEmail }))
  const { body, status } = await client.post('/invite-batches').send({ assessmentId, invites })
  expect(status).toBeLessThan(300)
  const rows = await service.db.inviteBatchRow.findMany({
    where: { organizationId: organization.id },
    orderBy: { number: 'asc' },
  })
  expect([Object.keys(body).length > 0, rows.map(({ email, state }) => [email, state])]).toEqual([
    true,
    [
      [`sam@${ASCII}`, expect.stringMatching(/ready|invited/)],
      [`sam@${ASCII}`, 'repeated'],
      [`jörg@${ASCII}`, expect.stringMatching(/ready|invited/)],
    ],
  ])
})

it('treats both forms of an address as one for members and for domains of a provider', async () => {
  const { organization } = await start(service)
  const ctx = asOperator(service, organization)
  const name = service.deps.newId()
  const { memberId } = await inviteMember(ctx, { email: `${name}@${UNICODE}`, roles: ['grader', 'client'], mails: false })
  const written = `${name}@${UNICODE.toUpperCase()}`
  expect(await findMemberId(service.system, organization.id, written)).toBe(memberId)
  await service.db.auditEntry.updateMany({ where: { organizationId: organization.id }, data: { actorId: memberId } })
  expect((await listAuditEntries(ctx, { who: written }, 1)).entries).toMatchObject([{ actorId: memberId }])
  const named = { languages: [], categories: [], tags: [], clients: [written] }
  expect(await resolveAssessmentReferences(ctx, named)).toMatchObject({ clientIds: [memberId] })

  const { id: assessmentId } = await service.make.assessment(organization.id)
  const actor: Context['actor'] = { kind: 'member', id: memberId, userId: memberId, roles: ['admin'] }
  const list = `email,grader\na@example.com,${written}\n`
  const batchId = await createBatch(
    { ...inMode(ctx, 'live'), actor },
    { assessmentId, readList: readerOf(list), terms: { sendEmail: false } },
  )
  const rows = await service.db.inviteBatchRow.findMany({ where: { organizationId: organization.id, batchId } })
  expect(rows).toMatchObject([{ state: 'ready', terms: { assignedGraderId: memberId } }])

  await addDomain(ctx, ` ${UNICODE.toUpperCase()}.`)
  await expect(addDomain(ctx, ASCII)).rejects.toMatchObject({ issues: [{ problem: 'taken' }] })
  await expect(addDomain(ctx, `foo@${UNICODE}`)).rejects.toMatchObject({ issues: [{ problem: 'notDomain' }] })
  await service.db.signInDomain.updateMany({ where: { domain: ASCII }, data: { verifiedAt: service.clock.now() } })
  expect(await findDomainOwner(service.system, written)).toEqual({ organizationId: organization.id })
})

it('signs a member in by either form', async () => {
  const organization = await service.make.organization()
  const name = service.deps.newId()
  await joinAs(service, organization, { email: `${name}@${UNICODE}` })
  for (const email of [`${name}@${ASCII}`, `${name}@${UNICODE}`])
    expect((await visit(service).post('/portal/sign-in', { email, password: PASSWORD })).status).toBe(303)
})
