import { afterAll, beforeAll, expect, it } from 'vitest'
import { linkIn, waitForState } from '../support/mail.ts'
import { type Service, startService } from '../support/service.ts'

let service: Service
beforeAll(async () => {
  service = await startService()
})
afterAll(() => service.close())

async function inviteCandidate(fields: object = {}, assessmentName = service.make.unique('Assessment')) {
  const { id, key } = await service.make.organization()
  const assessment = await service.make.assessment(id, { name: assessmentName })
  const { body } = await service
    .v1(key)
    .post('/invites')
    .send({ assessmentId: assessment.id, recipientEmail: 'candidate@example.com', ...fields })
  const email = await waitForState(service, { inviteId: body.invite.id }, 'captured')
  return { email, assessment, invite: body.invite }
}

it('captures every mail while no mail server is configured', async () => {
  const { email } = await inviteCandidate()
  expect(email).toMatchObject({ state: 'captured', attempts: 1, reason: '', sentAt: service.clock.now() })
})

it('lists the captured mails, the newest first', async () => {
  const first = await inviteCandidate({ recipientEmail: 'first@example.com' })
  service.clock.advance(1_000)
  const second = await inviteCandidate({ recipientEmail: 'second@example.com' })
  const page = await service.http().get('/dev/mailbox')
  expect([page.status, page.type]).toEqual([200, 'text/html'])
  for (const { email, assessment } of [first, second]) {
    expect(page.text).toContain(`href="/dev/mailbox/${email.id}"`)
    expect(page.text).toContain(assessment.name)
  }
  expect(page.text.indexOf('second@example.com')).toBeLessThan(page.text.indexOf('first@example.com'))
  expect(page.text).toContain('captured')
})

it('shows a mail with its headers and both alternatives', async () => {
  const { email, assessment, invite } = await inviteCandidate({ recipientName: 'Sam Rivera', customMessage: 'Good luck!' })
  const page = await service.http().get(`/dev/mailbox/${email.id}`)
  expect([page.status, page.type]).toEqual([200, 'text/html'])
  for (const words of ['Sam Rivera', 'candidate@example.com', assessment.name, invite.id, 'Good luck!'])
    expect(page.text).toContain(words)
  const html = await service.http().get(`/dev/mailbox/${email.id}?part=html`)
  expect([html.status, html.type]).toEqual([200, 'text/html'])
  expect(html.text).toContain('Open the invitation')
  const link = linkIn({ parsed: { text: page.text.replaceAll('\n', ' \n') } as never })
  expect((await service.http().get(link)).text).toContain(assessment.name)
})

it('shows hostile text as text, and runs nothing', async () => {
  const markup = '<script>alert(1)</script>'
  const { email } = await inviteCandidate(
    { recipientName: markup, customMessage: markup },
    `${markup} ${service.make.unique('')}`,
  )
  for (const path of ['/dev/mailbox', `/dev/mailbox/${email.id}`, `/dev/mailbox/${email.id}?part=html`]) {
    const { text, headers } = await service.http().get(path)
    expect(text).toContain('&lt;script&gt;')
    expect(text).not.toContain('<script')
    expect(headers['content-security-policy']).toContain("default-src 'none'")
  }
})

it.each(['01900000-0000-7000-8000-000000000000', 'none', '%00', "'"])(
  'answers 404 to the mail %s, which does not exist',
  async (id) => {
    expect((await service.http().get(`/dev/mailbox/${id}`)).status).toBe(404)
  },
)
