import { afterAll, beforeAll, expect, it } from 'vitest'
import { completeDueSubmissions } from '../../src/domain/submissions/taking/complete-due-submissions.ts'
import { makeSubmitted } from '../support/grading.ts'
import { waitForState } from '../support/mail.ts'
import { signInAs } from '../support/portal.ts'
import { runSweep } from '../support/run-sweep.ts'
import { type Service, startService } from '../support/service.ts'
import { type SmtpListener, startSmtpListener } from '../support/smtp.ts'
import { makeTaking } from '../support/taking.ts'

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

const kindsOf = async ({ id: organizationId }: { id: string }) =>
  (await service.db.inviteEmail.findMany({ where: { organizationId }, orderBy: { id: 'asc' } })).map(({ kind }) => kind)
const sentTo = (address: string) => smtp.mails.filter(({ envelope }) => envelope.to.includes(address))

it('sends only requested mails for an organization that has switched nothing on', async () => {
  const made = await makeSubmitted(service)
  const { ctx } = await made.join(['admin'])
  await made.grade(ctx, 1, 4)
  await made.grade(ctx, 2, 2)
  await made.release(ctx, { toCandidate: true })
  const other = await service.make.invite(made.assessment)
  const admin = await signInAs(service, made.organization.id, ['admin'])
  await admin.post(`${admin.home}invites/${other.id}/resend`)
  service.clock.advance(3 * 86_400_000)
  await runSweep(service)
  expect(await kindsOf(made.organization)).toEqual(['invitation'])
  expect(await service.db.memberEmail.count({ where: { organizationId: made.organization.id } })).toBe(0)
})

it('sends a receipt and a result notice once each if switched on, and the notice omits the result', async () => {
  const made = await makeSubmitted(service)
  await service.db.organization.update({
    where: { id: made.organization.id },
    data: { candidateMails: ['submitted', 'released'] },
  })
  expect(await kindsOf(made.organization)).toEqual([])
  const { ctx } = await made.join()
  await made.assign((ctx.actor as { id: string }).id)
  await made.grade(ctx, 1, 4)
  await made.grade(ctx, 2, 2)
  await made.release(ctx, { toCandidate: true, message: 'Well done, 75 %' })
  await waitForState(service, { inviteId: made.invite.id }, 'sent')
  const [mail] = sentTo(made.invite.recipientEmail)
  expect(mail!.parsed.subject).toMatch(/^Your result is ready: /)
  for (const part of [mail!.parsed.text, mail!.parsed.html]) {
    expect(part).not.toMatch(/75|Well done/)
    expect(part).toContain('/u/')
  }
  expect(mail!.parsed.text).toContain(made.candidate.path)
  expect(await kindsOf(made.organization)).toEqual(['released'])
})

it("sends no notice of a result that the candidate can't see", async () => {
  const made = await makeSubmitted(service)
  await service.db.organization.update({ where: { id: made.organization.id }, data: { candidateMails: ['released'] } })
  const { ctx } = await made.join()
  await made.assign((ctx.actor as { id: string }).id)
  await made.grade(ctx, 1, 4)
  await made.grade(ctx, 2, 2)
  await made.release(ctx)
  expect(await kindsOf(made.organization)).toEqual([])
})

it("applies the assessment's setting before the organization's, and says if time ran out", async () => {
  const made = await makeTaking(service, { timeLimit: 600 })
  const where = { id: made.assessment.id }
  await service.db.assessment.update({ where, data: { submittedMail: true } })
  service.clock.advance(11 * 60_000)
  await completeDueSubmissions(service.system)
  await waitForState(service, { inviteId: made.invite.id }, 'sent')
  expect(await kindsOf(made.organization)).toEqual(['submitted'])
  expect(sentTo(made.invite.recipientEmail)[0]!.parsed.text).toContain('was up')
  const silent = await makeTaking(service)
  await service.db.organization.update({ where: { id: silent.organization.id }, data: { candidateMails: ['submitted'] } })
  await service.db.assessment.update({ where: { id: silent.assessment.id }, data: { submittedMail: false } })
  await silent.candidate.press('finish')
  expect((await silent.stored()).status).toBe('completed')
  expect(await kindsOf(silent.organization)).toEqual([])
})
