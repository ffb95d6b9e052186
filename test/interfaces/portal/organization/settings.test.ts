import { afterAll, beforeAll, expect, it } from 'vitest'
import { createApiKey } from '../../../../src/domain/api-keys/api-keys.ts'
import { signInAs } from '../../../support/portal.ts'
import { type Service, startService } from '../../../support/service.ts'
import { type SmtpListener, startSmtpListener } from '../../../support/smtp.ts'

let service: Service
let smtp: SmtpListener
beforeAll(async () => {
  smtp = await startSmtpListener()
  service = await startService({ SMTP_URL: smtp.url, MAIL_FROM: 'Assessments <talent@example.org>' })
})
afterAll(async () => {
  await service.close()
  await smtp.close()
})

async function start() {
  const organization = await service.make.organization()
  const admin = await signInAs(service, organization.id, ['admin'])
  return { organization, admin, path: `${admin.home}settings/organization` }
}
const find = (id: string) => service.db.organization.findUniqueOrThrow({ where: { id } })
const settings = (name: string) => ({
  name,
  senderName: 'Talent of "Acme", Inc.',
  replyTo: 'people@acme.example',
  invitationText: 'Ask us:\r\n+49 30 1234 <b>',
})

/** Invites a candidate with a member's key. @returns the mail. */
async function invite({ id: organizationId }: { id: string }) {
  const creator = await service.make.member(organizationId)
  const { key } = await createApiKey(service.system, { organizationId, name: 'Mails', mode: 'live', createdById: creator.id })
  const { id: assessmentId } = await service.make.assessment(organizationId)
  const recipientEmail = `${service.deps.newId()}@example.com`
  await service.v1(key).post('/invites').send({ assessmentId, recipientEmail })
  for (let count = smtp.mails.length; ; count++) {
    const mail = smtp.mails.find(({ envelope }) => envelope.to[0] === recipientEmail)
    if (mail) return { mail, creator }
    await smtp.waitFor(count + 1)
  }
}

it("applies settings to invitations, and keeps the service's sender address", async () => {
  const { organization, admin, path } = await start()
  const name = service.make.unique('Renamed')
  expect((await admin.post(path, settings(name))).headers.location).toBe(`${path}?done=saved`)
  expect((await admin.get(admin.home)).text).toContain(name)
  const { mail } = await invite(organization)
  expect(mail.envelope.from).toBe('talent@example.org')
  expect(mail.parsed.from).toEqual({ name: 'Talent of "Acme", Inc.', address: 'talent@example.org' })
  expect(mail.parsed.replyTo).toEqual([{ name: 'Talent of "Acme", Inc.', address: 'people@acme.example' }])
  expect(mail.parsed.text).toContain('Ask us:\n+49 30 1234 <b>')
  expect(mail.parsed.html).toContain('Ask us:<br>+49 30 1234 &lt;b&gt;')
  const entry = await service.db.auditEntry.findFirstOrThrow({
    where: { organizationId: organization.id, action: 'changed_settings' },
  })
  expect(entry).toMatchObject({
    actorId: admin.member.id,
    details: { changed: ['name', 'senderName', 'replyTo', 'invitationText'] },
  })
  const page = (await admin.get(path)).text
  expect(page).toContain('value="people@acme.example"')
  expect(page).toContain('+49 30 1234 &lt;b&gt;</textarea>')
})

it("falls back to the service's settings if they are empty", async () => {
  const { organization, admin, path } = await start()
  await admin.post(path, settings(organization.name))
  await admin.post(path, { name: organization.name, senderName: ' ', replyTo: '', invitationText: '\r\n' })
  expect(await find(organization.id)).toMatchObject({ senderName: null, replyTo: null, invitationText: null })
  const { mail, creator } = await invite(organization)
  expect(mail.parsed.from).toEqual({ name: organization.name, address: 'talent@example.org' })
  expect(mail.parsed.replyTo).toMatchObject([{ address: creator.email }])
})

it('saves settings section by section without changing the others', async () => {
  const { organization, admin, path } = await start()
  await admin.post(path, { ...settings(organization.name), returnHosts: 'careers.example.com' })
  const kept = {
    replyTo: 'people@acme.example',
    invitationText: 'Ask us:\n+49 30 1234 <b>',
    returnHosts: ['careers.example.com'],
  }
  const name = service.make.unique('Renamed')
  expect((await admin.post(path, { name })).status).toBe(303)
  expect(await find(organization.id)).toMatchObject({ ...kept, name, senderName: 'Talent of "Acme", Inc.' })
  expect((await admin.post(path, { senderName: 'Acme', replyTo: '', invitationText: '' })).status).toBe(303)
  expect((await admin.post(path, { returnHosts: '' })).status).toBe(303)
  expect(await find(organization.id)).toMatchObject({
    name,
    senderName: 'Acme',
    replyTo: null,
    invitationText: null,
    returnHosts: [],
  })
  const forms = [
    ...(await admin.get(path)).text.matchAll(/<form method="post" action="[^"]*settings\/organization">.*?<\/form>/gs),
  ]
  expect(forms.map(([form]) => [...form.matchAll(/ name="(\w+)"/g)].map(([, field]) => field))).toEqual([
    ['seen', 'name'],
    ['seen', 'senderName', 'replyTo', 'invitationText'],
    ['seen', 'returnHosts'],
  ])
})

it("rejects a sender's name that looks like an address", async () => {
  const { organization, admin, path } = await start()
  const { text } = await admin.post(path, { ...settings(organization.name), senderName: 'ceo@bank.example' })
  expect(text).toContain('must not contain an @')
  expect(await find(organization.id)).toMatchObject({ senderName: null })
})

it('never injects mail headers', async () => {
  const { organization, admin, path } = await start()
  const hostile = { ...settings(organization.name), senderName: 'Eve\r\nBcc: victim@example.com\u2028X: 1 <evil@example.com>' }
  await admin.post(path, hostile)
  const { mail } = await invite(organization)
  expect(mail.parsed.from).toMatchObject({ address: 'talent@example.org' })
  expect(mail.envelope.to).not.toContain('victim@example.com')
  expect([mail.parsed.bcc, mail.parsed.headers.filter(({ key }) => key === 'bcc' || key === 'x')]).toEqual([undefined, []])
})

it('lists allowed redirect hosts next to the signing secret', async () => {
  const { organization, admin, path } = await start()
  await admin.post(path, {
    ...settings(organization.name),
    returnHosts: ' Careers.example.com\r\n\r\njobs.example.com:8443\r\ncareers.example.com',
  })
  expect(await find(organization.id)).toMatchObject({ returnHosts: ['careers.example.com', 'jobs.example.com:8443'] })
  const { text } = await admin.get(path)
  expect(text).toContain('careers.example.com\njobs.example.com:8443</textarea>')
  expect(text).toMatch(/<code class="secret [^>]+>rs_[\w-]{43}<\/code>/)
  const hosts = Array.from({ length: 51 }, (_, i) => `host-${i}.example.com`).join('\n')
  for (const returnHosts of ['https://careers.example.com', 'localhost', '127.0.0.1', '*.example.com', hosts])
    expect((await admin.post(path, { ...settings(organization.name), returnHosts })).text).toContain('Enter host names')
})

it.each([
  [{ name: '' }, 'Enter the name.'],
  [{ name: 'x'.repeat(201) }, 'The name has more than 200 characters.'],
  [{ senderName: 'x'.repeat(201) }, 'The sender name has more than 200 characters.'],
  [{ replyTo: 'a@example.com\r\nBcc: b@example.com' }, 'Enter a valid email address, such as name@example.com.'],
  [{ replyTo: 'a@example.com, b@example.com' }, 'Enter a valid email address, such as name@example.com.'],
  [{ invitationText: 'x'.repeat(5_001) }, 'The text has more than 5000 characters.'],
])('rejects an invalid setting with a reason: %#', async (fields, words) => {
  const { organization, admin, path } = await start()
  const before = await find(organization.id)
  const answer = await admin.post(path, { ...settings(organization.name), ...fields })
  expect([answer.status, answer.text]).toEqual([422, expect.stringContaining(words)])
  expect(await find(organization.id)).toEqual(before)
})

it("rejects another organization's name", async () => {
  const { admin, path } = await start()
  const { name } = await service.make.organization()
  const answer = await admin.post(path, settings(name.toUpperCase()))
  expect([answer.status, answer.text]).toEqual([422, expect.stringContaining('The name is already taken.')])
})

/** Addresses of the links in the main part of a page. */
const linksIn = (text: string) =>
  [...text.slice(text.indexOf('<main')).matchAll(/href="(\/[^"#]+)/g)].map(([, address]) => address!)

it('lists settings on one page by permission, and links to existing guides', async () => {
  const { id } = await service.make.organization()
  const owner = await signInAs(service, id, ['admin'], ['owner'])
  const found = linksIn((await owner.get(`${owner.home}settings`)).text)
  expect(new Set(found).size).toBe(21)
  for (const address of [...found, `${owner.home}settings/sign-in/new`]) {
    const { status, text } = await owner.get(address)
    expect([address, status]).toEqual([address, 200])
    // Pages under Settings link back to the list of settings.
    if (/aria-current="page"><svg.*?<\/svg><span>Settings</.test(text)) expect(linksIn(text)).toContain(`${owner.home}settings`)
    for (const guide of linksIn(text).filter((link) => link.startsWith('/docs')))
      expect([guide, (await owner.get(guide)).status]).toEqual([guide, 200])
  }
  const manager = await signInAs(service, id, [], ['manager'])
  expect(linksIn((await manager.get(`${manager.home}settings`)).text)).toEqual([`${manager.home}settings/suppressions`])
  const grader = await signInAs(service, id, ['grader'])
  expect((await grader.get(`${grader.home}settings`)).status).toBe(404)
})
