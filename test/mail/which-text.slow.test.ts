import { afterAll, beforeAll, expect, it, vi } from 'vitest'
import { findEmails } from '../../src/domain/invites/emails.ts'
import { TEMPLATE_KINDS, type TemplateKind } from '../../src/domain/mails/candidate-mails.ts'
import { saveMailTemplate } from '../../src/domain/mails/mail-templates.ts'
import { hasButton } from '../../src/domain/mails/template-text.ts'
import { renderInviteEmail } from '../../src/mail/invite-email.ts'
import { queueMail, retryNow, waitForState } from '../support/mail.ts'
import { asOperator, signInAs } from '../support/portal.ts'
import { type Service, startService } from '../support/service.ts'
import { type SmtpListener, startSmtpListener } from '../support/smtp.ts'
import { PATIENT } from '../support/wait-until.ts'

let service: Service
let smtp: SmtpListener
/** Addresses that the mail server defers at the first attempt. */
const deferred = new Set<string>()
beforeAll(async () => {
  smtp = await startSmtpListener({
    onRcptTo: ({ address }, _session, callback) =>
      callback(deferred.delete(address) ? Object.assign(new Error('Try again later'), { responseCode: 451 }) : null),
  })
  service = await startService({ SMTP_URL: smtp.url })
})
afterAll(async () => {
  await service.close()
  await smtp.close()
})

type Has = { assessment: boolean; organization: boolean; main: boolean; chosen: boolean }
const BOTH = [true, false]
const CASES: Has[] = BOTH.flatMap((assessment) =>
  BOTH.flatMap((organization) => BOTH.flatMap((main) => BOTH.map((chosen) => ({ assessment, organization, main, chosen })))),
)
/** Mail to a German reader. English templates may be a fallback for other languages. */
const expected = ({ assessment, organization, main, chosen }: Has): string =>
  assessment ? 'assessment de' : organization ? 'organization de' : main && chosen ? 'organization en' : 'ours de'
/** Mail to an English reader, for an assessment without templates. */
const inEnglish = ({ main }: Has): string => (main ? 'organization en' : 'ours en')

async function createAssessment() {
  const organization = await service.make.organization()
  const data = { languagesOffered: ['de', 'en'] }
  await service.db.organization.update({ where: { id: organization.id }, data })
  const assessment = await service.make.assessment(organization.id)
  const ctx = asOperator(service, organization)
  const write = (kind: TemplateKind, language: string, assessmentId: string | null, { seen = 0, subject = '' } = {}) => {
    const words = subject || `${assessmentId === null ? 'organization' : 'assessment'} ${language}`
    const body = `Words for ${kind}.${hasButton(kind) ? '\n\n{{ link }}' : ''}`
    return saveMailTemplate(ctx, { kind, language, assessmentId }, { subject: words, body, seen })
  }
  const empty = (kind: TemplateKind, language: string, assessmentId: string | null) =>
    saveMailTemplate(ctx, { kind, language, assessmentId }, { subject: '', body: '', seen: 1 })
  return { organization, assessment, write, empty }
}

/** Renders a mail of a kind as it would be sent now. */
async function render(assessment: { id: string; organizationId: string }, kind: string, language: string, byClock = false) {
  const invite = await service.make.invite(assessment, { language, completedAt: service.clock.now() })
  const now = service.clock.now()
  const row = { id: service.deps.newId(), organizationId: invite.organizationId, inviteId: invite.id, kind, linkVersion: 1 }
  // No job, so nothing sends it.
  await service.db.inviteEmail.create({ data: { ...row, createdAt: now, updatedAt: now } })
  const [email] = await findEmails(service.system, [row])
  const byItself = byClock ? { ...email!.byItself!, submittedAt: now, deadlineAt: now } : email!.byItself
  const { subject, text, html } = renderInviteEmail(service.mailSettings, { ...email!, byItself })
  const whose = email!.template ? subject : 'ours'
  return { which: whose === 'ours' ? `ours ${email!.spoken}` : whose, spoken: email!.spoken, text, html, subject }
}

it.each(TEMPLATE_KINDS)(
  'uses the text of the assessment, the organization, its main language, or the service, in that order: %s',
  async (kind) => {
    for (const has of CASES) {
      const { organization, assessment, write } = await createAssessment()
      if (has.assessment) await write(kind, 'de', assessment.id)
      if (has.organization) await write(kind, 'de', null)
      if (has.main) await write(kind, 'en', null)
      const data = { mainTemplateLanguage: has.chosen ? 'en' : null }
      await service.db.organization.update({ where: { id: organization.id }, data })
      // Templates of other kinds or assessments are never used.
      const other = TEMPLATE_KINDS[(TEMPLATE_KINDS.indexOf(kind) + 1) % TEMPLATE_KINDS.length]!
      await write(other, 'de', null, { subject: 'another kind' })
      await write(kind, 'de', (await service.make.assessment(organization.id)).id, { subject: 'another assessment' })
      const german = await render(assessment, kind, 'de')
      expect({ has, which: german.which }).toEqual({ has, which: expected(has) })
      expect({ has, which: (await render(assessment, kind, 'en')).which }).toEqual({ has, which: inEnglish(has) })
      // The whole mail is in one language, and still has the unsubscribe link.
      expect(german.html).toContain(`<html lang="${german.spoken}"`)
      if (kind !== 'invitation') expect(german.text).toContain('/u/')
      if (hasButton(kind)) expect(german.text.split('/i/')).toHaveLength(2)
    }
  },
)

it('shows on the page which text applies and why, with its preview', async () => {
  const { organization, assessment, write } = await createAssessment()
  const admin = await signInAs(service, organization.id, ['admin'])
  const home = `${admin.home}assessments/${assessment.id}/words`
  const look = async () => {
    const query = '?kind=not_started&language=de'
    const { text } = await admin.get(home + query)
    return { text, mail: (await admin.get(`${home}/preview${query}`)).text }
  }
  expect((await look()).text).toContain('Until you change it, emails have the service’s own text in German.')
  await write('not_started', 'en', null)
  await service.db.organization.update({ where: { id: organization.id }, data: { mainTemplateLanguage: 'en' } })
  const main = await look()
  expect(main.text).toContain('the organization’s text in English, which it has chosen for languages without one')
  expect(main.mail).toContain('<title>organization en</title>')
  await write('not_started', 'de', null)
  const general = await look()
  expect(general.text).toContain('emails have the organization’s text in German.')
  expect(general.mail).toContain('<title>organization de</title>')
  const form = {
    kind: 'not_started',
    language: 'de',
    subject: 'assessment de',
    body: '{{ assessment }}\r\n\r\n{{ link }}',
    seen: '0',
  }
  expect((await admin.post(home, form)).headers.location).toBe(`${home}?kind=not_started&language=de&done=saved`)
  const own = await look()
  expect(own.text).toContain('Candidates who read German get this assessment’s own text (version 1).')
  expect(own.mail).toContain('<title>assessment de</title>')
  expect(own.mail).toContain(assessment.name)
  const entry = await service.db.auditEntry.findFirstOrThrow({ where: { targetId: assessment.id, action: 'changed_mail_text' } })
  expect(entry.details).toEqual({ kind: 'not_started', language: 'de', version: 1 })
  // Deleting the assessment deletes its templates.
  await service.db.assessment.delete({ where: { id: assessment.id } })
  expect(await service.db.mailTemplate.count({ where: { organizationId: organization.id } })).toBe(2)
})

it('allows each kind its own placeholders, and a button only if it has one', async () => {
  const { organization } = await createAssessment()
  const admin = await signInAs(service, organization.id, ['admin'])
  const save = async (kind: TemplateKind, body: string) =>
    (await admin.post(`${admin.home}settings/words`, { kind, language: 'en', seen: '0', subject: 'Hello', body })).text
  expect(await save('submitted', 'Hello\n\n{{ link }}')).toContain('Line 3: {{ link }} is no placeholder of this text.')
  expect(await save('submitted', '')).toContain('Write a text, or leave both fields empty.')
  expect(await save('not_finished', 'Until {{ expires_at }}\n\n{{ link }}')).toContain(
    'Line 1: {{ expires_at }} is no placeholder',
  )
  expect(await save('released', '{{ message }}\n\n{{ link }}')).toContain('Line 1: {{ message }} is no placeholder')
  expect(await save('released', 'There is a result.')).toContain('The text needs {{ link }} once')
  expect(await save('submitted', 'Since {{ submitted_at }}.')).toBe('')
})

it('shows in every receipt when it was submitted, and whether time ran out', async () => {
  const { assessment, write } = await createAssessment()
  await write('submitted', 'en', null)
  const receipt = async (byClock: boolean) => (await render(assessment, 'submitted', 'en', byClock)).text
  expect(await receipt(false)).toMatch(/^Words for submitted\.\n\n- Submitted: /)
  expect(await receipt(true)).toMatch(
    /^Words for submitted\.\n\nThe time for the assessment [^\n]+ was up\.[^\n]*\n\n- Submitted: /,
  )
})

it('uses the next text if one is deleted between queueing and sending, and records which', async () => {
  const { assessment, write, empty } = await createAssessment()
  await write('invitation', 'en', null)
  await write('invitation', 'en', assessment.id)
  const newest = async (assessmentId: string | null) =>
    (await service.db.mailTemplate.findFirstOrThrow({ where: { organizationId: assessment.organizationId, assessmentId } })).id
  const sendAfter = async (meanwhile: () => Promise<unknown>) => {
    const invite = await service.make.invite(assessment, { language: 'en' })
    deferred.add(invite.recipientEmail)
    const id = await queueMail(service, invite)
    await vi.waitFor(
      async () => expect((await service.db.inviteEmail.findUniqueOrThrow({ where: { id } })).attempts).toBe(1),
      PATIENT,
    )
    await meanwhile()
    await retryNow(service, id)
    const { templateId, language } = await waitForState(service, { id }, 'sent')
    const mail = smtp.mails.find(({ envelope }) => envelope.to[0] === invite.recipientEmail)!
    return { subject: mail.parsed.subject, templateId, language }
  }
  expect(await sendAfter(async () => {})).toEqual({
    subject: 'assessment en',
    templateId: await newest(assessment.id),
    language: 'en',
  })
  expect(await sendAfter(() => empty('invitation', 'en', assessment.id))).toEqual({
    subject: 'organization en',
    templateId: await newest(null),
    language: 'en',
  })
  expect(await sendAfter(() => empty('invitation', 'en', null))).toEqual({
    subject: expect.stringContaining('invites you to'),
    templateId: null,
    language: 'en',
  })
})
