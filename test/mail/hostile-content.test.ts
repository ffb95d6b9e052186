import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { queueMail, waitForState } from '../support/mail.ts'
import { type Service, startService } from '../support/service.ts'
import { type ReceivedMail, type SmtpListener, startSmtpListener } from '../support/smtp.ts'

let service: Service
let smtp: SmtpListener
let plain: ReceivedMail
beforeAll(async () => {
  smtp = await startSmtpListener()
  service = await startService({ SMTP_URL: smtp.url })
  plain = await send({})
})
afterAll(async () => {
  await service.close()
  await smtp.close()
})

/** All fields that appear in mails. The tests write rows directly, because imports may contain text that an interface rejects. */
type Texts = {
  organization?: string
  assessment?: string
  recipientName?: string
  customMessage?: string
  firstName?: string
  lastName?: string
  senderName?: string
  invitationText?: string
}
const fields = [
  'organization',
  'assessment',
  'recipientName',
  'customMessage',
  'firstName',
  'lastName',
  'senderName',
  'invitationText',
] as const

async function send(texts: Texts): Promise<ReceivedMail> {
  const { make, db } = service
  const { id: organizationId, name } = await make.organization()
  const { organization = name, senderName = 'Talent', invitationText = 'Ask us.' } = texts
  await db.organization.update({ where: { id: organizationId }, data: { name: organization, senderName, invitationText } })
  const assessment = await make.assessment(organizationId, { name: texts.assessment ?? name })
  const { firstName = 'Maya', lastName = 'Okafor' } = texts
  const creator = await make.member(organizationId, { firstName, lastName })
  const { recipientName = 'Sam', customMessage = 'Good luck!' } = texts
  const invite = await make.invite(assessment, { recipientName, customMessage, createdById: creator.id })
  const { id } = await waitForState(service, { id: await queueMail(service, invite) }, 'sent')
  const mail = smtp.mails.find(({ parsed }) => parsed.messageId?.includes(id))!
  expect(mail.envelope.to).toEqual([invite.recipientEmail])
  expect(mail.parsed.from).toMatchObject({ address: mail.envelope.from })
  expect(mail.parsed.to).toMatchObject([{ address: invite.recipientEmail }])
  expect(mail.parsed.replyTo).toMatchObject([{ address: creator.email }])
  return mail
}

/** All tags of the HTML with their attributes, except line breaks. Replaces the link's token, which differs from mail to mail. */
const tagsOf = ({ parsed }: ReceivedMail) =>
  (parsed.html!.match(/<[a-z/!][^>]*>/gi) ?? [])
    .filter((tag) => tag !== '<br>')
    .map((tag) => tag.replace(/\/i\/[A-Za-z0-9_-]+/, '/i/…'))
const headerNames = ({ parsed }: ReceivedMail) => parsed.headers.map(({ key }) => key)

const hostile = {
  'line breaks and a Bcc': 'Eve\r\nBcc: victim@example.com\r\n\r\n<h1>Body</h1>',
  'a lone line feed': 'Eve\nBcc: victim@example.com',
  'a lone carriage return': 'Eve\rSubject: Replaced',
  'other line breaks': 'Eve\u0085X: 1\u2028X: 2\u2029X: 3\u000bX: 4\u000cX: 5',
  'more addresses': 'Eve" <victim@example.com>, "Mallory',
  markup: '<script>alert(1)</script><img src=x onerror=alert(1)><a href="https://evil.example">here</a></p></body></html>',
  'markup that breaks out of an attribute': `" onmouseover="alert(1)' style='`,
  'markup in disguise': '&lt;script&gt;&#60;script&#62;<scr<script>ipt>',
  'a template': '<%= it.url %><% throw 1 %>{{it.url}}',
  'directional marks': '\u202egro.live\u202c\u2066\u2067x\u2069\u200f\u200e\u061c',
  'invisible characters': 'E\u200bv\u00ade\u2060\ufeff\u0007\u001b[31m',
  'an encoded word': '=?utf-8?Q?=0D=0ABcc:_victim@example.com?=',
  'a boundary': '----_NmP-1\r\nContent-Type: text/html\r\n\r\n<h1>Injected</h1>',
  'an end-of-mail line': 'Eve\r\n.\r\nMAIL FROM:<eve@example.com>\r\nRCPT TO:<victim@example.com>\r\nDATA\r\n',
  '10 KB': 'long '.repeat(2_000),
  '10 KB without a space': '長'.repeat(10_000),
  '10 KB of emoji': '🎓'.repeat(5_000),
}

it.each(Object.entries(hostile))("keeps a mail's recipients, headers, and markup with %s in any field", async (_what, text) => {
  const mail = await send(
    Object.fromEntries(fields.map((field) => [field, field === 'organization' ? service.make.unique(text) : text])),
  )
  expect(headerNames(mail)).toEqual(headerNames(plain))
  expect(tagsOf(mail)).toEqual(tagsOf(plain))
  for (const shown of [
    mail.parsed.subject!,
    ...[mail.parsed.from!, mail.parsed.to!, mail.parsed.replyTo!].flat().map(({ name }) => name),
  ]) {
    expect(shown).not.toMatch(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\ufffd]/u)
    expect([...shown].length).toBeLessThanOrEqual(150)
  }
  expect(mail.raw.split('\r\n').every((line) => line.length <= 998)).toBe(true)
  expect(mail.parsed.attachments).toEqual([])
})

it('shows hostile text to the candidate as text', async () => {
  const markup = '<b onclick="x">&amp;</b>'
  const { parsed } = await send({
    organization: `Acme ${markup}`,
    assessment: markup,
    recipientName: markup,
    customMessage: markup,
  })
  expect(parsed.text).toContain(`Acme ${markup} invites you to take the assessment “${markup}”`)
  expect(parsed.html).toContain('&lt;b onclick=&quot;x&quot;&gt;&amp;amp;&lt;/b&gt;')
  expect(parsed.html).not.toContain('<b onclick')
})

describe.each([
  'a@example.com, victim@example.com',
  'a@example.com\r\nBcc: victim@example.com',
  'a@example.com> RCPT TO:<victim@example.com',
  '"a" <a@example.com>',
  'group:a@example.com,victim@example.com;',
  'no address',
])('the address %j', (address) => {
  it("reaches nobody as the candidate's address", async () => {
    const { id } = await service.make.organization()
    const invite = await service.make.invite(await service.make.assessment(id), { recipientEmail: address })
    const email = await waitForState(service, { id: await queueMail(service, invite) }, 'failed')
    expect(email.reason).toMatch(/address/i)
    expect(smtp.mails.filter(({ raw }) => raw.includes(email.id))).toEqual([])
  })

  it("becomes a single reply address as the creator's address", async () => {
    const { id } = await service.make.organization()
    const creator = await service.make.member(id, { email: address })
    const invite = await service.make.invite(await service.make.assessment(id), { createdById: creator.id })
    const email = await waitForState(service, { id: await queueMail(service, invite) }, 'sent')
    const mail = smtp.mails.find(({ parsed }) => parsed.messageId?.includes(email.id))!
    expect(mail.envelope.to).toEqual([invite.recipientEmail])
    expect(mail.parsed.to).toMatchObject([{ address: invite.recipientEmail }])
    expect(mail.parsed.replyTo).toHaveLength(1)
    expect(headerNames(mail)).toEqual(headerNames(plain))
  })
})
