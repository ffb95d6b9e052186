import { afterAll, beforeAll, expect, it } from 'vitest'
import { createApiKey } from '../../../../src/domain/api-keys/api-keys.ts'
import { fieldsIn } from '../../../support/forms.ts'
import { linkIn, waitForState } from '../../../support/mail.ts'
import { signInAs } from '../../../support/portal.ts'
import { type Service, startService } from '../../../support/service.ts'
import { type SmtpListener, startSmtpListener } from '../../../support/smtp.ts'
import { waitUntil } from '../../../support/wait-until.ts'

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

const SUBJECT = 'Your next step at {{ organization }}'
const BODY =
  'Dear {{ candidate_name | default: "candidate" }},\r\n\r\nthank you for **asking**.\r\n\r\n{{ link }}\r\n\r\nThe team'

async function start() {
  const organization = await service.make.organization()
  const admin = await signInAs(service, organization.id, ['admin'])
  const path = `${admin.home}settings/words`
  const save = (fields: Record<string, string>) =>
    admin.post(path, { language: 'en', seen: '0', subject: SUBJECT, body: BODY, ...fields })
  return { organization, admin, path, save }
}

/** Invites a candidate. @returns the row of the mail, and the sent mail. */
async function invite({ id: organizationId }: { id: string }, fields: object = {}) {
  const { key } = await createApiKey(service.system, { organizationId, name: service.deps.newId(), mode: 'live' })
  const { id: assessmentId } = await service.make.assessment(organizationId)
  const recipientEmail = `${service.deps.newId()}@example.com`
  const { body } = await service
    .v1(key)
    .post('/invites')
    .send({ assessmentId, recipientEmail, ...fields })
  const email = await waitForState(service, { inviteId: body.invite.id }, 'sent')
  return { email, mail: smtp.mails.find(({ envelope }) => envelope.to[0] === recipientEmail)! }
}

it('sends candidates the custom text above fixed content, and records its version for each mail', async () => {
  const { organization, admin, path, save } = await start()
  expect((await save({})).headers.location).toBe(`${path}?kind=invitation&language=en&done=saved`)
  expect((await admin.get(path)).text).toContain('(version 1)')
  const { email, mail } = await invite(organization, { recipientName: 'Sam', customMessage: 'See you!\nMaya' })
  expect(mail.parsed.subject).toBe(`Your next step at ${organization.name}`)
  expect(mail.parsed.text).toMatch(
    /^Dear Sam,\n\nthank you for asking\.\n\nOpen the invitation\nhttp\S+\n\nThe team\n\n> See you!\n> Maya\n/,
  )
  for (const part of [mail.parsed.text, mail.parsed.html]) {
    expect(part).toContain('Open until: ')
    expect(part).toContain('for you alone')
  }
  const [version] = await service.db.mailTemplate.findMany({ where: { organizationId: organization.id } })
  expect(email.templateId).toBe(version!.id)
  const entry = await service.db.auditEntry.findFirstOrThrow({
    where: { organizationId: organization.id, action: 'changed_mail_text' },
  })
  expect(entry).toMatchObject({ actorId: admin.member.id, details: { language: 'en', version: 1 } })
})

it("falls back to the service's text when a text is emptied, also for queued mails, and keeps all versions", async () => {
  const { organization, save } = await start()
  await save({})
  expect((await save({ seen: '1', subject: '', body: '' })).status).toBe(303)
  const { email, mail } = await invite(organization)
  expect(mail.parsed.subject).toContain('invites you to')
  expect(email.templateId).toBeNull()
  expect(await service.db.mailTemplate.count({ where: { organizationId: organization.id } })).toBe(2)
})

it('begins with the default text, which stays the default when it is saved unchanged', async () => {
  const { organization, admin, path, save } = await start()
  for (const kind of ['invitation', 'not_accepted', 'not_started', 'not_finished', 'submitted', 'released']) {
    for (const language of service.deps.languages.codes) {
      const form = fieldsIn(await admin.get(`${path}?${new URLSearchParams({ kind, language })}`))
      expect(form.body).toContain('{{ assessment }}')
      expect(form.body!.includes('{{ link }}')).toBe(kind !== 'submitted')
      // Browsers send CRLF line ends.
      const unchanged = { kind, language, subject: form.subject!, body: form.body!.replaceAll('\n', '\r\n') }
      expect((await save(unchanged)).status).toBe(303)
      expect((await save({ ...unchanged, body: `${unchanged.body}\r\n\r\nPS.` })).status).toBe(303)
      expect((await save({ ...unchanged, seen: '1' })).status).toBe(303)
    }
  }
  const versions = await service.db.mailTemplate.groupBy({
    by: ['version'],
    where: { organizationId: organization.id, body: '' },
    _count: true,
  })
  expect(versions).toEqual([{ version: 2, _count: 6 * service.deps.languages.codes.length }])
  expect((await admin.get(path)).text).toContain('invites you to: {{ assessment }}')
  expect((await invite(organization)).email.templateId).toBeNull()
})

it('begins with the organization’s text if an assessment has none', async () => {
  const { organization, admin, save } = await start()
  await save({})
  const { id } = await service.make.assessment(organization.id)
  const path = `${admin.home}assessments/${id}/words`
  const form = fieldsIn(await admin.get(path))
  expect([form.subject, form.body]).toEqual([SUBJECT, BODY.replaceAll('\r\n', '\n')])
  await admin.post(path, { language: 'en', seen: '0', subject: SUBJECT, body: BODY })
  expect(await service.db.mailTemplate.count({ where: { organizationId: organization.id } })).toBe(1)
})

it('rejects an invalid text with its line, and keeps the typed text', async () => {
  const { admin, path, save } = await start()
  const { status, text } = await save({ body: 'Dear,\n\n{{ nobody }}\n\n{{ link }}' })
  expect([status, text]).toEqual([422, expect.stringContaining('Line 3: {{ nobody }} is no placeholder')])
  expect(text).toContain('{{ nobody }}\n\n{{ link }}</textarea>')
  expect((await admin.get(path)).text).toContain('the service’s own text')
})

it('does not overwrite a text from an outdated form', async () => {
  const { save } = await start()
  await save({})
  const { status, text } = await save({ subject: 'Another' })
  expect([status, text]).toEqual([422, expect.stringContaining('Somebody has changed this text meanwhile')])
})

it('previews a text in a frame without scripts for any name, without saving or sending', async () => {
  const { organization, admin, path } = await start()
  const received = () => smtp.mails.filter(({ envelope }) => envelope.to[0] === admin.member.email)
  const preview = (fields: Record<string, string>) =>
    admin.post(`${path}/preview`, { language: 'en', subject: SUBJECT, body: BODY, ...fields })
  const arabic = await preview({ who: 'arabic' })
  expect(arabic.headers['content-security-policy']).toMatch(/^sandbox; default-src 'none'/)
  expect(arabic.text).toContain('محمد')
  expect((await preview({ who: 'none' })).text).toContain('Dear <bdi>candidate</bdi>')
  expect((await preview({ part: 'text' })).text).toContain(`Subject: Your next step at ${organization.name}`)
  expect((await preview({ body: '{{ link' })).text).toContain('Line 1: A placeholder is begun or ended')
  expect((await admin.get(`${path}/preview`)).text).toContain('invites you to take the assessment')
  expect(received()).toEqual([])
  expect(await service.db.mailTemplate.count({ where: { organizationId: organization.id } })).toBe(0)
})

it('saves one of several concurrent texts, and informs the others of the change', async () => {
  const { organization, save } = await start()
  const answers = await Promise.all(Array.from({ length: 8 }, (_, i) => save({ subject: `Text ${i} of {{ organization }}` })))
  expect(answers.map(({ status }) => status).sort()).toEqual([303, ...Array(7).fill(422)])
  const versions = await service.db.mailTemplate.findMany({ where: { organizationId: organization.id } })
  expect(versions.map(({ version }) => version)).toEqual([1])
})

/** Test mails that an admin has sent to themselves. */
const testsOf = ({ member }: { member: { id: string } }) =>
  service.db.memberEmail.findMany({ where: { memberId: member.id, kind: 'text_test' } })

it('mails a test only to the signed-in member, as typed, with a link to a page that explains it', async () => {
  const { organization, admin, path } = await start()
  await service.db.organization.update({ where: { id: organization.id }, data: { senderName: 'Acme Talent' } })
  // The account's address, which others can change, differs from the address that the person signs in with.
  await service.db.user.update({
    where: { id: admin.member.userId },
    data: { email: `${service.deps.newId()}@elsewhere.example` },
  })
  const { status, text } = await admin.post(`${path}/test`, { language: 'de', who: 'arabic', subject: SUBJECT, body: BODY })
  expect([status, text]).toEqual([200, expect.stringContaining(`A test is on its way to ${admin.member.email}`)])
  expect(text).toContain('thank you for **asking**.')
  const mail = await waitUntil('the test', async () => smtp.mails.find(({ envelope }) => envelope.to[0] === admin.member.email))
  expect(mail.parsed.subject).toBe(`Test: Your next step at ${organization.name}`)
  expect(mail.parsed.from).toMatchObject({ name: 'Acme Talent' })
  expect(mail.parsed.text).toMatch(/^Dear محمد[^\n]+,\n\nthank you for asking\.\n\nEinladung öffnen\n/)
  expect(linkIn(mail)).toBe('/i/test')
  const page = await service.http().get('/i/test')
  expect([page.status, page.text]).toEqual([200, expect.stringContaining('This email was a test')])
  const { db } = service
  const where = { organizationId: organization.id }
  const counts = [db.mailTemplate, db.invite, db.inviteEmail, db.event].map((table) =>
    (table.count as (given: object) => Promise<number>)({ where }),
  )
  expect(await Promise.all(counts)).toEqual([0, 0, 0, 0])
  const entry = await db.auditEntry.findFirstOrThrow({ where: { ...where, action: 'tested_mail_text' } })
  expect(entry).toMatchObject({ actorId: admin.member.id, details: { language: 'de' } })
})

it('mails at most five tests an hour across organizations, and rejects invalid texts', async () => {
  const { admin, path } = await start()
  const test = (body = BODY) => admin.post(`${path}/test`, { language: 'en', subject: SUBJECT, body })
  expect((await test('{{ link')).status).toBe(422)
  const answers = await Promise.all(Array.from({ length: 8 }, () => test()))
  expect(answers.map(({ status }) => status).sort()).toEqual([...Array(5).fill(200), ...Array(3).fill(422)])
  const refused = answers.find(({ status }) => status === 422)!
  expect(refused.text).toContain('You can email yourself 5 tests an hour. Please try again in 60 minutes.')
  expect(refused.text).toContain('thank you for **asking**.')
  expect(await testsOf(admin)).toHaveLength(5)

  const other = await start()
  const { credentialId } = await service.db.member.findUniqueOrThrow({ where: { id: other.admin.member.id } })
  await service.db.member.update({ where: { id: admin.member.id }, data: { credentialId } })
  const elsewhere = () => other.admin.post(`${other.path}/test`, { language: 'en', subject: SUBJECT, body: BODY })
  expect((await elsewhere()).status).toBe(422)
  const createdAt = new Date(service.clock.now().getTime() - 3_600_000)
  await service.db.memberEmail.updateMany({ where: { memberId: admin.member.id }, data: { createdAt } })
  expect((await elsewhere()).status).toBe(200)
})

it("replaces the service's text in other languages if chosen, and the whole mail uses their language", async () => {
  const { organization, admin, path, save } = await start()
  await service.db.organization.update({ where: { id: organization.id }, data: { languagesOffered: ['de', 'en'] } })
  await save({})
  const ours = await invite(organization, { language: 'de' })
  expect([ours.email.language, ours.email.templateId, ours.mail.parsed.subject]).toEqual([
    'de',
    null,
    expect.stringContaining('lädt'),
  ])
  const choose = (mainLanguage: string) => admin.post(`${path}/main`, { language: 'de', mainLanguage })
  expect((await choose('fr')).status).toBe(422)
  expect((await choose('en')).headers.location).toBe(`${path}?kind=invitation&language=de&done=main`)
  expect((await admin.get(`${path}?language=de`)).text).toContain('emails have your text in English, which is chosen below')
  expect((await admin.get(`${path}/preview?language=de`)).text).toContain('thank you for <strong>asking')
  const english = await invite(organization, { language: 'de' })
  expect([english.email.language, english.email.templateId]).toEqual(['en', expect.any(String)])
  expect(english.mail.parsed.text).toMatch(/thank you for asking[\s\S]*Open until: /)
  // The template in the reader's language is listed first.
  await save({ language: 'de', subject: 'Hallo', body: 'Guten Tag\n\n{{ link }}' })
  expect((await invite(organization, { language: 'de' })).mail.parsed.subject).toBe('Hallo')
  // A text in a language that is no longer offered replaces no other text.
  await service.db.organization.update({ where: { id: organization.id }, data: { language: 'de', languagesOffered: ['de'] } })
  await save({ language: 'de', seen: '1', subject: '', body: '' })
  expect((await invite(organization, { language: 'de' })).mail.parsed.subject).toContain('lädt')
})

it('reports a changed text to every admin by mail, in their languages', async () => {
  const { organization, admin, save } = await start()
  const other = await signInAs(service, organization.id, ['admin'])
  await signInAs(service, organization.id, ['grader'])
  await service.db.credential.updateMany({ where: { email: other.member.email }, data: { language: 'de' } })
  await save({})
  await save({ seen: '1', subject: 'Another' })
  await save({ kind: 'submitted', body: 'Thank you.' })
  const where = { organizationId: organization.id, kind: 'text_changed' }
  const changeMails = await waitUntil('the mails', async () => {
    const rows = await service.db.memberEmail.findMany({ where })
    return rows.every(({ state }) => state === 'sent') ? rows : undefined
  })
  const both = [admin.member.id, other.member.id]
  expect(changeMails.map(({ memberId }) => memberId).sort()).toEqual([...both, ...both, ...both].sort())
  const to = (address: string) => smtp.mails.filter(({ envelope }) => envelope.to[0] === address).map(({ parsed }) => parsed)
  expect(to(admin.member.email)[0]!.subject).toBe(`An email template for candidates was changed: ${organization.name}`)
  expect(to(admin.member.email)[0]!.text).toContain(`Its subject is now: ${SUBJECT}`)
  expect(to(other.member.email)[0]!.text).toContain('Der Betreff ist jetzt')
  await save({ seen: '2', subject: '', body: '' })
  const removed = () => to(admin.member.email).find(({ text }) => text!.includes('was removed. Candidates get the text'))
  await waitUntil('the mail about the removed text', removed)
  expect(await service.db.memberEmail.count({ where })).toBe(8)
})

it('rejects a text of only spaces, without a notification', async () => {
  const { organization, save } = await start()
  for (const blank of [
    { subject: '  ', body: '' },
    { subject: '', body: ' \r\n ' },
  ]) {
    const { status, text } = await save(blank)
    expect([status, text]).toEqual([422, expect.stringContaining('There are only spaces here.')])
  }
  expect(await service.db.mailTemplate.count({ where: { organizationId: organization.id } })).toBe(0)
})

it('shows a note for languages that candidates are not offered', async () => {
  const { organization, admin, path } = await start()
  await service.db.organization.update({ where: { id: organization.id }, data: { languagesOffered: ['de', 'en'] } })
  const few = 'only candidates of assessments in this language get this text.'
  const { text } = await admin.get(`${path}?language=es`)
  expect(text).toContain(
    `Your organization doesn’t offer Spanish: ${few} Offer it under <a href="${admin.home}settings/languages">`,
  )
  expect(text).toContain('>Spanish (not offered)</a>')
  expect((await admin.get(`${path}?language=de`)).text).not.toContain(few)
})

it('copies the newest version of each text with its assessment', async () => {
  const { organization, admin } = await start()
  const { id } = await service.make.assessment(organization.id)
  const path = `${admin.home}assessments/${id}/words`
  const save = (fields: Record<string, string>) =>
    admin.post(path, { language: 'en', seen: '0', subject: SUBJECT, body: BODY, ...fields })
  await save({})
  await save({ seen: '1', subject: 'The newest' })
  await save({ kind: 'submitted', body: 'Thank you.' })
  await save({ kind: 'submitted', seen: '1', subject: '', body: '' })
  const { headers } = await admin.post(`${admin.home}assessments/${id}/duplicate`)
  const copy = /assessments\/([\da-f-]+)/.exec(headers.location!)![1]!
  expect((await admin.get(`${admin.home}assessments/${copy}/words`)).text).toContain('value="The newest"')
  const copied = await service.db.mailTemplate.findMany({ where: { assessmentId: copy } })
  expect(copied).toMatchObject([{ version: 1, subject: 'The newest', kind: 'invitation', language: 'en' }])
})
