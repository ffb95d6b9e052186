import { expect, it } from 'vitest'
import { CONSENT_VERSION } from '../../../src/domain/submissions/taking/record-consent.ts'
import { zoneOf } from '../../../src/domain/time/zones.ts'
import { renderInviteEmail } from '../../../src/mail/invite-email.ts'
import { links } from '../../support/links.ts'
import { startServiceForFile } from '../../support/service.ts'
import { makeAccepted, makeTaking } from '../../support/taking.ts'

const service = await startServiceForFile()
const QUESTIONS = [{ script: 'What do you say first?', responseType: 'text' as const, points: 5 }]

/** Creates an invite in an organization that offers these languages. */
async function invite({
  offered = ['en', 'de', 'es'],
  ...more
}: {
  offered?: string[]
  status?: 'pending'
  language?: string
} = {}) {
  const made = await makeAccepted(service, { questions: QUESTIONS, ...more })
  await service.db.organization.update({ where: { id: made.invite.organizationId }, data: { languagesOffered: offered } })
  return made
}

const languageIn = ({ text, headers }: { text: string; headers: Record<string, string> }) => [
  /<html lang="([^"]*)" dir="([^"]*)"/.exec(text)?.slice(1).join(' '),
  headers['content-language'],
]

it('uses the language of the browser, and stores nothing of it', async () => {
  const { candidate, invite: asked } = await invite({ status: 'pending' })
  const german = await candidate.open().set('accept-language', 'de-AT,de;q=0.9,en;q=0.5')
  expect(languageIn(german)).toEqual(['de ltr', 'de'])
  expect(german.text).toContain('Einladung annehmen')
  expect(languageIn(await candidate.open())).toEqual(['en ltr', 'en'])
  expect(await service.db.invite.findUniqueOrThrow({ where: { id: asked.id } })).toMatchObject({
    chosenLanguage: null,
    language: null,
  })
})

it('reports a deleted invite in the browser’s language, reviewed or not', async () => {
  const { candidate, invite: erased } = await invite({ status: 'pending' })
  await service.db.invite.delete({ where: { id: erased.id } })
  const answer = await candidate.open().set('accept-language', 'es')
  expect([answer.status, ...languageIn(answer)]).toEqual([404, 'es ltr', 'es'])
})

it("uses the candidate's choice, made without a script, on pages and in the next mail", async () => {
  const { candidate, invite: asked } = await invite({ status: 'pending' })
  expect((await candidate.open()).text).toContain('name="language" value="de" lang="de"')
  await candidate.press('language', { language: 'de' })
  expect(languageIn(await candidate.open().set('accept-language', 'es'))).toEqual(['de ltr', 'de'])
  await candidate.press('language', { language: 'ar' })
  await candidate.press('language', { language: 'deutsch' })
  expect(languageIn(await candidate.open())).toEqual(['de ltr', 'de'])
  const email = await service.db.inviteEmail.create({
    data: {
      id: service.deps.newId(),
      organizationId: asked.organizationId,
      inviteId: asked.id,
      linkVersion: asked.linkVersion,
      createdAt: service.clock.now(),
      updatedAt: service.clock.now(),
    },
  })
  const { findEmail } = await import('../../../src/domain/invites/emails.ts')
  const { subject, text, html } = renderInviteEmail(service.mailSettings, (await findEmail(service.system, email.id))!)
  expect(subject).toContain('lädt Sie ein')
  expect(text).toContain('Offen bis')
  expect(html).toContain('<html lang="de"')
})

it('offers no choice if the assessment has a fixed language or the organization offers only one', async () => {
  const { candidate, assessment } = await invite({ status: 'pending' })
  await service.db.assessment.update({ where: { id: assessment.id }, data: { interfaceLanguage: 'es' } })
  const page = await candidate.open().set('accept-language', 'de')
  expect(languageIn(page)).toEqual(['es ltr', 'es'])
  expect(page.text).not.toContain('data-language')
  const alone = await invite({ status: 'pending', offered: [] })
  expect((await alone.candidate.open()).text).not.toContain('data-language')
})

it('offers the assessment’s languages in addition to those of the organization', async () => {
  const { candidate, assessment } = await invite({ status: 'pending', offered: ['en'] })
  expect((await candidate.open()).text).not.toContain('data-language')
  const code = { code: 'es' }
  const spanish = await service.db.language.upsert({
    where: code,
    create: { id: service.deps.newId(), name: 'Spanish', ...code },
    update: {},
  })
  await links(service.db).addLanguages(assessment, spanish)
  const { text } = await candidate.open()
  expect([...text.matchAll(/name="language" value="([^"]*)"/g)].map(([, code]) => code)).toEqual(['en', 'es'])
  expect(languageIn(await candidate.open().set('accept-language', 'de'))).toEqual(['es ltr', 'es'])
  await candidate.press('language', { language: 'en' })
  expect(languageIn(await candidate.open())).toEqual(['en ltr', 'en'])
})

it('keeps the typed text when the language is changed in the middle of an answer', async () => {
  const { candidate, invite: asked } = await makeTaking(service, { questions: QUESTIONS })
  await service.db.organization.update({ where: { id: asked.organizationId }, data: { languagesOffered: ['en', 'de'] } })
  await candidate.press('open', { number: '1' })
  const { text } = await candidate.open()
  expect(text).toContain('value="de" lang="de" form="form-answer"')
  await candidate.press('answer', { number: '1', text: 'Half of a sent', language: 'de' })
  const after = await candidate.open()
  expect(languageIn(after)).toEqual(['de ltr', 'de'])
  expect(after.text).toContain('Half of a sent')
})

it('stores the language of the consent and a hash of its text', async () => {
  const { candidate, invite: asked } = await invite()
  const { text } = await candidate.open().set('accept-language', 'de')
  const media = /name="media" value="([^"]*)"/.exec(text)?.[1] ?? ''
  await candidate.press('consent', { version: `${CONSENT_VERSION}`, media, language: 'es' }).set('accept-language', 'de')
  expect(await service.db.submission.count({ where: { inviteId: asked.id } })).toBe(0)
  await candidate.press('consent', { version: `${CONSENT_VERSION}`, media, language: 'de' }).set('accept-language', 'de')
  const given = await service.db.submission.findFirstOrThrow({ where: { inviteId: asked.id } })
  expect([given.consentLanguage, given.consentTextHash?.length]).toEqual(['de', 32])
})

it('accepts the time zone of the candidate’s device, not an offset, and shows all times in it', async () => {
  const { candidate, invite: asked } = await invite({ status: 'pending' })
  await service.db.invite.update({ where: { id: asked.id }, data: { expiresAt: new Date('2027-03-28T00:30:00Z') } })
  const read = () => service.db.invite.findUniqueOrThrow({ where: { id: asked.id }, include: { organization: true } })
  for (const zone of ['+05:30', 'Asia/Nowhere', 'EST5EDT', 'Europe/Berlin\u0000', '../etc/passwd', ''])
    await candidate.press('accept', { zone })
  expect(zoneOf(await read())).toBe('UTC')
  const shownTime = async (zone: string) => {
    await service.db.invite.update({ where: { id: asked.id }, data: { status: 'pending' } })
    await candidate.press('accept', { zone })
    expect(zoneOf(await read())).toBe(zone)
    return /<time datetime="2027-03-28T00:30:00.000Z"[^>]*>([^<]*)</.exec((await candidate.open()).text)?.[1]
  }
  expect(await shownTime('Asia/Kolkata')).toBe('Sunday, 28 March 2027 at 06:00 GMT+5:30')
  expect(await shownTime('America/Sao_Paulo')).toBe('Saturday, 27 March 2027 at 21:30 GMT-3')
  // Half an hour before and after the clocks go forward.
  expect(await shownTime('Europe/Berlin')).toBe('Sunday, 28 March 2027 at 01:30 CET')
  await service.db.invite.update({ where: { id: asked.id }, data: { expiresAt: new Date('2027-03-28T01:30:00Z') } })
  expect((await candidate.open()).text).toContain('Sunday, 28 March 2027 at 03:30 CEST')
})

it('ignores an unknown or malformed language in POST /invites', async () => {
  const { assessment, organization } = await invite()
  const create = async (language: unknown, i: number) => {
    const { status } = await service
      .v1(organization.key)
      .post('/invites')
      .send({ assessmentId: assessment.id, recipientEmail: `sam${i}@example.com`, language })
    expect(status).toBe(201)
    return (await service.db.invite.findFirstOrThrow({ where: { recipientEmail: `sam${i}@example.com` } })).language
  }
  const given = ['de', 'pt_PT', 'tlh', '', 7, null, { de: true }]
  expect(await Promise.all(given.map(create))).toEqual(['de', 'pt-BR', null, null, null, null, null])
})
