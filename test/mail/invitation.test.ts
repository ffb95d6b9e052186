import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createApiKey } from '../../src/domain/api-keys/api-keys.ts'
import { linkIn } from '../support/mail.ts'
import { type Service, startService } from '../support/service.ts'
import { type ReceivedMail, type SmtpListener, startSmtpListener } from '../support/smtp.ts'

let service: Service
let smtp: SmtpListener
beforeAll(async () => {
  smtp = await startSmtpListener()
  service = await startService({
    SMTP_URL: smtp.url,
    MAIL_FROM: 'Talent Team <talent@example.org>',
    PUBLIC_URL: 'https://assess.example.org/',
  })
  service.clock.set('2026-03-02T09:30:00Z')
})
afterAll(async () => {
  await service.close()
  await smtp.close()
})

/** Invites a candidate over HTTP and waits for the mail. */
async function invite(fields: object = {}, { questions = 0, named = '' } = {}) {
  const { id: organizationId, name: organization } = await service.make.organization()
  if (named) await service.db.organization.update({ where: { id: organizationId }, data: { name: named } })
  const creator = await service.make.member(organizationId, { firstName: 'Maya', lastName: 'Okafor' })
  const { key } = await createApiKey(service.system, { organizationId, name: 'By Maya', mode: 'live', createdById: creator.id })
  const assessment = await service.make.assessment(organizationId)
  for (let i = 0; i < questions; i++) await service.make.question(assessment)
  const recipientEmail = `${service.make.unique('sam').replace(' ', '')}@example.com`
  const { body } = await service
    .v1(key)
    .post('/invites')
    .send({ assessmentId: assessment.id, recipientEmail, ...fields })
  let mail: ReceivedMail | undefined
  for (let count = smtp.mails.length; !mail; count++) {
    mail = smtp.mails.find(({ envelope }) => envelope.to[0] === recipientEmail)
    if (!mail) await smtp.waitFor(count + 1)
  }
  return { mail, invite: body.invite, organization, assessment, creator, key, recipientEmail }
}
const header = ({ parsed }: ReceivedMail, name: string) =>
  parsed.headers.filter(({ key }) => key === name).map(({ value }) => value)

describe('the invitation mail', () => {
  it("goes to the candidate, from the configured sender with the organization's name", async () => {
    const { mail, organization, recipientEmail } = await invite({ recipientName: 'Sam Rivera' })
    expect(mail.envelope).toEqual({ from: 'talent@example.org', to: [recipientEmail] })
    expect(mail.parsed.to).toEqual([{ name: 'Sam Rivera', address: recipientEmail }])
    expect(mail.parsed.from).toEqual({ name: organization, address: 'talent@example.org' })
    expect([mail.parsed.cc, mail.parsed.bcc]).toEqual([undefined, undefined])
  })

  it.each(['   ', '\u00a0\t', '\u200b\u2060'])('greets nobody by the name %j', async (recipientName) => {
    const { mail, invite: created } = await invite({ recipientName })
    expect(mail.parsed.text).toMatch(/^Hello,\n/)
    expect(created.recipientName).toBe(recipientName)
  })

  it('greets by a name without the spaces around it', async () => {
    const { mail } = await invite({ recipientName: '  Sam ' })
    expect(mail.parsed.text).toMatch(/^Hello Sam,\n/)
  })

  it('has no header whose first line is empty', async () => {
    const { mail } = await invite({}, { named: `Ü${'x'.repeat(180)}` })
    const headers = mail.raw.slice(0, mail.raw.indexOf('\r\n\r\n'))
    expect(headers).toMatch(/^Message-ID: <[0-9a-f-]{36}\.[0-9a-f-]{36}@example\.org>\r$/m)
    expect(headers).not.toMatch(/^[^\s:]+:[ \t]*\r$/m)
    expect(mail.parsed.from?.name?.slice(0, 50)).toBe(`Ü${'x'.repeat(180)}`.slice(0, 50))
  })

  it("names the assessment even if the organization's name is very long", async () => {
    const { mail, assessment } = await invite({}, { named: 'Long '.repeat(40) })
    expect(mail.parsed.subject).toMatch(/^Long Long .*… invites you to: /)
    expect(mail.parsed.subject).toContain(assessment.name)
  })

  it.each(['می\u200Cخواهم', 'क्\u200Dष', 'Ada 👩\u200D💻'])('keeps joining characters in a name: %s', async (recipientName) => {
    const { mail } = await invite({ recipientName })
    expect(mail.parsed.to).toMatchObject([{ name: recipientName }])
  })

  it('names organization and assessment in the subject', async () => {
    const { mail, organization, assessment } = await invite()
    expect(mail.parsed.subject).toBe(`${organization} invites you to: ${assessment.name}`)
  })

  it('sets the reply address to the member who generated the key', async () => {
    const { mail, creator } = await invite()
    expect(mail.parsed.replyTo).toEqual([{ name: 'Maya Okafor', address: creator.email }])
  })

  it('sets the reply address to the sender if no member generated the key', async () => {
    const { id, key } = await service.make.organization()
    const assessment = await service.make.assessment(id)
    const seen = smtp.mails.length
    await service.v1(key).post('/invites').send({ assessmentId: assessment.id, recipientEmail: 'candidate@example.com' })
    const mail = (await smtp.waitFor(seen + 1)).at(-1)!
    expect(mail.parsed.replyTo).toEqual([{ name: 'Talent Team', address: 'talent@example.org' }])
  })

  it('has a header that marks it as automatically generated', async () => {
    expect(header((await invite()).mail, 'auto-submitted')).toEqual(['auto-generated'])
  })

  it("has one Message-ID, in the sender's domain, which contains the invite's ID", async () => {
    const { mail, invite: made } = await invite()
    expect(header(mail, 'message-id')).toHaveLength(1)
    expect(mail.parsed.messageId).toMatch(new RegExp(`^<${made.id}\\.[0-9a-f-]{36}@example\\.org>$`))
  })

  it('has a text and an HTML alternative with the same content', async () => {
    const { mail, organization, assessment } = await invite(
      { recipientName: 'Sam Rivera', customMessage: 'Good luck!' },
      { questions: 3 },
    )
    expect(header(mail, 'content-type')[0]).toMatch(/^multipart\/alternative;/)
    const link = `https://assess.example.org${linkIn(mail)}`
    for (const part of [mail.parsed.text, mail.parsed.html]) {
      for (const words of ['Sam Rivera', organization, assessment.name, '3 questions', 'Good luck!', link])
        expect(part).toContain(words)
    }
    expect(mail.parsed.attachments).toEqual([])
  })

  it.each([
    [0, null],
    [1, ', 1 question'],
    [2, ', 2 questions'],
  ])('counts %i questions in words', async (questions, words) => {
    const { mail } = await invite({}, { questions })
    for (const part of [mail.parsed.text, mail.parsed.html]) {
      if (words) expect(part).toContain(words)
      else expect(part).not.toMatch(/question/)
    }
  })

  it('shows in words when the invitation expires', async () => {
    const { mail } = await invite({ expiresInDays: 30 })
    for (const part of [mail.parsed.text, mail.parsed.html]) expect(part).toContain('Wednesday, 1 April 2026 at 09:30 UTC')
    const other = await invite({ expiresInDays: 1 })
    expect(other.mail.parsed.text).toContain('Tuesday, 3 March 2026 at 09:30 UTC')
  })

  it('has a greeting without a name, and no message block, if there is neither', async () => {
    const { mail } = await invite()
    expect(mail.parsed.text).toMatch(/^Hello,\n/)
    expect(mail.parsed.html).toMatch(/<p[^>]*>Hello,<\/p>/)
    expect(mail.parsed.html).not.toContain('<blockquote')
  })

  it('keeps the lines of the custom message', async () => {
    const { mail } = await invite({ customMessage: 'First line.\n\nSecond line, ✓ & <b>.' })
    expect(mail.parsed.text).toContain('\n> First line.\n>\n> Second line, ✓ & <b>.\n')
    expect(mail.parsed.html).toContain('First line.<br><br>Second line, ✓ &amp; &lt;b&gt;.')
  })

  it('shows a name in any script', async () => {
    const { mail } = await invite({ recipientName: 'Zoë 孫 🎓' })
    expect(mail.parsed.to![0]!.name).toBe('Zoë 孫 🎓')
    for (const part of [mail.parsed.text, mail.parsed.html]) expect(part).toContain('Zoë 孫 🎓')
  })

  it("links to the candidate's page, which names the assessment", async () => {
    const { mail, assessment } = await invite()
    expect(linkIn(mail)).toMatch(/^\/i\/[A-Za-z0-9_-]+$/)
    const page = await service.http().get(linkIn(mail))
    expect([page.status, page.type]).toEqual([200, 'text/html'])
    expect(page.text).toContain(assessment.name)
  })

  it('leaves the invite unchanged when its link is followed, as mail scanners do', async () => {
    const { mail, invite: made, key } = await invite()
    for (const method of ['get', 'head', 'get'] as const) expect((await service.http()[method](linkIn(mail))).status).toBe(200)
    expect((await service.v1(key).get(`/invites/${made.id}`)).body).toMatchObject({
      status: 'pending',
      acceptedAt: null,
      startedAt: null,
    })
  })
})
