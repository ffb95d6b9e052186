import { expect, it } from 'vitest'
import { signInAs } from '../../support/portal.ts'
import { AFTER_TWO_DAYS, makeReminding } from '../../support/reminders.ts'
import { startServiceForFile } from '../../support/service.ts'

const service = await startServiceForFile()
const STEP = { after1: 'sent', hours1: '48', states1: ['pending', 'accepted'] }
const HOURS = { quietFrom: '20', quietUntil: '8' }

async function start({ withRule = false } = {}) {
  const made = await makeReminding(service)
  if (!withRule) await service.db.reminderRule.deleteMany({ where: { organizationId: made.organizationId } })
  const admin = await signInAs(service, made.organizationId, ['admin'])
  const path = `${admin.home}settings/reminders`
  const rule = () => service.db.reminderRule.findFirst({ where: { organizationId: made.organizationId, assessmentId: null } })
  return { ...made, admin, path, rule }
}

it('saves a rule for invites sent after it is enabled, and audits it', async () => {
  const { admin, path, rule, organizationId, invite, remind } = await start()
  await admin.get(path).expect(200)
  expect((await admin.post(path, { ...STEP, ...HOURS })).status).toBe(303)
  expect(await rule()).toMatchObject({
    steps: [{ after: 'sent', hours: 48, states: ['pending', 'accepted'] }],
    activeSince: null,
    onDaysOff: false,
  })
  for (let i = 0; i < 3; i++) await invite()
  const saved = await admin.post(path, { ...STEP, quietFrom: '0', quietUntil: '0', onDaysOff: 'yes', isOn: 'yes' })
  expect(saved.headers.location).toBe(`${path}/open`)
  expect((await rule())!.activeSince).toEqual(service.clock.now())
  expect(await remind()).toEqual([])
  const entries = await service.db.auditEntry.findMany({ where: { organizationId, action: 'changed_reminders' } })
  expect(entries.map(({ details }) => (details as { isOn: boolean }).isOn)).toEqual([false, true])
})

it('previews reminders for earlier invites, and sends exactly those after a confirmation', async () => {
  const { admin, path, invite, remind, assessment, hoursAgo } = await start()
  const due = await Promise.all(Array.from({ length: 52 }, () => invite()))
  await invite({ status: 'completed' })
  await invite({ remindersOff: true })
  await invite({ sentAt: hoursAgo(48 + 7 * 24 + 1) })
  const soon = await invite({ sentAt: hoursAgo(20) })
  await admin.post(path, { ...STEP, quietFrom: '0', quietUntil: '0', onDaysOff: 'yes', isOn: 'yes' })
  expect((await admin.get(path)).text).toContain('Remind 53 open invites')
  const { text } = await admin.get(`${path}/open`)
  expect(text).toContain('The first 50')
  expect(text).toContain('<dt>Go out today</dt><dd>52</dd>')
  expect(text).toContain('<dt>Go out later</dt><dd>1</dd>')
  expect(text.match(/not accepted yet/g)).toHaveLength(50)
  expect(text).toContain(assessment.name)
  await admin.post(`${path}/open`)
  expect(await remind()).toEqual([])
  await admin.post(`${path}/open`, { sure: 'yes' })
  expect(new Set((await remind()).map(({ inviteId }) => inviteId))).toEqual(new Set(due.map(({ id }) => id)))
  service.clock.advance(29 * 3_600_000)
  const all = new Set((await remind()).map(({ inviteId }) => inviteId))
  expect(all).toEqual(new Set([...due, soon].map(({ id }) => id)))
})

it('shows mistakes at their fields', async () => {
  const { admin, path, rule } = await start()
  for (const [fields, words] of [
    [{ ...HOURS }, 'list of reminders'],
    [{ ...STEP, ...HOURS, hours1: '' }, 'number of hours of reminder 1'],
    [{ ...STEP, ...HOURS, hours1: '9000' }, 'number of hours of reminder 1'],
    [{ ...STEP, ...HOURS, after1: 'before_expiry', states1: ['started'] }, 'whom reminder 1 is for'],
    [{ ...STEP, ...HOURS, after2: 'sent', hours2: '48', states2: ['accepted'] }, 'number of hours of reminder 2'],
    [{ ...STEP, quietFrom: '24', quietUntil: '8' }, 'hour'],
  ] as const) {
    const answer = await admin.post(path, fields as never)
    expect([answer.status, words]).toEqual([422, words])
    expect(answer.text.toLowerCase()).toContain(words)
  }
  expect(await rule()).toBeNull()
})

it("keeps an assessment's own rule until it is reset to the organization's", async () => {
  const { admin, assessment, organizationId } = await start({ withRule: true })
  const own = `${admin.home}assessments/${assessment.id}/reminders`
  expect((await admin.get(own)).text).toContain('replaces them for this assessment')
  await admin.post(own, { ...STEP, ...HOURS, hours1: '5' })
  const find = () => service.db.reminderRule.findFirst({ where: { organizationId, assessmentId: assessment.id } })
  expect(await find()).toMatchObject({ steps: [{ hours: 5 }] })
  await admin.post(`${own}/drop`)
  expect(await find()).toBeNull()
  await admin.post(`${own}/notices`, { submitted: 'on', released: 'inherit' })
  expect(await service.db.assessment.findUniqueOrThrow({ where: { id: assessment.id } })).toMatchObject({
    submittedMail: true,
    releasedMail: null,
  })
  await admin.post(`${admin.home}settings/reminders/notices`, { released: 'yes' })
  expect((await service.db.organization.findUniqueOrThrow({ where: { id: organizationId } })).candidateMails).toEqual([
    'released',
  ])
})

it("shows an invite's planned and skipped reminders, and can stop them", async () => {
  const steps = [AFTER_TWO_DAYS, { ...AFTER_TWO_DAYS, hours: 24 }]
  const made = await makeReminding(service, { steps })
  const admin = await signInAs(service, made.organizationId, ['admin'])
  const { id } = await made.invite({ sentAt: made.hoursAgo(30) })
  const path = `${admin.home}invites/${id}`
  const { text } = await admin.get(path)
  expect(text).toContain('2 days after the invitation')
  expect(text).toContain('planned')
  await admin.post(`${path}/reminders-off`)
  expect((await admin.get(path)).text).toContain('not sent: reminders are off for this invite')
  expect(await made.remind()).toEqual([])
  await admin.post(`${path}/reminders-on`)
  expect(await made.remind()).toHaveLength(1)
})
