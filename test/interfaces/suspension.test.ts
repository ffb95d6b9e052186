import { afterAll, expect, it } from 'vitest'
import { inMode } from '../../src/domain/context.ts'
import { createInvite } from '../../src/domain/invites/create-invite.ts'
import { runCli } from '../cli/run-cli.ts'
import { candidateOf } from '../support/candidate.ts'
import { asOperator, signInAs } from '../support/portal.ts'
import { startReceiver } from '../support/receiver.ts'
import { startServiceForFile } from '../support/service.ts'
import { startSmtpListener } from '../support/smtp.ts'
import { waitUntil } from '../support/wait-until.ts'
import { makeIntegrator, TO_LOOPBACK } from '../support/webhooks.ts'

const smtp = await startSmtpListener()
afterAll(smtp.close)
const service = await startServiceForFile({ ...TO_LOOPBACK, SMTP_URL: smtp.url })
const mailedTo = (address: string) => smtp.mails.filter(({ envelope }) => envelope.to.includes(address))

/** Creates an organization with an owner, a grader, a key, a webhook, and a candidate. */
async function start() {
  const organization = await makeIntegrator(service)
  const receiver = await startReceiver((response) => void response.writeHead(200).end())
  const webhook = await organization.subscribe(receiver)
  const owner = await signInAs(service, organization.id, ['admin'], ['owner'])
  await service.db.organization.update({ where: { id: organization.id }, data: { ownerNamedAt: service.clock.now() } })
  const invite = await service.db.invite.findUniqueOrThrow({ where: { id: await organization.invite() } })
  await waitUntil('the first event', () => receiver.received.length > 0 || undefined)
  const key = async () => {
    const v1 = await service.v1(organization.key).get('/invites')
    const alternate = await service.alternate(organization.key).get('/tags')
    return [v1.status, v1.headers['x-error-code'] ?? null, alternate.status]
  }
  const mails = async () =>
    (await service.db.memberEmail.findMany({ where: { organizationId: organization.id }, orderBy: { id: 'asc' } })).map(
      (mail) => [mail.kind, mail.memberId === owner.member.id],
    )
  return { organization, receiver, webhook, owner, invite, key, mails, candidate: candidateOf(service, invite) }
}

it('suspends an organization at once when an owner requests its erasure, and resumes it when one cancels', async () => {
  const { organization, receiver, owner, key, mails, candidate } = await start()
  const grader = await signInAs(service, organization.id, ['grader'])
  const path = `${owner.home}settings/erase-organization`
  expect((await owner.get(`${owner.home}settings`)).text).toContain(path)
  expect((await owner.get(path)).text).toContain('For 14 days any owner can keep the organization')
  const wrong = await owner.post(path, { name: 'something else' })
  expect([wrong.status, wrong.text]).toEqual([
    422,
    expect.stringContaining('Type the organization’s name exactly as shown above.'),
  ])
  expect(await key()).toEqual([200, null, 200])

  expect((await owner.post(path, { name: organization.name })).status).toBe(303)
  expect(await key()).toEqual([401, 'organization_suspended', 401])
  expect([(await candidate.open()).status, (await candidate.press('accept')).status]).toEqual([404, 404])
  expect(await mails()).toEqual([['organization_ending', true]])
  for (const page of ['', 'invites', 'settings/organization', 'no-such-page']) {
    const { status, text } = await grader.get(grader.home + page)
    expect([page, status]).toEqual([page, 403])
    expect(text).toContain('will be erased')
    expect(text).not.toContain('hold/keep')
  }
  expect((await grader.post(`${grader.home}hold/keep`)).status).toBe(403)
  expect((await owner.post(`${owner.home}tags`, { name: 'A tag' })).status).toBe(403)
  expect(await service.db.tag.count({ where: { organizationId: organization.id } })).toBe(0)
  const held = await owner.get(owner.home)
  expect([held.status, held.text]).toEqual([403, expect.stringContaining(`${owner.home}hold/keep`)])
  const [, exported] = /action="([^"]*results\/assessments\/[^"]*)"/.exec(held.text)!
  for (const address of [`${owner.home}invites/export`, `${owner.home}members/export`, exported!]) {
    const { status, headers } = await owner.post(address)
    expect([address, status, headers['content-type']]).toEqual([address, 200, expect.stringContaining('text/csv')])
    expect((await grader.post(address)).status).toBe(403)
  }

  // Work in progress may still create invites. Their mails and webhooks wait.
  const [before, operator] = [receiver.received.length, asOperator(service, organization)]
  const { id } = await createInvite(inMode(operator, 'live'), {
    assessmentId: organization.assessmentId,
    recipientEmail: 'waits@example.com',
  } as never)
  const mail = await waitUntil(
    'the mail to be put off',
    async () => (await service.db.inviteEmail.findFirst({ where: { inviteId: id, delayedUntil: { not: null } } })) ?? undefined,
  )
  await waitUntil(
    'the delivery',
    async () =>
      (await service.db.webhookDelivery.count({ where: { organizationId: organization.id, state: 'waiting' } })) || undefined,
  )
  expect([mail.state, receiver.received.length, mailedTo('waits@example.com')]).toEqual(['queued', before, []])

  expect((await owner.post(`${owner.home}hold/keep`)).status).toBe(303)
  expect(await key()).toEqual([200, null, 200])
  expect([(await candidate.open()).status, (await grader.get(grader.home)).status]).toEqual([200, 200])
  expect(await mails()).toEqual([
    ['organization_ending', true],
    ['organization_kept', true],
  ])
  await waitUntil('the waiting webhooks', () => receiver.received.length > before || undefined)
  await service.deps.queue.bringMailForward(mail.id)
  await waitUntil('the mail', () => mailedTo('waits@example.com').length === 1 || undefined)
  const ownerMails = await waitUntil('the mails to the owner', () => {
    const mails = mailedTo(owner.member.email)
    return mails.length === 2 ? mails : undefined
  })
  expect(ownerMails.map(({ parsed }) => parsed.subject)).toEqual([
    `${organization.name} is going to be erased`,
    `${organization.name} will not be erased`,
  ])
  expect(ownerMails[0]!.parsed.text).toContain(`${service.site.publicUrl}${owner.home}`)
  expect((await owner.post(`${owner.home}hold/keep`)).status).toBe(303)
  expect((await owner.get(`${owner.home}settings/audit-log`)).text).toContain('stopped the erasure of the organization')
})

it('allows owners, or admins if no owner is named, to request the erasure, and notifies all of them', async () => {
  const { organization, owner, key } = await start()
  const path = `${owner.home}settings/erase-organization`
  const admin = await signInAs(service, organization.id, ['admin'])
  expect([(await admin.get(path)).status, (await admin.post(path, { name: organization.name })).status]).toEqual([404, 404])
  expect(await key()).toEqual([200, null, 200])

  const unowned = await service.make.organization()
  const first = await signInAs(service, unowned.id, ['admin'])
  const second = await signInAs(service, unowned.id, ['admin'])
  expect((await first.post(`${first.home}settings/erase-organization`, { name: unowned.name })).status).toBe(303)
  const mails = await service.db.memberEmail.findMany({ where: { organizationId: unowned.id, kind: 'organization_ending' } })
  expect(new Set(mails.map(({ memberId }) => memberId))).toEqual(new Set([first.member.id, second.member.id]))
})

it('requests and cancels the erasure by the command line, which doctor and running processes notice', async () => {
  const { organization, key } = await start()
  const env = { DATABASE_URL: service.databaseUrl, PUBLIC_URL: 'https://assessments.example.com' }
  expect((await runCli(['org', 'erase', organization.id, 'Another'], env)).code).toBe(1)
  const asked = await runCli(['org', 'erase', organization.id, organization.name, '--json'], env)
  expect([asked.code, JSON.parse(asked.stdout)]).toMatchObject([0, { organization: organization.id, startedAt: null }])
  await waitUntil('the key to be refused', async () => ((await key())[0] === 401 ? true : undefined))
  expect((await runCli(['org', 'cancel-erasure', organization.id], env)).stdout).toContain('is kept')
  await waitUntil('the key to be accepted', async () => ((await key())[0] === 200 ? true : undefined))
  expect((await runCli(['org', 'cancel-erasure', organization.id], env)).stdout).toContain('is not suspended')
})
