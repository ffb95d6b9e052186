import { hash } from 'node:crypto'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { createApiKey } from '../../../../src/domain/api-keys/api-keys.ts'
import { requestCandidateArchive } from '../../../../src/domain/archives/request-archive.ts'
import { findAgreedText, readPageTexts } from '../../../../src/domain/brand/page-texts.ts'
import { CONSENT_VERSION } from '../../../../src/domain/submissions/taking/record-consent.ts'
import { readArchive } from '../../../support/archives.ts'
import type { candidateOf } from '../../../support/candidate.ts'
import { waitForState } from '../../../support/mail.ts'
import { asOperator, signInAs } from '../../../support/portal.ts'
import { type Service, startService } from '../../../support/service.ts'
import { type SmtpListener, startSmtpListener } from '../../../support/smtp.ts'
import { makeAccepted } from '../../../support/taking.ts'
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

const LINKS = {
  imprint: 'https://example.com/imprint',
  privacy: 'https://example.com/privacy',
  contact: 'mailto:jobs@example.com',
}
const NONE = { imprint: '', privacy: '', contact: '', consent: '' }

async function start() {
  const { candidate, invite, organization } = await makeAccepted(service)
  const admin = await signInAs(service, organization.id, ['admin'])
  const path = `${admin.home}settings/links`
  const seen = async (language = 'en') => fieldIn((await admin.get(`${path}?language=${language}`)).text, 'seen') ?? ''
  const save = async (fields: Record<string, string>) =>
    admin.post(path, { language: 'en', seen: await seen(fields.language), ...NONE, ...fields })
  return { candidate, invite, organization, admin, path, seen, save }
}

const inLanguage = (candidate: ReturnType<typeof candidateOf>, language: string) =>
  candidate.open().set('accept-language', language)
const linksOn = (text: string) =>
  [...text.matchAll(/<li><a class="link" href="([^"]*)" target="_blank" rel="noopener noreferrer">([^<]*)</g)].map((m) => [
    m[1],
    m[2],
  ])
const fieldIn = (text: string, name: string) => new RegExp(`name="${name}" value="([^"]*)"`).exec(text)?.[1]

it("shows page links in candidates' page footers in the reader's language, otherwise in the main one", async () => {
  const { organization, candidate, save, admin } = await start()
  expect(linksOn((await candidate.open()).text)).toEqual([])
  await service.db.organization.update({ where: { id: organization.id }, data: { languagesOffered: ['en', 'de', 'ar'] } })
  await save(LINKS)
  await save({ language: 'de', privacy: 'https://example.com/datenschutz' })
  expect(linksOn((await inLanguage(candidate, 'en')).text)).toEqual([
    [LINKS.imprint, 'Imprint'],
    [LINKS.privacy, 'Privacy'],
    [LINKS.contact, 'Contact'],
  ])
  expect(linksOn((await inLanguage(candidate, 'de')).text)).toEqual([
    [LINKS.imprint, 'Impressum'],
    ['https://example.com/datenschutz', 'Datenschutz'],
    [LINKS.contact, 'Kontakt'],
  ])
  await service.db.organization.update({ where: { id: organization.id }, data: { language: 'ar' } })
  expect(linksOn((await inLanguage(candidate, 'de')).text)).toEqual([['https://example.com/datenschutz', 'Datenschutz']])
  const [first, second] = await service.db.auditEntry.findMany({
    where: { organizationId: organization.id, action: 'changed_page_words' },
    orderBy: { at: 'asc' },
  })
  expect(first).toMatchObject({
    actorId: admin.member.id,
    details: { before: { imprint: '' }, after: { ...LINKS, consentVersion: 0 } },
  })
  expect(second).toMatchObject({ details: { language: 'de', after: { privacy: 'https://example.com/datenschutz' } } })
})

it('shows page links at the end of mails to candidates, in both parts', async () => {
  const { organization, save } = await start()
  await save(LINKS)
  const { key } = await createApiKey(service.system, { organizationId: organization.id, name: 'a', mode: 'live' })
  const { id: assessmentId } = await service.make.assessment(organization.id)
  const recipientEmail = `${service.deps.newId()}@example.com`
  const { body } = await service.v1(key).post('/invites').send({ assessmentId, recipientEmail, language: 'de' })
  await waitForState(service, { inviteId: body.invite.id }, 'sent')
  const { parsed } = smtp.mails.find(({ envelope }) => envelope.to[0] === recipientEmail)!
  expect(parsed.text).toContain(`Imprint (${LINKS.imprint}) · Privacy (${LINKS.privacy}) · Contact (jobs@example.com)`)
  for (const url of Object.values(LINKS)) expect(parsed.html).toContain(`href="${url}"`)
})

it("adds the organization's consent text to the service's, and stores the agreed version permanently", async () => {
  const { organization, candidate, invite, save, admin, path } = await start()
  const ours = (await candidate.open()).text
  expect(fieldIn(ours, 'own')).toBeUndefined()
  await save({ consent: 'First.\r\n<b>We keep your answers.</b>' })
  const asked = (await candidate.open()).text
  expect(asked).toContain(`${organization.name} adds`)
  expect(asked).toContain('First.\n&lt;b&gt;We keep your answers.&lt;/b&gt;')
  expect(asked).toContain('How long it is kept')
  const media = fieldIn(asked, 'media') ?? ''
  const agree = (own: string) =>
    candidate.press('consent', { version: `${CONSENT_VERSION}`, media, language: 'en', ...(own && { own }) })
  const read = () => service.db.submission.findFirst({ where: { inviteId: invite.id } })
  // The page asks again for consent to a text that was not shown or is outdated.
  await agree('')
  await save({ consent: 'Second.' })
  await agree(fieldIn(asked, 'own') ?? '')
  expect(await read()).toBeNull()
  await agree(fieldIn((await candidate.open()).text, 'own') ?? '')
  const submission = (await read())!
  expect(submission).toMatchObject({ consentLanguage: 'en', organizationConsentLanguage: 'en', organizationConsentVersion: 2 })
  await save({ consent: 'Third.' })
  await save({})
  const agreed = await findAgreedText(asOperator(service, organization), submission)
  expect(agreed?.body).toBe('Second.')
  const after = (await candidate.open()).text
  expect([after.includes('Second.'), after.includes('Third.')]).toEqual([true, false])
  expect((await admin.get(path)).text).toMatch(/Version 4[\s\S]*No text[\s\S]*Third\.[\s\S]*Second\.[\s\S]*Version 1/)
  expect(Buffer.from(submission.consentTextHash!)).not.toEqual(hash('sha256', '', 'buffer'))
  await candidate.press('start')
  const shown = await admin.get(`${admin.home}invites/${invite.id}/submission`)
  expect(shown.text).toContain(`version ${CONSENT_VERSION}, and version 2 of your own text (English)`)
  const eraser = asOperator(service, organization)
  const { id } = await requestCandidateArchive(eraser, { address: invite.recipientEmail })
  const archive = await readArchive(eraser, id)
  const [held] = JSON.parse(archive['invites/1/submissions.json']!.toString()).submissions
  expect(held.consent.own).toEqual({ language: 'en', version: 2, body: 'Second.' })
  expect(archive['invites/1/index.html']!.toString()).toContain('Second.')
})

it("shows readers of other languages the main language's consent text, marked as such", async () => {
  const { organization, candidate, save } = await start()
  await service.db.organization.update({ where: { id: organization.id }, data: { languagesOffered: ['en', 'ar'] } })
  await save({ consent: 'In English.' })
  const page = (await inLanguage(candidate, 'ar')).text
  expect(page).toContain('lang="en" dir="auto" data-own>In English.</div>')
  expect(fieldIn(page, 'own')).toBe('en 1')
  await save({ language: 'ar', consent: 'بالعربية.' })
  expect(fieldIn((await inLanguage(candidate, 'ar')).text, 'own')).toBe('ar 1')
})

it('rejects addresses without https, long texts, and unknown languages', async () => {
  const { save } = await start()
  for (const [field, value] of [
    ['imprint', 'http://example.com'],
    ['imprint', 'javascript:alert(1)'],
    ['imprint', 'mailto:jobs@example.com'],
    ['privacy', 'https://user:secret@example.com'],
    ['privacy', 'https://'],
    ['contact', 'mailto:jobs'],
    ['contact', 'mailto:jobs@example.com?bcc=me@example.com'],
    ['contact', 'mailto:jobs?cc=me@example.com'],
  ] as const) {
    const refused = await save({ [field]: value, consent: 'Typed.' })
    expect([value, refused.status, refused.text.includes(`id="${field}-mistake"`)]).toEqual([value, 422, true])
    expect(refused.text).toContain('Typed.')
  }
  expect((await save({ consent: 'x'.repeat(5_001) })).status).toBe(422)
  expect((await save({ language: 'tlh', consent: 'x' })).status).toBe(422)
})

it('saves texts independently of other settings and languages, and shows both versions of a conflict', async () => {
  const { organization, admin, path, seen, save } = await start()
  const other = await signInAs(service, organization.id, ['admin'])
  const settings = `${admin.home}settings/organization`
  const opened = { en: await seen(), de: await seen('de'), settings: fieldIn((await admin.get(settings)).text, 'seen') ?? '' }
  expect((await other.post(path, { language: 'de', seen: opened.de, ...LINKS, consent: 'Ihre.' })).status).toBe(303)
  const renamed = await other.post(settings, { seen: opened.settings, name: 'Renamed', senderName: '', replyTo: '' })
  expect(renamed.status).toBe(303)
  const mine = { language: 'en', seen: opened.en, ...NONE }
  expect((await admin.post(path, { ...mine, consent: 'Mine.' })).status).toBe(303)
  for (const [language, consent] of [
    ['en', 'Mine.'],
    ['de', 'Ihre.'],
  ] as const)
    expect(await readPageTexts(asOperator(service, organization), language)).toMatchObject({ consent })

  // An outdated form does not undo a later change, and shows who made it.
  await save({ language: 'de', ...LINKS, consent: 'Andere.' })
  const late = await other.post(path, { ...mine, consent: 'Theirs.' })
  expect([late.status, fieldIn(late.text, 'seen')]).toEqual([422, await seen()])
  expect(late.text).toMatch(new RegExp(`${admin.member.email} changed [^“]*“Mine\\.”[\\s\\S]*Theirs\\.</textarea>`))
})

it('reports changed texts to every admin by mail, and no other saves', async () => {
  const { organization, admin, save } = await start()
  const other = await signInAs(service, organization.id, ['admin'])
  await signInAs(service, organization.id, ['grader'])
  await service.db.credential.updateMany({ where: { email: other.member.email }, data: { language: 'de' } })
  await save(LINKS)
  await save(LINKS)
  await save({ ...LINKS, consent: 'We keep your answers.' })
  const where = { organizationId: organization.id, kind: 'page_words_changed' }
  const changeMails = await waitUntil('the mails', async () => {
    const rows = await service.db.memberEmail.findMany({ where })
    return rows.every(({ state }) => state === 'sent') ? rows : undefined
  })
  const both = [admin.member.id, other.member.id]
  expect(changeMails.map(({ memberId }) => memberId).sort()).toEqual([...both, ...both].sort())
  const to = (address: string) => smtp.mails.find(({ envelope }) => envelope.to[0] === address)!.parsed
  expect(to(admin.member.email).subject).toBe(`The links or the consent text for candidates were changed: ${organization.name}`)
  expect(to(admin.member.email).text).toMatch(/or its own consent text[\s\S]*\/settings\/audit-log/)
  expect(to(other.member.email).text).toContain('oder der Text, in den diese zusätzlich')
})

it('shows a note if nobody gets a text, and rejects a consent text of only spaces', async () => {
  const { organization, admin, path, save } = await start()
  await service.db.organization.update({ where: { id: organization.id }, data: { languagesOffered: ['de', 'en'] } })
  expect((await admin.get(`${path}?language=fr`)).text).toContain(
    'Your organization doesn’t offer French: only candidates of assessments in this language get these.',
  )
  for (const offered of ['de', 'en'])
    expect((await admin.get(`${path}?language=${offered}`)).text).not.toContain('id="not-offered"')
  const { status, text } = await save({ consent: ' \r\n ' })
  expect([status, text]).toEqual([422, expect.stringContaining('There are only spaces here.')])
})
