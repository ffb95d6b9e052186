import { afterAll, beforeAll, expect, it } from 'vitest'
import { DIGESTS } from '../../src/domain/mails/member-emails.ts'
import { queueDigests } from '../../src/domain/submissions/grading/queue-digests.ts'
import { makeSubmitted } from '../support/grading.ts'
import { signInAs } from '../support/portal.ts'
import { type Service, startService } from '../support/service.ts'
import { type SmtpListener, startSmtpListener } from '../support/smtp.ts'
import { waitUntil } from '../support/wait-until.ts'

let service: Service
let smtp: SmtpListener
beforeAll(async () => {
  smtp = await startSmtpListener()
  service = await startService({ SMTP_URL: smtp.url })
})
afterAll(async () => {
  await service.close()
  await smtp.close()
})

/** 8:30 in Kolkata is 3:00 UTC. */
const at = (day: number, hour: number, minute = 0) => service.clock.set(Date.UTC(2027, 1, day, hour, minute))
/** Monday. */
const MONDAY = 8

async function makeReader(roles: string[], notices: string[]) {
  at(MONDAY - 1, 12)
  const made = await makeSubmitted(service)
  const reader = await signInAs(service, made.organization.id, roles)
  await service.db.member.update({ where: { id: reader.member.id }, data: { notices, timeZone: 'Asia/Kolkata' } })
  const list = async () => {
    await queueDigests(service.system)
    return service.db.memberEmail.findMany({ where: { memberId: reader.member.id }, orderBy: { id: 'asc' } })
  }
  return { ...made, reader, list }
}

it("reports new submissions in the queue each weekday at eight in the reader's morning, and names nobody", async () => {
  const { reader, list, invite } = await makeReader(['admin'], ['grading_digest'])
  at(MONDAY, 2, 29)
  expect(await list()).toEqual([])
  at(MONDAY, 2, 31)
  await list()
  expect(await list()).toMatchObject([
    { kind: 'grading_digest', facts: { count: 1, fresh: 1 }, dedupeKey: 'grading_digest:2027-02-08' },
  ])
  const mail = await waitUntil('the digest', async () =>
    smtp.mails.find(({ envelope }) => envelope.to.includes(reader.member.email)),
  )
  expect(mail.parsed.subject).toContain('submissions to grade: 1')
  expect(mail.parsed.text).toContain(`${reader.home}grading`)
  expect(mail.parsed.text).not.toContain(invite.recipientEmail)
  at(MONDAY + 1, 2, 31)
  expect(await list()).toHaveLength(1)
})

it('names the languages in which answers have no grader, to admins', async () => {
  const { reader, list, assessment, submissionId } = await makeReader(['admin'], ['grading_digest'])
  const of = { organizationId: assessment.organizationId, submissionId, round: 1 }
  const answers = [
    { ...of, questionNumber: 1, language: 'eu' },
    { ...of, questionNumber: 2, language: null },
  ]
  await service.db.gradingAssignment.createMany({ data: answers })
  at(MONDAY, 2, 31)
  const withoutGrader = expect.arrayContaining([
    { language: 'eu', count: 1 },
    { language: null, count: 1 },
  ])
  expect(await list()).toMatchObject([{ facts: { count: 1, fresh: 1, withoutGrader } }])
  const mail = await waitUntil('the digest', async () =>
    smtp.mails.find(({ envelope }) => envelope.to.includes(reader.member.email)),
  )
  expect(mail.parsed.text).toContain('Answers in Basque without a grader: 1.')
  expect(mail.parsed.text).toContain('Answers without a grader: 1.')
})

it('sends nothing on a weekend, and on Monday reports what came since Friday', async () => {
  const { list } = await makeReader(['admin'], ['grading_digest'])
  at(MONDAY - 1, 2, 31)
  expect(await list()).toEqual([])
  at(MONDAY, 2, 31)
  expect(await list()).toHaveLength(1)
})

it('lists expiring invites for the member who invited, and returned mails for admins', async () => {
  const { list, reader, assessment, invite } = await makeReader(['admin'], ['expiring_digest', 'bounce_digest'])
  at(MONDAY, 2, 31)
  expect(await list()).toEqual([])
  const end = (hours: number) => new Date(service.clock.now().getTime() + hours * 3_600_000)
  await service.make.invite(assessment, { createdById: reader.member.id, expiresAt: end(40) })
  await service.make.invite(assessment, { createdById: reader.member.id, expiresAt: end(60) })
  await service.make.invite(assessment, { expiresAt: end(40) })
  const times = { createdAt: end(-10), updatedAt: end(-10), bouncedAt: end(-9), bounce: 'address' }
  const of = { organizationId: invite.organizationId, inviteId: invite.id, linkVersion: 1 }
  await service.db.inviteEmail.create({ data: { id: service.deps.newId(), ...of, state: 'sent', ...times } })
  await list()
  expect((await list()).map(({ kind, facts }) => [kind, facts])).toEqual([
    ['expiring_digest', { count: 1, fresh: 1 }],
    ['bounce_digest', { count: 1, fresh: 1 }],
  ])
})

it('is off for each member until they switch it on', async () => {
  const { organization } = await makeSubmitted(service)
  const reader = await signInAs(service, organization.id, ['admin'])
  const stored = () => service.db.member.findUniqueOrThrow({ where: { id: reader.member.id } })
  expect((await stored()).notices).toEqual([])
  const page = (await reader.get(`${reader.home}account`)).text
  for (const kind of DIGESTS) expect(page).toContain(`value="${kind}"`)
  await reader.post(`${reader.home}account/preferences`, { hasNotices: 'yes', notices: ['grading_digest', 'bounce_digest'] })
  expect((await stored()).notices).toEqual(['grading_digest', 'bounce_digest'])
  await reader.post(`${reader.home}account/preferences`, { pageSize: '50' })
  expect((await stored()).notices).toEqual(['grading_digest', 'bounce_digest'])
  expect((await reader.post(`${reader.home}account/preferences`, { hasNotices: 'yes', notices: 'all' })).status).toBe(422)
  await reader.post(`${reader.home}account/preferences`, { hasNotices: 'yes' })
  expect((await stored()).notices).toEqual([])
})
