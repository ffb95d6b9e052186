import { describe, expect, it } from 'vitest'
import { queueDigests } from '../../../../src/domain/submissions/grading/queue-digests.ts'
import { DAY_MS } from '../../../support/factories.ts'
import { makeOpenLink, readerOf } from '../../../support/open-links.ts'
import { signInAs } from '../../../support/portal.ts'
import { startServiceForFile } from '../../../support/service.ts'

const service = await startServiceForFile()

async function open(settings: Parameters<typeof makeOpenLink>[1] = {}) {
  const link = await makeOpenLink(service, settings)
  const admin = await signInAs(service, link.organization.id, ['admin'])
  const home = link.ctx.mode === 'test' ? admin.home.replace('/portal/', '/portal/test/') : admin.home
  const page = `${home}assessments/${link.assessment.id}`
  return { ...link, ...admin, home, page, own: `${page}/open-link` }
}
const settingsForm = {
  opensAt: '',
  closesAt: '',
  maxInvites: '',
  dailyInvites: '500',
  inviteDays: '30',
  emailDomains: '',
}

describe('the open link of an assessment', () => {
  it('is off until somebody switches it on, and can be switched off again', async () => {
    const link = await open({ settings: { isOn: false } })
    expect((await link.get(link.page)).text).toContain('The link is off: nobody can start without an invite.')
    expect((await link.post(`${link.own}/on`)).headers.location).toBe(`${link.own}?done=on`)
    const { text } = await link.get(`${link.own}?done=on`)
    const { url } = (await service.v1(link.organization.key).get(`/assessments/${link.assessment.id}/open-link`)).body.openLink
    for (const words of [url, 'QR code of the open link', `&lt;a href=&quot;${url}&quot;&gt;`, 'Nobody has used this link yet.'])
      expect(text).toContain(words)
    expect((await link.get(link.page)).text).toContain(url)
    expect((await service.http().get(link.path)).status).toBe(200)
    await link.post(`${link.own}/off`)
    expect((await service.http().get(link.path)).status).toBe(404)
  })

  it('saves its settings, and shows each mistake beside its field', async () => {
    const link = await open()
    const tag = await service.make.tag(link.organization.id)
    const saved = await link.post(link.own, {
      ...settingsForm,
      opensAt: '2030-01-01',
      closesAt: '2030-01-31',
      maxInvites: '20',
      dailyInvites: '10',
      inviteDays: '7',
      emailDomains: 'Example.com\r\n@bücher.example',
      hasTags: 'yes',
      tagIds: tag.id,
      notifiesMembers: 'yes',
    })
    expect(saved.headers.location).toBe(`${link.own}?done=saved`)
    expect(await service.db.openLink.findFirst({ where: { id: link.id }, include: { tags: true } })).toMatchObject({
      isOn: true,
      opensAt: new Date('2030-01-01T00:00:00Z'),
      closesAt: new Date('2030-02-01T00:00:00Z'),
      maxInvites: 20,
      dailyInvites: 10,
      inviteDays: 7,
      emailDomains: ['example.com', 'xn--bcher-kva.example'],
      notifiesMembers: true,
      tags: [{ tagId: tag.id }],
    })
    expect((await link.get(link.own)).text).toContain('value="2030-01-31"')
    const wrong = await link.post(link.own, {
      ...settingsForm,
      ...{ opensAt: '2030-02-01', closesAt: '2030-01-01', maxInvites: '0', inviteDays: 'x', emailDomains: 'no domain' },
    })
    expect(wrong.status).toBe(422)
    for (const field of ['closesAt', 'maxInvites', 'inviteDays', 'emailDomains'])
      expect([field, wrong.text.includes(`id="${field}-mistake"`)]).toEqual([field, true])
  })

  it('keeps the exact times of an API key while their days stay as they are', async () => {
    const link = await open({ settings: { closesAt: new Date('2030-01-31T15:00:00Z') } })
    await link.post(link.own, { ...settingsForm, closesAt: '2030-01-31' })
    const stored = await service.db.openLink.findFirstOrThrow({ where: { id: link.id } })
    expect(stored.closesAt).toEqual(new Date('2030-01-31T15:00:00Z'))
  })

  it('is recorded in the audit log', async () => {
    const link = await open({ settings: { isOn: false } })
    await link.post(`${link.own}/on`)
    await link.post(`${link.own}/replace`)
    const { text } = await link.get(`${link.home}settings/audit-log`)
    for (const words of ['changed an open link', 'replaced an open link']) expect(text).toContain(words)
  })

  it('shows how many candidates started, and links to their invites', async () => {
    const link = await open()
    const other = await service.make.invite(link.assessment, { source: 'portal' })
    await readerOf(service, await link.register('came@example.com')).press('begin')
    expect((await link.get(link.own)).text).toContain('1 candidate</a> started by this link.')
    const listed = (await link.get(`${link.page}/invites?source=open`)).text
    expect([listed.includes('came@example.com'), listed.includes(other.recipientEmail)]).toEqual([true, false])
    const all = (await link.get(`${link.home}invites?source=portal`)).text
    expect([all.includes('came@example.com'), all.includes(other.recipientEmail)]).toEqual([false, true])
    const csv = await link.post(`${link.home}invites/export`, { source: 'open' })
    const [head, ...rows] = csv.text.trim().split(/\r?\n/)
    expect(head).toContain(',source,')
    expect(rows).toHaveLength(1)
    expect(rows[0]).toContain(',open,')
  })

  it('shows captured mails with their links for test data', async () => {
    const link = await open({ mode: 'test' })
    const registration = await link.register('tried@example.com')
    const { text } = await link.get(link.own)
    expect([text.includes('Emails of the test link'), text.includes(readerOf(service, registration).path)]).toEqual([true, true])
  })

  it('warns that it does not work while only invited people may take the assessment', async () => {
    const link = await open({ assessment: { audience: 'invite_only' } })
    expect((await link.get(link.own)).text).toContain('Only invited people can take this assessment')
    expect((await link.get(link.page)).text).not.toContain('Open link')
  })
})

it('sends a digest with the number of candidates to members who have switched it on', async () => {
  const link = await open({ settings: { notifiesMembers: true } })
  await service.db.member.update({ where: { id: link.member.id }, data: { notices: ['open_digest'] } })
  // After the hour of the digest, so that the candidate is part of the next one.
  const noon = new Date(service.clock.now().getTime() + DAY_MS)
  noon.setUTCHours(12)
  service.clock.set(noon)
  await readerOf(service, await link.register('came@example.com')).press('begin')
  // The next weekday's morning.
  const morning = new Date(noon)
  do morning.setUTCDate(morning.getUTCDate() + 1)
  while (morning.getUTCDay() % 6 === 0)
  morning.setUTCHours(8, 30)
  service.clock.set(morning)
  await queueDigests(service.system)
  const [mail] = await service.db.memberEmail.findMany({ where: { memberId: link.member.id } })
  expect(mail).toMatchObject({ kind: 'open_digest', facts: { count: 1 } })
})
