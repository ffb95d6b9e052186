import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { compile } from '../../../src/db/statements.ts'
import { tenantDb } from '../../../src/db/tenant-db.ts'
import { enterOrganization } from '../../../src/domain/context.ts'
import { type InviteEmail, recordEmailAttempt } from '../../../src/domain/invites/emails.ts'
import { createMailLimiter } from '../../../src/domain/invites/mail-limits.ts'
import { nthMailTime } from '../../../src/domain/invites/mail-schedule.ts'
import { moveInvite } from '../../../src/domain/invites/move-invite.ts'
import { setMailsPerDay } from '../../../src/domain/organization/organizations.ts'
import { waitForState } from '../../support/mail.ts'
import { signInAs } from '../../support/portal.ts'
import { recordQueries } from '../../support/queries.ts'
import { type Service, startService } from '../../support/service.ts'
import { type SmtpListener, startSmtpListener } from '../../support/smtp.ts'
import { waitUntil } from '../../support/wait-until.ts'

let service: Service
let smtp: SmtpListener
beforeAll(async () => {
  smtp = await startSmtpListener()
  service = await startService({ SMTP_URL: smtp.url, MAILS_PER_RECIPIENT: '3', MAILS_PER_ORGANIZATION: '5' })
})
afterAll(async () => {
  await service.close()
  await smtp.close()
})

const MINUTE_MS = 60_000
const DAY_MS = 86_400_000

/** Creates an organization with assessments, and functions to invite candidates and to operate the invites. */
async function setUp(assessments = 1) {
  const organization = await service.make.organization()
  const ids: string[] = []
  for (let i = 0; i < assessments; i++) ids.push((await service.make.assessment(organization.id)).id)
  const client = service.v1(organization.key)
  const invite = async (recipientEmail: string, assessmentId = ids[0]!) => {
    const { status, body } = await client.post('/invites').send({ assessmentId, recipientEmail })
    expect(status).toBe(201)
    return body.invite.id as string
  }
  const operate = (id: string, name: string, fields: object = {}) => client.post(`/invites/${id}/${name}`).send(fields)
  const emails = async (id: string) => (await client.get(`/invites/${id}/emails`)).body.emails as { status: string }[]
  return { organization, ids, client, invite, operate, emails }
}

/** The fields of a mail that the limiter reads. */
const emailOf = (organizationId: string, invite: { recipientEmail: string }) =>
  ({ organizationId, delayedUntil: null, invite: { ...invite, organization: { mailsPerDay: null } } }) as unknown as InviteEmail

const receivedBy = (address: string) => smtp.mails.filter(({ envelope }) => envelope.to[0] === address)

describe('a resent invitation', () => {
  it("reaches an address once a minute at most, and doesn't delay another organization's mail", async () => {
    const { invite, operate, emails } = await setUp()
    const quiet = await setUp()
    const id = await invite('weary@example.com')
    const answers: { status: number; headers: Record<string, string>; body: { error?: string } }[] = []
    for (let i = 0; i < 211; i += 5) {
      const some = await Promise.all(Array.from({ length: Math.min(5, 211 - i) }, () => operate(id, 'resend')))
      answers.push(...some)
    }
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(1)
    const refused = answers.filter(({ status }) => status === 429)
    expect(refused).toHaveLength(210)
    expect(refused[0]!.headers).toMatchObject({ 'retry-after': '60', 'x-error-code': 'too_many_mails' })
    expect(refused[0]!.body.error).toContain(new Date(service.clock.now().getTime() + MINUTE_MS).toISOString())
    expect(await emails(id)).toHaveLength(2)
    const other = await quiet.invite('calm@example.com')
    await waitForState(service, { inviteId: other }, 'sent')
    expect(receivedBy('calm@example.com')).toHaveLength(1)
    expect(receivedBy('weary@example.com').length).toBeLessThanOrEqual(2)
  })

  it('is rejected at once while another resend is in progress, without exhausting the connections', async () => {
    const { organization, invite, emails, client } = await setUp()
    const id = await invite('held@example.com')
    const { key } = organization
    const resend = () =>
      service.app.inject({ method: 'POST', url: `/api/v1/invites/${id}/resend`, headers: { 'x-api-key': key } })
    const { queue } = service.deps
    const { invitationEmailJobs } = queue
    const held = Promise.withResolvers<void>()
    const goOn = Promise.withResolvers<void>()
    queue.invitationEmailJobs = async (jobs) => {
      held.resolve()
      await goOn.promise
      return invitationEmailJobs(jobs)
    }
    onTestFinished(() => void Object.assign(queue, { invitationEmailJobs }))
    const first = resend()
    await held.promise // the first resend now has the invite locked
    const answers = await Promise.all(Array.from({ length: 210 }, resend))
    expect(new Set(answers.map(({ statusCode }) => statusCode))).toEqual(new Set([429]))
    expect(answers[0]!.headers).toMatchObject({ 'retry-after': '60', 'x-error-code': 'too_many_mails' })
    expect((await client.get(`/invites/${id}`)).status).toBe(200)
    goOn.resolve()
    expect((await first).statusCode).toBe(200)
    expect(await emails(id)).toHaveLength(2)
  })

  it('is limited to five a day and ten in all, including new links', async () => {
    const { invite, operate } = await setUp()
    const id = await invite('again@example.com')
    const first = service.clock.now().getTime()
    for (let i = 0; i < 5; i++) {
      expect((await operate(id, 'resend')).status).toBe(200)
      service.clock.advance(MINUTE_MS)
    }
    const tooMany = await operate(id, 'resend')
    expect(tooMany.status).toBe(429)
    expect(Number(tooMany.headers['retry-after'])).toBe((first + DAY_MS - service.clock.now().getTime()) / 1_000)
    await operate(id, 'revoke')
    expect((await operate(id, 'reactivate')).status).toBe(429)

    service.clock.advance(DAY_MS)
    expect((await operate(id, 'reactivate')).status).toBe(200)
    for (let i = 0; i < 4; i++) {
      service.clock.advance(MINUTE_MS)
      expect((await operate(id, 'resend')).status).toBe(200)
    }
    service.clock.advance(2 * DAY_MS)
    const never = await operate(id, 'resend')
    expect([never.status, never.headers['retry-after']]).toEqual([429, '86400'])
    expect(never.body.error).toContain('10 times')
  })
})

describe('a declined invite', () => {
  it('is reactivated only with afterDecline', async () => {
    const { invite, operate, organization } = await setUp()
    const id = await invite('no-thanks@example.com')
    const ctx = enterOrganization(service.system, { id: organization.id, name: '', tier: 'standard' as const }, 'live')
    await moveInvite(ctx, 'decline', { inviteId: id })
    service.clock.advance(MINUTE_MS)
    const refused = await operate(id, 'reactivate')
    expect([refused.status, refused.headers['x-error-code']]).toEqual([409, 'invite_declined'])
    expect((await operate(id, 'reactivate', { afterDecline: true })).body.invite.status).toBe('pending')
    await operate(id, 'revoke')
    service.clock.advance(MINUTE_MS)
    expect((await operate(id, 'reactivate')).status).toBe(200)
  })
})

describe('a mail beyond the daily limits', () => {
  it('waits until the oldest is a day old, while creation succeeds as usual', async () => {
    const { invite, emails, ids } = await setUp(4)
    const made: string[] = []
    for (const assessmentId of ids) {
      const id = await invite('popular@example.com', assessmentId)
      made.push(id)
      if (made.length < 4) await waitForState(service, { inviteId: id }, 'sent')
    }
    const last = made[3]!
    await waitUntil('the delay', async () => ((await emails(last))[0]!.status === 'delayed' ? true : undefined))
    expect(receivedBy('popular@example.com')).toHaveLength(3)

    service.clock.advance(DAY_MS)
    await service.deps.queue.bringMailForward((await service.db.inviteEmail.findFirstOrThrow({ where: { inviteId: last } })).id)
    await waitForState(service, { inviteId: last }, 'sent')
  })

  it("waits for the next day if the organization's limit is reached, for any address", async () => {
    const { invite, emails } = await setUp()
    const made: string[] = []
    for (let i = 0; i < 6; i++) made.push(await invite(`one-of-many-${i}@example.com`))
    await waitUntil('the mails', async () => {
      const states = await Promise.all(made.map(async (id) => (await emails(id))[0]!.status))
      return states.filter((state) => state === 'sent').length === 5 && states.includes('delayed') ? true : undefined
    })
  })

  it('waits as one job, even if recording the wait is repeated after an unknown outcome', async () => {
    const { organization, ids } = await setUp()
    const invite = await service.make.invite({ organizationId: organization.id, id: ids[0]! })
    const now = service.clock.now()
    const id = service.deps.newId()
    const { id: inviteId, organizationId, linkVersion } = invite
    await service.db.inviteEmail.create({ data: { id, organizationId, inviteId, linkVersion, createdAt: now, updatedAt: now } })
    const wait = { state: 'delayed' as const, until: new Date(Date.now() + DAY_MS), jobId: service.deps.newId() }
    for (let i = 0; i < 3; i++) await recordEmailAttempt(service.system, { id, organizationId }, wait)
    const jobs = () => service.db.$queryRaw<object[]>`SELECT FROM pgboss.job WHERE data->>'emailId' = ${id}`
    expect(await jobs()).toHaveLength(1)
    // A mail that is checked too early may have to wait until the same time again, in another job.
    await recordEmailAttempt(service.system, { id, organizationId }, { ...wait, jobId: service.deps.newId() })
    expect(await jobs()).toHaveLength(2)
  })

  it('is admitted if its turn comes during the check for a free place', async () => {
    const admit = createMailLimiter({ perRecipient: 1, perOrganization: 0 })
    const { organization } = await setUp()
    const email = emailOf(organization.id, { recipientEmail: 'one@example.com' })
    const first = await admit(service.system, email)
    const second = admit(service.system, email)
    if (first.until === null) first.release()
    expect(await second).toMatchObject({ until: null })
  })

  it('costs the database a few statements, not one per waiting mail', async () => {
    const { organization, ids } = await setUp()
    const admit = createMailLimiter({ perRecipient: 1, perOrganization: 2 })
    const assessment = { organizationId: organization.id, id: ids[0]! }
    const addresses = [1, 2].map((i) => `many-${i}-${organization.id}@example.com`)
    const invites = await Promise.all(addresses.map((recipientEmail) => service.make.invite(assessment, { recipientEmail })))
    const sendings = Array.from({ length: 60 }, (_, i) => ({ invite: invites[i % 2]!, id: service.deps.newId() }))
    const now = service.clock.now()
    let underWay = 0
    let admitted = 0
    const { result, queries } = await recordQueries(() =>
      Promise.all(
        sendings.map(async ({ invite, id }) => {
          const { organizationId, id: inviteId } = invite
          const admission = await admit(service.system, emailOf(organizationId, invite))
          if (admission.until) return 'delayed'
          expect(++underWay).toBeLessThanOrEqual(2)
          // Failed mails don't count towards the limit.
          const state = ++admitted <= 40 ? ('failed' as const) : ('sent' as const)
          const times = { sentAt: state === 'sent' ? now : null, createdAt: now, updatedAt: now }
          await service.db.inviteEmail.create({ data: { id, organizationId, inviteId, state, linkVersion: 1, ...times } })
          underWay--
          admission.release()
          return state
        }),
      ),
    )
    expect(result.filter((outcome) => outcome === 'sent')).toHaveLength(2)
    expect(result.filter((outcome) => outcome === 'delayed')).toHaveLength(18)
    const looks = queries.filter(({ text }) => text.includes('"sent_at"') && text.includes(' offset '))
    expect(looks.length).toBeGreaterThanOrEqual(sendings.length)
    expect(looks.length).toBeLessThanOrEqual(4 * sendings.length)
  })

  it('passes its place on if its own check fails', async () => {
    const { organization } = await setUp()
    const email = emailOf(organization.id, { recipientEmail: 'unlucky@example.com' })
    const admit = createMailLimiter({ perRecipient: 1, perOrganization: 0 })
    const first = await admit(service.system, email)
    let isAway = false
    const clock = () => {
      if (isAway) throw new Error('away')
      return service.deps.clock()
    }
    const failing = { ...service.system, deps: { ...service.deps, clock } }
    const unlucky = admit(failing, email)
    const next = admit(service.system, email)
    await new Promise((resolve) => setImmediate(resolve)) // both wait and have not queried the database yet
    isAway = true
    if (first.until === null) first.release()
    await expect(unlucky).rejects.toThrow('away')
    expect(await next).toMatchObject({ until: null })
  })
})

describe('an organization over its daily mail limit', () => {
  const PER_DAY = 5
  const waitsOf = (organizationId: string) =>
    service.db.inviteEmail.findMany({
      where: { organizationId },
      orderBy: { id: 'asc' },
      select: { state: true, delayedUntil: true },
    })
  const settled = (organizationId: string) =>
    waitUntil('each mail to be sent or to have its time', async () => {
      const mails = await waitsOf(organizationId)
      return mails.every(({ state, delayedUntil }) => state === 'sent' || delayedUntil) ? mails : undefined
    })

  it('gets 201 with the time at which each mail leaves, and stores that time with each mail', async () => {
    const { organization, ids, client } = await setUp()
    const announcedTimes: (string | undefined)[] = []
    for (let i = 0; i < 2 * PER_DAY + 2; i++) {
      const sent = await client.post('/invites').send({ assessmentId: ids[0], recipientEmail: `planned-${i}@example.com` })
      expect(sent.status).toBe(201)
      announcedTimes.push(sent.headers['mail-delayed-until'])
      await settled(organization.id)
    }
    const days = announcedTimes.map((at) => at && Math.round((Date.parse(at) - service.clock.now().getTime()) / DAY_MS))
    expect(days).toEqual([...Array(PER_DAY).fill(undefined), ...Array(PER_DAY).fill(1), 2, 2])
    const mails = await settled(organization.id)
    expect(mails.map(({ delayedUntil }) => delayedUntil?.toISOString())).toEqual(announcedTimes)
    const quiet = await client
      .post('/invites')
      .send({ assessmentId: ids[0], recipientEmail: 'by-myself@example.com', sendEmail: false })
    expect([quiet.status, quiet.headers['mail-delayed-until']]).toEqual([201, undefined])
  })

  it('finds the time of the next mail by reading no more mails than the daily limit', async () => {
    const { organization, ids } = await setUp()
    const { id: inviteId, organizationId } = await service.make.invite({ organizationId: organization.id, id: ids[0]! })
    const now = service.clock.now()
    const row = { organizationId, inviteId, linkVersion: 1, createdAt: now, updatedAt: now }
    const rowsOf = <Times>(count: number, times: (at: Date) => Times) =>
      Array.from({ length: count }, (_, i) => ({ ...row, id: service.deps.newId(), ...times(new Date(now.getTime() + i)) }))
    const sent = rowsOf(20, (sentAt) => ({ state: 'sent' as const, sentAt: new Date(sentAt.getTime() - 1_000) }))
    const waiting = rowsOf(200, (delayedUntil) => ({ delayedUntil: new Date(delayedUntil.getTime() + DAY_MS) }))
    await service.db.inviteEmail.createMany({ data: [...sent, ...waiting] })
    const n = PER_DAY - 1
    const query = nthMailTime(tenantDb(service.db, { organization, mode: 'all' }), new Date(now.getTime() - DAY_MS), n)
    expect(await query.executeTakeFirst()).toEqual({ at: waiting.at(-1 - n)!.delayedUntil })

    const { text, values } = compile(query)
    const [row0] = await service.db.$transaction(async (tx) => {
      // With so few rows, PostgreSQL would scan the table.
      await tx.$executeRaw`SET LOCAL enable_seqscan = off`
      await tx.$executeRaw`SET LOCAL enable_bitmapscan = off`
      return tx.$queryRawUnsafe<{ 'QUERY PLAN': unknown }[]>(`EXPLAIN (ANALYZE, FORMAT JSON) ${text}`, ...values)
    })
    const plan = JSON.stringify(row0)
    const read = [...plan.matchAll(/"Actual Rows":\s*([\d.]+)/g)].map(([, count]) => Number(count))
    expect(read.length).toBeGreaterThan(2)
    expect(Math.max(...read)).toBeLessThanOrEqual(2 * PER_DAY)
  })

  it('sends its waiting mails once the operator raises the limit', async () => {
    const { organization, invite } = await setUp()
    for (let i = 0; i < PER_DAY + 3; i++) await invite(`more-${i}@example.com`)
    await settled(organization.id)
    await setMailsPerDay(service.system, organization.id, 999_999_999) // maximum of the command
    await invite('after@example.com')
    await waitUntil(
      'all mails to be sent',
      async () => (await waitsOf(organization.id)).every(({ state }) => state === 'sent') || undefined,
    )
  })

  it("sees how many days a list takes, and can't start one whose mails would come too late for its invites", async () => {
    const { organization, ids } = await setUp()
    const admin = await signInAs(service, organization.id, ['admin'])
    await service.make.question({ organizationId: organization.id, id: ids[0]! })
    const list = (count: number) =>
      ['email', ...Array.from({ length: count }, (_, i) => `listed-${count}-${i}@example.com`)].join('\n')
    const give = async (count: number, expiresInDays: string) => {
      const fields = { assessmentId: ids[0]!, list: list(count), expiresInDays, sendEmail: 'yes' }
      return (await admin.post(`${admin.home}invites/batches`, fields)).headers.location!
    }
    const long = await give(3 * PER_DAY, '3')
    const page = (await admin.get(long)).text
    expect(page).toContain('The 15 of this list take 2 days')
    expect(page).toContain('too late for invites of 3 days')
    expect(page).not.toContain('Invite 15 candidates')
    const refused = await admin.post(`${long}/start`)
    expect([refused.status, refused.text]).toEqual([
      422,
      expect.stringContaining('At 5 emails a day, the last ones would be sent when half'),
    ])
    expect(await service.db.invite.count({ where: { organizationId: organization.id } })).toBe(0)

    const other = await give(3 * PER_DAY, '5')
    expect((await admin.get(other)).text).toContain('Invite 15 candidates')
    expect((await admin.post(`${other}/start`)).status).toBe(303)
    expect((await admin.get(await give(2, '1'))).text).toContain('too late for invites of 1 day:')
  })
  it("can't start two lists at once if each is in time only without the other", async () => {
    const { organization, ids } = await setUp()
    const admin = await signInAs(service, organization.id, ['admin'])
    await service.make.question({ organizationId: organization.id, id: ids[0]! })
    const give = async (name: string) => {
      const addresses = Array.from({ length: 2 * PER_DAY }, (_, i) => `${name}-${i}@example.com`)
      const fields = { assessmentId: ids[0]!, list: ['email', ...addresses].join('\n'), expiresInDays: '3', sendEmail: 'yes' }
      return (await admin.post(`${admin.home}invites/batches`, fields)).headers.location!
    }
    const lists = [await give('one'), await give('other')]
    const answers = await Promise.all(lists.map((list) => admin.post(`${list}/start`)))
    expect(answers.map(({ status }) => status).sort()).toEqual([303, 422])
  })
})
