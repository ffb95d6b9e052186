import { afterAll, beforeAll, expect, it } from 'vitest'
import { deleteExpiredRows } from '../../../../src/domain/concurrency/expired-rows.ts'
import { createResetLink, inviteMember } from '../../../../src/domain/members/invite-member.ts'
import { hashPassword } from '../../../../src/domain/sign-in/passwords.ts'
import { findMemberships } from '../../../../src/domain/sign-in/sessions.ts'
import { completeSignIn } from '../../../../src/domain/sign-in/sign-in.ts'
import { rowsOf } from '../../../support/forms.ts'
import { asAdmin, joinAs, joinPath, PASSWORD, visit } from '../../../support/portal.ts'
import { type Service, startService } from '../../../support/service.ts'
import { type SmtpListener, startSmtpListener } from '../../../support/smtp.ts'
import { waitUntil } from '../../../support/wait-until.ts'

const MINUTE_MS = 60_000
const NEW = 'another long password'

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

/** Path of the link in the newest mail to the address. */
const receiveLink = (email: string) =>
  waitUntil(`a mail to ${email}`, () => {
    const mail = smtp.mails.findLast(({ envelope }) => envelope.to[0] === email)
    return mail && new URL(/https?:\S+\/portal\/\S+/.exec(mail.parsed.text!)![0]).pathname
  })

const signIn = (email: string, password: string) => visit(service).post('/portal/sign-in', { email, password })

it('resets a password once by a mailed link, which ends all sessions', async () => {
  const { email, get, home } = await joinAs(service, await service.make.organization())
  const asked = await visit(service).post('/portal/forgot', { email: ` ${email.toUpperCase()} ` })
  expect([asked.status, asked.text]).toEqual([200, expect.stringContaining('If the address you entered has an account here')])
  const path = await receiveLink(email)
  expect((await visit(service).get(path)).text).toContain(email)
  expect((await get(home)).status).toBe(200)
  expect((await visit(service).post(path, { password: 'short' })).status).toBe(422)
  const answer = await visit(service).post(path, { password: NEW })
  expect([answer.status, answer.headers.location]).toEqual([303, '/portal/sign-in?done=reset'])
  expect((await visit(service).post(path, { password: 'yet another password' })).status).toBe(404)
  expect((await get(home)).status).toBe(303)
  expect((await signIn(email, PASSWORD)).status).toBe(422)
  expect((await signIn(email, NEW)).status).toBe(303)
})

it('gives the same response to a reset for an unknown address, without a mail', async () => {
  const { email } = await joinAs(service, await service.make.organization())
  const known = await visit(service).post('/portal/forgot', { email })
  const unknown = await visit(service).post('/portal/forgot', { email: 'nobody@example.com' })
  expect([unknown.status, unknown.text]).toEqual([known.status, known.text])
  await receiveLink(email)
  await waitUntil('the reset request to be processed', async () => {
    const [{ open }] = await service.db.$queryRaw<[{ open: bigint }]>`
      SELECT count(*) AS open FROM pgboss.job WHERE name = 'password-reset' AND state < 'completed'`
    return open === 0n || undefined
  })
  expect(smtp.mails.map(({ envelope }) => envelope.to[0])).not.toContain('nobody@example.com')
})

it('mails at most three reset links in a quarter of an hour, with the same response', async () => {
  const { email } = await joinAs(service, await service.make.organization())
  const before = smtp.mails.length
  for (let i = 0; i < 6; i++) expect((await visit(service).post('/portal/forgot', { email })).status).toBe(200)
  await smtp.waitFor(before + 3)
  const [{ count }] = await service.db.$queryRaw<[{ count: bigint }]>`
    SELECT count(*) FROM pgboss.job WHERE name = 'password-reset' AND data->>'email' = ${email}`
  expect(count).toBeLessThanOrEqual(3n)
  expect(await service.db.accountLink.count({ where: { kind: 'reset', credential: { email } } })).toBe(3)
})

it('handles concurrent reset requests', async () => {
  const emails = Array.from({ length: 4 }, () => `${service.deps.newId()}@example.com`)
  // All jobs are announced in one transaction.
  await service.db.$transaction(async (db) => {
    for (const email of emails) await service.deps.queue.enqueuePasswordReset(db as never, email)
  })
  const taken = () => service.db.$queryRaw<{ started_on: Date }[]>`
    SELECT started_on FROM pgboss.job WHERE name = 'password-reset' AND data->>'email' = ANY (${emails}) AND state = 'completed'`
  const jobs = await waitUntil('all jobs to complete', async () =>
    (await taken()).length === emails.length ? taken() : undefined,
  )
  expect(new Set(jobs.map(({ started_on }) => started_on.getTime())).size).toBe(1)
})

it('accepts reset links for an hour; the use of one invalidates the others', async () => {
  const { email } = await joinAs(service, await service.make.organization())
  const link = async () => new URL((await createResetLink(service.system, email, { mails: false }))!.url).pathname
  const late = await link()
  service.clock.advance(60 * MINUTE_MS)
  expect((await visit(service).get(late)).status).toBe(404)
  const [first, second] = [await link(), await link()]
  expect((await visit(service).post(second, { password: NEW })).status).toBe(303)
  expect((await visit(service).post(first, { password: NEW })).status).toBe(404)
})

it('invalidates reset links when the password is changed', async () => {
  const { email, post, home } = await joinAs(service, await service.make.organization())
  const path = new URL((await createResetLink(service.system, email, { mails: false }))!.url).pathname
  const changed = await post(`${home}account/password`, { current: PASSWORD, password: NEW })
  expect(changed.status).toBe(303)
  expect((await visit(service).get(path)).status).toBe(404)
  expect((await visit(service).post(path, { password: 'yet another password' })).status).toBe(404)
  expect((await signIn(email, NEW)).status).toBe(303)
})

it('sets the password by one of ten links that are used at once', async () => {
  const { email } = await joinAs(service, await service.make.organization())
  const paths: string[] = []
  for (let i = 0; i < 10; i++) paths.push(new URL((await createResetLink(service.system, email, { mails: false }))!.url).pathname)
  const answers = await Promise.all(paths.map((path, i) => visit(service).post(path, { password: `${NEW} ${i}` })))
  expect(answers.filter(({ status }) => status === 303)).toHaveLength(1)
  for (const { status, text } of answers) if (status !== 303) expect(text).toContain('This link no longer works')
})

it('clears the count of failed attempts by a reset', async () => {
  const { email } = await joinAs(service, await service.make.organization())
  for (let i = 0; i < 6; i++) await signIn(email, 'not the password')
  expect((await signIn(email, PASSWORD)).text).toContain('too many attempts')
  const { url } = (await createResetLink(service.system, email, { mails: false }))!
  await visit(service).post(new URL(url).pathname, { password: NEW })
  expect((await signIn(email, NEW)).status).toBe(303)
})

it('changes a password under My account with the current one, which ends other sessions', async () => {
  const { email, home, ...here } = await joinAs(service, await service.make.organization())
  const there = visit(service)
  await there.post('/portal/sign-in', { email, password: PASSWORD })
  const change = (current: string, password: string) => here.post(`${home}account/password`, { current, password })
  expect((await change('not the password', NEW)).text).toContain('The current password is not right.')
  expect((await change(PASSWORD, 'short')).text).toContain('at least 15 characters')
  expect((await there.get(home)).status).toBe(200)
  expect((await change(PASSWORD, NEW)).headers.location).toBe(`${home}account?done=password`)
  expect((await here.get(home)).status).toBe(200)
  expect((await there.get(home)).status).toBe(303)
  expect((await signIn(email, NEW)).status).toBe(303)
})

it("lets a person end their other sessions one by one or all, and nobody else's", async () => {
  const { email, home, ...here } = await joinAs(service, await service.make.organization())
  const stranger = await joinAs(service, await service.make.organization())
  const open = async () => {
    const person = visit(service)
    await person.post('/portal/sign-in', { email, password: PASSWORD })
    return person
  }
  const [one, two, three] = [await open(), await open(), await open()]
  const ends = [...(await here.get(`${home}account`)).text.matchAll(/action="([^"]+\/end)"/g)].map(([, action]) => action!)
  expect(ends).toHaveLength(3)
  await stranger.post(ends[0]!.replace(home, stranger.home))
  const isIn = async (person: typeof one) => (await person.get(home)).status === 200
  expect(await Promise.all([one, two, three].map(isIn))).toEqual([true, true, true])
  await here.post(ends[0]!)
  expect((await Promise.all([one, two, three].map(isIn))).filter(Boolean)).toHaveLength(2)
  await here.post(`${home}account/sessions/end-others`)
  expect(await Promise.all([one, two, three, here].map(isIn))).toEqual([false, false, false, true])
  expect((await stranger.get(stranger.home)).status).toBe(200)
})

it.each([
  [
    'Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/140.0.0.0 Safari/537.36 Edg/140.0.0.0',
    'Edge, Windows',
  ],
  ['Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0', 'Firefox, Linux'],
  [
    'Mozilla/5.0 (Linux; Android 15) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/140.0.0.0 Mobile Safari/537.36',
    'Chrome, Android',
  ],
  [
    'Mozilla/5.0 (iPhone; CPU iPhone OS 18_0 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/18.0 Mobile/15E148 Safari/604.1',
    'Safari, iPhone',
  ],
  ['curl/8.5.0 <b>', 'curl/8.5.0 &lt;b&gt;'],
])("shows the usual name of a session's browser: %s", async (userAgent, words) => {
  const { email, home } = await joinAs(service, await service.make.organization())
  const person = visit(service)
  await person.post('/portal/sign-in', { email, password: PASSWORD }).set('user-agent', userAgent)
  expect(rowsOf((await person.get(`${home}account`)).text)).toContainEqual(
    expect.stringMatching(new RegExp(`^${words} \\|.*this session`)),
  )
})

it('mails a readable invitation with any names', async () => {
  const { id } = await service.make.organization()
  const organization = await service.db.organization.update({
    where: { id },
    data: { name: `<b>Acme</b>\r\nBcc: x@example.com ${id}` },
  })
  const invite = { email: 'mailed@example.com', roles: ['admin' as const], mails: true }
  const { url, memberId } = await inviteMember(await asAdmin(service, organization), invite)
  const mailed = await receiveLink('mailed@example.com')
  expect(mailed).toMatch(/^\/portal\/join\/[\w-]+$/)
  expect(mailed).not.toBe(new URL(url).pathname)
  const mail = smtp.mails.findLast(({ envelope }) => envelope.to[0] === 'mailed@example.com')!
  expect(mail.envelope.to).toEqual(['mailed@example.com'])
  expect(mail.parsed.html).toContain('&lt;b&gt;Acme&lt;/b&gt;')
  const record = await waitUntil('the mail to be recorded', async () => {
    const found = await service.db.memberEmail.findFirstOrThrow({ where: { memberId } })
    return found.state === 'sent' ? found : undefined
  })
  const shown = await service.mailbox(`/${record.id}`)
  expect(shown.text).toContain('invites you to its assessments portal')
  expect((await service.mailbox('?search=mailed@example.com')).text).toContain(record.id)
})

it('logs no secret and no address', async () => {
  const { email } = await joinAs(service, await service.make.organization())
  await visit(service).post('/portal/forgot', { email })
  const path = await receiveLink(email)
  await visit(service).post(path, { password: NEW })
  await deleteExpiredRows(service.system, 'delete_expired_sign_ins')
  const log = service.logLines.join('')
  for (const secret of [email, path.split('/').at(-1)!, PASSWORD, NEW]) expect(log).not.toContain(secret)
  expect(log).toContain('/portal/reset/:token')
})

it('requires a new password at sign-in if it is on the list of common passwords', async () => {
  const organization = await service.make.organization()
  const { email, home } = await joinAs(service, organization)
  const passwordHash = (await hashPassword(service.system, 'password123', 'line', async () => true))!
  await service.db.credential.updateMany({ where: { email }, data: { passwordHash } })
  const person = visit(service)
  const answer = await person.post('/portal/sign-in', { email, password: 'password123' })
  expect([answer.status, answer.headers.location]).toEqual([303, expect.stringMatching(/^\/portal\/reset\/[\w-]+\?why=listed$/)])
  expect(person.cookie()).toBeUndefined()
  const page = answer.headers.location!
  expect((await person.get(page)).text).toContain('on a public list that attackers try first')
  expect((await person.get(home)).headers.location).toMatch(/sign-in/)
  const again = await visit(service).post(await joinPath(service, await service.make.organization(), email), {
    firstName: 'A',
    lastName: 'B',
    password: 'password123',
  })
  expect([again.headers.location, again.headers['set-cookie']]).toEqual([expect.stringContaining('?why=listed'), undefined])
  expect((await person.post(page.split('?')[0]!, { password: 'password123' })).status).toBe(422)
  expect((await person.post(page.split('?')[0]!, { password: NEW })).headers.location).toBe('/portal/sign-in?done=reset')
  expect((await signIn(email, NEW)).headers.location).not.toContain('reset')
})

it('does not replace a common password if another one was set during the check', async () => {
  const { email } = await joinAs(service, await service.make.organization())
  const credential = await service.db.credential.findFirstOrThrow({ where: { email } })
  const [membership] = await findMemberships(service.system, credential.id)
  const begin = (given: object) =>
    completeSignIn(service.system, membership!, {
      credential: { ...credential, ...given },
      password: 'password123',
      browser: { network: '203.0.113.0/24', isShared: false, isInside: false, userAgent: '' },
    })
  const countLinks = () => service.db.accountLink.count({ where: { credentialId: credential.id } })
  const before = await countLinks()
  expect([await begin({ passwordHash: 'of before' }), await begin({ authVersion: -1 })]).toEqual([null, null])
  expect(await countLinks()).toBe(before)
  expect(await begin({})).toEqual({ mustChange: expect.stringContaining('/portal/reset/') })
})
