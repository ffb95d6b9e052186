import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { suppressAddressOf } from '../../src/domain/invites/suppress-bounced.ts'
import { readFeed } from '../support/events.ts'
import { queueMail, waitForState } from '../support/mail.ts'
import { signInAs } from '../support/portal.ts'
import { type Service, startService } from '../support/service.ts'
import { type SmtpListener, startSmtpListener } from '../support/smtp.ts'

let service: Service
let smtp: SmtpListener
beforeAll(async () => {
  smtp = await startSmtpListener({
    onRcptTo: ({ address }, _session, callback) =>
      callback(address.startsWith('gone') ? Object.assign(new Error('5.1.1 No such user'), { responseCode: 550 }) : null),
  })
  service = await startService({ SMTP_URL: smtp.url })
})
afterAll(async () => {
  await service.close()
  await smtp.close()
})

async function makeOrganization() {
  const { id, key } = await service.make.organization()
  const assessment = await service.make.assessment(id)
  await service.make.question(assessment)
  const invite = (recipientEmail: string) =>
    service.v1(key).post('/invites').send({ assessmentId: assessment.id, recipientEmail })
  const list = async () => (await service.v1(key).get('/suppressions').expect(200)).body.suppressions
  return { id, key, assessment, invite, list }
}
const address = (word: string) => `${word}.${crypto.randomUUID()}@Example.com`
const sentTo = (to: string) =>
  smtp.mails.filter(({ envelope }) => envelope.to.some((one) => one.toLowerCase() === to.toLowerCase())).length

describe('an address without a mailbox', () => {
  it('gets no more mail from the organization, though it can still be invited', async () => {
    const [own, others] = [await makeOrganization(), await makeOrganization()]
    const to = address('gone')
    const first = await own.invite(to).expect(201)
    await waitForState(service, { inviteId: first.body.invite.id }, 'failed')
    expect(await own.list()).toMatchObject([{ address: to.toLowerCase(), reason: 'bounce', until: null }])

    const again = await service.make.assessment(own.id)
    await service.make.question(again)
    const { body } = await service
      .v1(own.key)
      .post('/invites')
      .send({ assessmentId: again.id, recipientEmail: to.toUpperCase() })
      .expect(201)
    const email = await waitForState(service, { inviteId: body.invite.id }, 'failed')
    expect(email).toMatchObject({ failure: 'suppressed', reason: expect.stringMatching(/^Not sent: .*no such mailbox\.$/) })
    const { events } = await readFeed(service, own.key, { type: 'email.failed' })
    expect(events.map(({ data }) => data.reason)).toEqual(['refused', 'suppressed'])
    const { messages } = (await service.v1(own.key).get(`/invites/${body.invite.id}/messages`).expect(200)).body
    expect(messages).toMatchObject([{ status: 'failed', suppressed: true, bounce: null }])

    expect(await others.list()).toEqual([])
    const theirs = await others.invite(to).expect(201)
    expect(await waitForState(service, { inviteId: theirs.body.invite.id }, 'failed')).toMatchObject({ failure: 'refused' })
  })
})

describe('a temporary bounce', () => {
  it('causes a pause of two weeks at its third time in a row', async () => {
    const { id, key, list } = await makeOrganization()
    const recipientEmail = address('full')
    const sendAndBounce = async (bounce: 'temporary' | null) => {
      service.clock.advance(1_000)
      const invite = await service.make.invite(await service.make.assessment(id), { recipientEmail })
      const emailId = await queueMail(service, invite)
      await waitForState(service, { id: emailId }, 'sent')
      if (bounce === null) return
      await service.db.inviteEmail.updateMany({ where: { id: emailId }, data: { bounce, bouncedAt: service.clock.now() } })
      await suppressAddressOf(service.system, emailId, bounce)
    }
    for (const bounce of ['temporary', 'temporary', null, 'temporary', 'temporary'] as const) await sendAndBounce(bounce)
    expect(await list()).toEqual([])
    await sendAndBounce('temporary')
    const days = ({ since, until }: { since: string; until: string }) => (Date.parse(until) - Date.parse(since)) / 86_400_000
    const kept = await list()
    expect(kept).toMatchObject([{ reason: 'full' }])
    expect(days(kept[0])).toBe(14)
    service.clock.advance(14 * 86_400_000)
    expect((await service.v1(key).get('/suppressions')).body.suppressions).toEqual([])
  })
})

describe('the suppression list', () => {
  it('is separate for live and test invites', async () => {
    const { id, key, assessment, list } = await makeOrganization()
    const { key: testKey } = await service.make.organization({ mode: 'test' })
    expect((await service.v1(testKey).get('/suppressions').expect(200)).body.suppressions).toEqual([])
    const recipientEmail = address('gone')
    const invite = await service.make.invite(assessment, { mode: 'test', recipientEmail })
    const emailId = await queueMail(service, invite)
    await suppressAddressOf(service.system, emailId, 'address')
    expect(await list()).toEqual([])
    expect(await service.db.suppression.count({ where: { organizationId: id, mode: 'test' } })).toBe(1)
    await service.v1(key).post('/suppressions').send({ address: recipientEmail }).expect(201)
    expect(await list()).toMatchObject([{ reason: 'manual' }])
  })

  it('can be changed with keys', async () => {
    const { key, list } = await makeOrganization()
    const to = address('anybody')
    const { body } = await service.v1(key).post('/suppressions').send({ address: to }).expect(201)
    const again = await service.v1(key).post('/suppressions').send({ address: to.toUpperCase() }).expect(201)
    expect(again.body).toEqual(body)
    await service.v1(key).post('/suppressions').send({ address: 'nobody' }).expect(400)
    await service.v1(key).delete(`/suppressions/${body.suppression.id}`).expect(200)
    await service.v1(key).delete(`/suppressions/${body.suppression.id}`).expect(404)
    expect(await list()).toEqual([])
  })
})

describe('an admin', () => {
  it('is warned before inviting, sees why no mail was sent, and lifts a suppression with a reason', async () => {
    const { id, key, assessment } = await makeOrganization()
    const admin = await signInAs(service, id, ['admin'])
    const to = address('anybody')
    const { body } = await service.v1(key).post('/suppressions').send({ address: to }).expect(201)

    const form = {
      assessmentId: assessment.id,
      recipientEmail: to,
      sendEmail: 'yes',
      expiresInDays: '14',
      proctoring: 'assessment',
    }
    const limits = { questionReplayLimit: '3', answerRecordLimit: '3', extraTimePercent: '0' }
    const warned = await admin.post(`${admin.home}invites`, { ...form, ...limits })
    expect(warned.status).toBe(422)
    expect(warned.text).toContain('This address gets no emails.')
    const invited = await admin.post(`${admin.home}invites`, { ...form, ...limits, unmailed: 'yes' })
    expect(invited.status).toBe(303)
    const invite = await service.db.invite.findFirstOrThrow({ where: { organizationId: id } })
    await waitForState(service, { inviteId: invite.id }, 'failed')
    expect((await admin.get(`${admin.home}invites/${invite.id}`)).text).toContain('unblock the address')

    const lift = `${admin.home}settings/suppressions/${body.suppression.id}/lift`
    expect((await admin.post(lift, { why: ' ' })).status).toBe(422)
    expect((await admin.post(lift, { why: 'They have a new mailbox' })).status).toBe(303)
    const entries = await service.db.auditEntry.findMany({ where: { organizationId: id, action: 'lifted_suppression' } })
    expect(entries).toMatchObject([{ details: { was: 'manual', why: 'They have a new mailbox' } }])
    expect(JSON.stringify(entries)).not.toContain(to)
    await waitForState(service, { id: await queueMail(service, invite) }, 'sent')
    expect(sentTo(to)).toBe(1)
  })

  it('lifts a complaint only after confirming that mail is wanted', async () => {
    const { id, assessment } = await makeOrganization()
    const admin = await signInAs(service, id, ['admin'])
    const invite = await service.make.invite(assessment, { recipientEmail: address('anybody') })
    await suppressAddressOf(service.system, await queueMail(service, invite), 'complaint')
    const { id: suppressionId } = await service.db.suppression.findFirstOrThrow({ where: { organizationId: id } })
    const lift = `${admin.home}settings/suppressions/${suppressionId}/lift`
    expect((await admin.post(lift, { why: 'They asked for it' })).status).toBe(422)
    expect((await admin.post(lift, { why: 'They asked for it', sure: 'yes' })).status).toBe(303)
  })
})

it('warns an organization if many of its newest mails bounced', async () => {
  const { id, assessment } = await makeOrganization()
  const admin = await signInAs(service, id, ['admin'])
  const invite = await service.make.invite(assessment)
  const at = service.clock.now()
  const mail = { organizationId: id, inviteId: invite.id, linkVersion: 1, state: 'sent', createdAt: at, updatedAt: at } as const
  const add = (count: number, bounce: string | null) =>
    service.db.inviteEmail.createMany({
      data: Array.from({ length: count }, () => ({ ...mail, id: service.deps.newId(), bounce })),
    })
  const shown = async () => /(\d+ of the last \d+) bounced/.exec((await admin.get(admin.home)).text)?.[1]
  await add(38, null)
  await add(2, 'address')
  expect(await shown()).toBeUndefined()
  await add(1, 'address')
  expect(await shown()).toBe('3 of the last 41')
  await add(500, null)
  expect(await shown()).toBeUndefined()
})

it("doesn't stop account mails", async () => {
  const { id, key } = await makeOrganization()
  const admin = await signInAs(service, id, ['admin'])
  const to = `member.${crypto.randomUUID()}@example.com`
  await service.v1(key).post('/suppressions').send({ address: to }).expect(201)
  const answer = await admin.post(`${admin.home}members/invite`, { email: to, roles: 'grader' })
  expect(answer.status).toBe(200)
  await expect.poll(() => sentTo(to), { timeout: 30_000 }).toBe(1)
})
