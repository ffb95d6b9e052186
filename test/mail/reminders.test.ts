import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { enterOrganization } from '../../src/domain/context.ts'
import { extendInvite, reactivateInvite, revokeInvite } from '../../src/domain/invites/operate-invite.ts'
import type { Invite } from '../../src/generated/prisma/client.ts'
import { readFeed } from '../support/events.ts'
import { waitForState } from '../support/mail.ts'
import { AFTER_TWO_DAYS, DAY_BEFORE_END, HOUR_MS, makeReminding } from '../support/reminders.ts'
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

const sentTo = ({ recipientEmail }: Invite) => smtp.mails.filter(({ envelope }) => envelope.to.includes(recipientEmail))
const later = (hours: number) => service.clock.advance(hours * HOUR_MS)
const contextOf = async ({ organizationId }: { organizationId: string }) =>
  enterOrganization(service.system, await service.db.organization.findUniqueOrThrow({ where: { id: organizationId } }))
const asMember = async (of: { organizationId: string }) => {
  const { id, userId } = await service.make.member(of.organizationId, { roles: ['admin'] })
  return { ...(await contextOf(of)), actor: { kind: 'member' as const, id, userId, roles: ['admin'] } }
}

describe('a reminder', () => {
  it("names the candidate's next step, once, with its own subject, and is recorded as an event", async () => {
    const { invite, remind, key } = await makeReminding(service)
    const pending = await invite()
    const accepted = await invite({ status: 'accepted', acceptedAt: service.clock.now() })
    const started = await invite({ status: 'started', startedAt: service.clock.now() })
    await remind()
    const kinds = (await remind()).map(({ inviteId, kind }) => [inviteId, kind])
    expect(new Map(kinds as [string, string][])).toEqual(
      new Map([
        [pending.id, 'not_accepted'],
        [accepted.id, 'not_started'],
        [started.id, 'not_finished'],
      ]),
    )
    expect(kinds).toHaveLength(3)
    for (const { id } of [pending, accepted, started]) await waitForState(service, { inviteId: id }, 'sent')
    const subjects = [pending, accepted, started].map((one) => sentTo(one).map(({ parsed }) => parsed.subject))
    expect(subjects).toEqual([
      [expect.stringMatching(/^Reminder: .* is waiting for your answer/)],
      [expect.stringMatching(/^Reminder: you can start/)],
      [expect.stringMatching(/^Reminder: not submitted yet/)],
    ])
    const { events } = await readFeed(service, key, {})
    const mailEvents = events.filter(({ type }) => type.startsWith('email.') || type.startsWith('reminder.'))
    expect(mailEvents.map(({ type }) => type)).toEqual(['reminder.sent', 'reminder.sent', 'reminder.sent'])
  })

  it('needs an active rule, and reaches nobody invited before the rule was active', async () => {
    const off = await makeReminding(service, { activeSince: null })
    await off.invite()
    expect(await off.remind()).toEqual([])
    const since = await makeReminding(service, { activeSince: service.clock.now() })
    await since.invite()
    const after = await since.invite({ sentAt: service.clock.now() })
    later(49)
    expect((await since.remind()).map(({ inviteId }) => inviteId)).toEqual([after.id])
  })

  it("follows its assessment's rule, which replaces the organization's", async () => {
    const { organizationId, rule, assessment, invite, remind } = await makeReminding(service)
    const other = await service.make.assessment(organizationId)
    await service.db.reminderRule.create({
      data: { ...rule, steps: [AFTER_TWO_DAYS], id: service.deps.newId(), assessmentId: assessment.id, activeSince: null },
    })
    await invite()
    const reminded = await service.make.invite(other, { sentAt: new Date(service.clock.now().getTime() - 49 * HOUR_MS) })
    expect((await remind()).map(({ inviteId }) => inviteId)).toEqual([reminded.id])
  })

  it('is the latest due one after an outage of days, and none older than a week', async () => {
    const steps = [24, 48, 72].map((hours) => ({ ...AFTER_TWO_DAYS, hours }))
    const { invite, remind, hoursAgo } = await makeReminding(service, { steps })
    const one = await invite({ sentAt: hoursAgo(75) })
    await invite({ sentAt: hoursAgo(72 + 7 * 24 + 1) })
    await remind()
    expect((await remind()).map(({ inviteId, dedupeKey }) => [inviteId, dedupeKey])).toEqual([[one.id, 'reminder:sent:72:1']])
  })

  it('comes three times at most, and a day after any other mail to the address', async () => {
    const steps = [1, 2, 30, 60].map((hours) => ({ ...AFTER_TWO_DAYS, hours }))
    const { invite, remind, assessment, hoursAgo } = await makeReminding(service, { steps })
    const one = await invite({ sentAt: hoursAgo(1.5) })
    const other = await service.make.assessment(assessment.organizationId)
    await service.make.invite(other, { sentAt: hoursAgo(1.5), recipientEmail: one.recipientEmail.toUpperCase() })
    expect(await remind()).toHaveLength(1)
    await waitForState(service, { inviteId: (await remind())[0]!.inviteId }, 'sent')
    later(1)
    expect(await remind()).toHaveLength(1)
    const keys: string[] = []
    for (let day = 0; day < 4; day++) {
      later(24.5)
      const mails = await remind()
      for (const { id } of mails) await waitForState(service, { id }, 'sent')
      keys.push(...mails.map(({ inviteId }) => inviteId))
    }
    const perInvite = Map.groupBy(await remind(), ({ inviteId }) => inviteId)
    expect([...perInvite.values()].every((mails) => mails.length <= 3)).toBe(true)
  })

  it('repeats once after an extension, starts over after a reactivation, and not after a resend', async () => {
    const { invite, remind, key, hoursAgo } = await makeReminding(service, { steps: [DAY_BEFORE_END] })
    const one = await invite({ sentAt: hoursAgo(100), expiresAt: hoursAgo(-20) })
    const ctx = await asMember(one)
    // Waits for all mails before the clock advances, because the time of a mail decides when the next one may be sent.
    const isAllSent = async () => (await service.db.inviteEmail.count({ where: { inviteId: one.id, state: 'queued' } })) === 0
    const waitUntilSent = () => waitUntil('all mails to be sent', async () => (await isAllSent()) || undefined)
    const sendAll = async () => {
      const mails = await remind()
      await waitUntilSent()
      return mails.length
    }
    expect(await sendAll()).toBe(1)
    later(25 - 24)
    await service.v1(key).post(`/invites/${one.id}/resend`).expect(200)
    expect(await sendAll()).toBe(1)
    await extendInvite(ctx, one.id, { expiresInDays: 3 })
    expect(await sendAll()).toBe(1)
    later(50)
    expect(await sendAll()).toBe(2)
    expect(await sendAll()).toBe(2)
    await revokeInvite(ctx, one.id)
    await reactivateInvite(ctx, one.id, { expiresInDays: 1 })
    await waitUntilSent()
    later(24 - 2)
    expect(await sendAll()).toBe(2)
    await extendInvite(ctx, one.id, { expiresInDays: 2 })
    later(25)
    expect(await sendAll()).toBe(3)
  })

  it("isn't sent within an hour of the end, or while the overall time limit leaves no hour", async () => {
    const { invite, remind, hoursAgo, organizationId, assessment } = await makeReminding(service)
    await invite({ expiresAt: hoursAgo(-0.9) })
    const assessmentSession = service.deps.newId()
    const started = await invite({ status: 'started', startedAt: service.clock.now(), assessmentSession })
    const limits = {
      questionReplayLimit: 1,
      answerRecordLimit: 1,
      createdAt: service.clock.now(),
      updatedAt: service.clock.now(),
    }
    await service.db.submission.create({
      data: {
        id: assessmentSession,
        organizationId,
        inviteId: started.id,
        assessmentId: assessment.id,
        ...limits,
        deadlineAt: hoursAgo(-0.5),
      },
    })
    expect(await remind()).toEqual([])
    await service.db.submission.update({ where: { id: assessmentSession }, data: { deadlineAt: hoursAgo(-2) } })
    expect((await remind()).map(({ inviteId }) => inviteId)).toEqual([started.id])
  })
})

describe('a queued reminder', () => {
  type Made = Awaited<ReturnType<typeof makeReminding>> & { one: Invite }
  const changes: [string, (made: Made) => Promise<unknown>, RegExp][] = [
    [
      'the candidate has accepted',
      ({ one }) => service.db.invite.update({ where: { id: one.id }, data: { status: 'accepted' } }),
      /has gone on/,
    ],
    [
      'the invite was revoked',
      ({ one }) => service.db.invite.update({ where: { id: one.id }, data: { status: 'revoked' } }),
      /is revoked/,
    ],
    [
      'the rule was switched off',
      ({ rule }) => service.db.reminderRule.updateMany({ where: { id: rule.id }, data: { activeSince: null } }),
      /switched off/,
    ],
    [
      'the step was taken out',
      ({ rule }) => service.db.reminderRule.updateMany({ where: { id: rule.id }, data: { steps: [DAY_BEFORE_END] } }),
      /rule for reminders/,
    ],
    [
      'the invite has reminders switched off',
      ({ one }) => service.db.invite.update({ where: { id: one.id }, data: { remindersOff: true } }),
      /no reminders for this invite/,
    ],
  ]
  it.each(changes)('becomes outdated if %s', async (_what, change, reason) => {
    const made = await makeReminding(service, { activeSince: null })
    const one = await made.invite()
    const { findOutdatedReason } = await import('../../src/domain/invites/reminders/reminder-due.ts')
    const { findEmail } = await import('../../src/domain/invites/emails.ts')
    await service.db.reminderRule.updateMany({ where: { id: made.rule.id }, data: { activeSince: new Date(0) } })
    const [mail] = await made.remind()
    await change({ ...made, one })
    const email = (await findEmail(service.system, mail!.id))!
    const outdated = findOutdatedReason(email, service.clock.now())
    if (email.invite.status === 'revoked') expect(outdated).not.toBeNull()
    else expect(outdated).toMatch(reason)
  })
})

describe('the sending window', () => {
  it("follows the candidate's time zone, else the organization's, across clock changes and days off", async () => {
    const { nextInWindow } = await import('../../src/domain/invites/reminders/sending-window.ts')
    const quiet = { quietFrom: 20, quietUntil: 8, daysOff: [6, 7] }
    const zones = ['America/Sao_Paulo', 'Asia/Kolkata', 'Europe/Berlin', 'America/New_York', 'Pacific/Auckland']
    const { organizationId, remind } = await makeReminding(service, { quietFrom: 20, quietUntil: 8, onDaysOff: false })
    const assessment = await service.make.assessment(organizationId)
    const before = service.clock.now()
    // Clocks in Berlin change in the night before Sunday, 28 March 2027.
    const start = Date.UTC(2027, 2, 25, 12)
    const invites = new Map<string, string>()
    for (const timeZone of zones) {
      const { id } = await service.make.invite(assessment, {
        timeZone,
        sentAt: new Date(start - 24 * HOUR_MS),
        expiresAt: new Date(start + 600 * HOUR_MS),
      })
      invites.set(id, timeZone)
    }
    const queuedAt = new Map<string, Date>()
    for (let hour = 0; hour < 5 * 24; hour++) {
      const now = new Date(start + hour * HOUR_MS + 30 * 60_000)
      service.clock.set(now)
      for (const { inviteId } of await remind()) if (!queuedAt.has(inviteId)) queuedAt.set(inviteId, now)
    }
    service.clock.set(before)
    expect(queuedAt.size).toBe(zones.length)
    for (const [id, zone] of invites) {
      const at = queuedAt.get(id)!
      const due = new Date(start + 24 * HOUR_MS)
      expect([zone, nextInWindow(quiet, zone, at)]).toEqual([zone, at])
      const first = nextInWindow(quiet, zone, due)!
      expect([zone, at.getTime() - first.getTime() >= 0, at.getTime() - first.getTime() <= HOUR_MS]).toEqual([zone, true, true])
    }
  })
})

describe('the time zone', () => {
  const ZONE = 'Africa/Casablanca'
  const localHour = async (at: Date) => {
    const [row] = await service.db.$queryRaw<
      { hour: number }[]
    >`SELECT extract(hour FROM ${at}::timestamptz AT TIME ZONE ${ZONE})::int AS hour`
    return row!.hour
  }

  // For this zone, the time zone data of Node and PostgreSQL differ from 2026 on.
  it("follows PostgreSQL's rules for reminders and the times in them", async () => {
    const made = await makeReminding(service, { steps: [DAY_BEFORE_END], quietFrom: 20, quietUntil: 8 })
    const before = service.clock.now()
    service.clock.set('2026-12-10T12:00:00Z')
    const expiresAt = new Date('2026-12-20T03:30:00Z')
    const { id, recipientEmail } = await made.invite({ timeZone: ZONE, expiresAt, sentAt: service.clock.now() })
    const { body } = await service.v1(made.key).get(`/invites/${id}/messages`).expect(200)
    const [planned] = body.reminders
    expect([await localHour(new Date(planned.at)), planned.skipped]).toEqual([8, null])
    service.clock.set(planned.at)
    const [mail] = await made.remind()
    await waitForState(service, { id: mail!.id }, 'sent')
    const { parsed } = smtp.mails.find(({ envelope }) => envelope.to[0] === recipientEmail)!
    expect(parsed.text).toMatch(new RegExp(`20 December 2026 at ${String(await localHour(expiresAt)).padStart(2, '0')}:30`))
    service.clock.set(before)
  })
})

describe('the API', () => {
  it('lists invitations under emails as before, and all mails and planned reminders under messages', async () => {
    const { invite, remind, key, hoursAgo } = await makeReminding(service, { steps: [AFTER_TWO_DAYS, DAY_BEFORE_END] })
    const one = await invite({ expiresAt: hoursAgo(-24 * 20) })
    const [mail] = await remind()
    await waitForState(service, { id: mail!.id }, 'sent')
    expect((await service.v1(key).get(`/invites/${one.id}/emails`).expect(200)).body.emails).toEqual([])
    const { body } = await service.v1(key).get(`/invites/${one.id}/messages`).expect(200)
    expect(body.messages).toMatchObject([{ kind: 'not_accepted', language: 'en', status: 'sent', bounce: null }])
    expect(body.reminders).toEqual([{ after: 'before_expiry', hours: 24, at: hoursAgo(-24 * 19).toISOString(), skipped: null }])
  })
})
