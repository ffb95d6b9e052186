import { describe, expect, it } from 'vitest'
import { findEmail } from '../../../../src/domain/invites/emails.ts'
import { renderInviteEmail } from '../../../../src/mail/invite-email.ts'
import { candidateOf } from '../../../support/candidate.ts'
import { unknownId } from '../../../support/factories.ts'
import { fieldsIn, mistakesIn, rowsOf } from '../../../support/forms.ts'
import { signInAs } from '../../../support/portal.ts'
import { startServiceForFile } from '../../../support/service.ts'

const HOSTILE = `=1+1"'><script>alert(1)</script>&amp;{{7*7}}\u202e`
const SHOWN = '=1+1&quot;&#39;&gt;&lt;script&gt;alert(1)&lt;/script&gt;&amp;amp;{{7*7}}\u202e'

const service = await startServiceForFile()

/** Creates an organization with an assessment, and signs in its admin. */
async function setUp() {
  const organization = await service.make.organization()
  const assessment = await service.make.assessment(organization.id)
  await service.make.question(assessment)
  const admin = await signInAs(service, organization.id, ['admin'])
  return { organization, assessment, admin, home: admin.home }
}

const audited = async (organizationId: string) =>
  (
    await service.db.auditEntry.findMany({
      where: { organizationId, actorKind: 'member' },
      orderBy: [{ at: 'asc' }, { id: 'asc' }],
    })
  ).map(({ action, actorId, targetId }) => ({ action, actorId, targetId }))

/** Email addresses on a page of the list, in order. */
const listed = (text: string): string[] =>
  [...text.matchAll(/<th scope="row">.*?>([^<>]+@[^<>]+)<.*?<\/th>/gs)].map(([, email]) => email!)

/** Counts on the tabs of the list, by label. */
const tabCounts = ({ text }: { text: string }): Map<string, string> =>
  new Map(
    [...text.matchAll(/<a class="tab[^>]*>([\w ]+?) <span [^>]*>([\d,]+)<\/span>/g)].map(([, label, count]) => [label!, count!]),
  )

describe('the list of invites', () => {
  it('explains that a filter matches nothing, with a link to all invites', async () => {
    const { assessment, admin, home } = await setUp()
    await service.make.invite(assessment)
    expect((await admin.get(`${home}invites?search=nobody`)).text).toMatch(
      new RegExp(`No invites match\\.</p><a [^>]*href="${home}invites">Show all</a>`),
    )
    expect((await admin.get(`${home}invites?state=&sort=sent`)).text).not.toContain('Show all')
  })

  it("lists undelivered invites, consistently with candidates' and invites' pages", async () => {
    const { assessment, admin, home } = await setUp()
    const mailed = async (name: string, ...mails: object[]) => {
      const invite = await service.make.invite(assessment, { recipientEmail: `${name}@example.com` })
      const of = { organizationId: invite.organizationId, inviteId: invite.id, linkVersion: 1 }
      for (const [i, mail] of mails.entries()) {
        const createdAt = new Date(service.clock.now().getTime() + i * 1_000)
        await service.db.inviteEmail.create({
          data: { ...of, id: service.deps.newId(), createdAt, updatedAt: createdAt, ...mail },
        })
      }
      return invite
    }
    const sent = { state: 'sent' as const, sentAt: service.clock.now() }
    const bounced = { ...sent, bouncedAt: service.clock.now(), bounce: 'address' }
    const failed = { state: 'failed' as const, failure: 'refused' as const }
    await mailed('failed', failed)
    const cameBack = await mailed('bounced', bounced)
    await mailed('arrived', failed, { ...sent, kind: 'resent' })
    await mailed('reminder', sent, { ...bounced, kind: 'not_accepted' })
    const revoked = await mailed('revoked', bounced)
    await service.db.invite.update({ where: { id: revoked.id }, data: { status: 'revoked', revokedAt: service.clock.now() } })
    expect(tabCounts(await admin.get(`${home}invites`)).get('Not delivered')).toBe('2')
    const { text } = await admin.get(`${home}invites?state=undelivered&assessment=${assessment.id}`)
    expect(listed(text).sort()).toEqual(['bounced@example.com', 'failed@example.com'])
    const states = rowsOf((await admin.get(`${home}candidates`)).text).map((row) => row.split(' | ').slice(0, 3))
    const isUndelivered = states.filter(([, , state]) => state === 'not delivered').map(([who]) => who)
    expect(isUndelivered.map((who) => /[a-z]+@/.exec(who!)![0]).sort()).toEqual(['bounced@', 'failed@'])
    for (const path of [`invites/${cameBack.id}`, `candidates/${cameBack.id}`])
      expect((await admin.get(`${home}${path}`)).text).toContain('not delivered</span>')
    const ends = (await admin.get(`${home}candidates/${revoked.id}`)).text
    expect(ends).toContain('title="It is revoked and does not expire any more"')
    expect((await admin.get(`${home}invites/${revoked.id}`)).text).not.toContain('<dt>Expires</dt>')
  })

  it('counts each tab, and with a tag or search only the current one', async () => {
    const { organization, assessment, admin, home } = await setUp()
    const tag = await service.make.tag(organization.id)
    const before = tabCounts(await admin.get(`${home}invites`))
    const tagged = await service.make.invite(assessment, { recipientEmail: 'tagged@example.com' })
    const ofInvite = { organizationId: organization.id, inviteId: tagged.id }
    await service.db.inviteTag.create({ data: { ...ofInvite, tagId: tag.id, position: 0 } })
    await service.make.invite(assessment, { recipientEmail: 'other@example.com', status: 'completed' })
    expect(before.get('All')).toBe('0')
    const all = tabCounts(await admin.get(`${home}invites`))
    expect([all.get('All'), all.get('Pending'), all.get('Completed'), all.get('Expired')]).toEqual(['2', '1', '1', '0'])
    for (const query of [`tag=${tag.id}`, `search=${tagged.recipientEmail}`]) {
      expect([...tabCounts(await admin.get(`${home}invites?${query}`))]).toEqual([['All', '1']])
      expect([...tabCounts(await admin.get(`${home}invites?${query}&state=pending`))]).toEqual([['Pending', '1']])
      expect([...tabCounts(await admin.get(`${home}invites?${query}&state=completed`))]).toEqual([['Completed', '0']])
    }
  })

  it('is reached from an assessment, even if a select cannot show all', async () => {
    const { assessment, admin, home } = await setUp()
    const { id } = assessment
    const others = Array.from({ length: 1_000 }, () => ({ ...assessment, id: service.deps.newId(), name: 'A' }))
    await service.db.assessment.createMany({ data: others })
    const { text } = await admin.get(`${home}assessments/${id}`)
    expect(text).toContain(`href="${home}assessments/${id}/invites">`)
    const [, address] = /href="([^"]+invites\/new[^"]*)"/.exec(text)!
    const form = (await admin.get(address!)).text
    expect(form).toContain(`<option value="${id}" selected>`)
    expect((await admin.get(`${home}invites/new`)).text).toMatch(
      /<select id="assessmentId"[^>]*>\s*<option value="" selected>Choose…/,
    )
    const refused = await admin.post(`${home}invites`, { assessmentId: id, recipientEmail: 'nobody' })
    expect(refused.text).toContain('<title>Error: Invite a candidate')
    expect(refused.text).toMatch(new RegExp(`<option value="${id}" selected`))
    for (const unknown of ['x', unknownId, "'"])
      expect((await admin.get(`${home}invites/new?assessment=${encodeURIComponent(unknown)}`)).status).toBe(200)
  })

  it("hides the organization's members from clients", async () => {
    const { organization, assessment, admin } = await setUp()
    const client = await signInAs(service, organization.id, ['client'])
    const of = { organizationId: organization.id, assessmentId: assessment.id, memberId: client.member.id, position: 0 }
    await service.db.assessmentClient.create({ data: of })
    const staff = { createdById: admin.member.id, assignedGraderId: admin.member.id }
    const invite = await service.make.invite(assessment, staff)
    const termsFor = async (person: typeof admin) =>
      [...(await person.get(`${person.home}invites/${invite.id}`)).text.matchAll(/<dt>([^<]+)/g)].map(([, term]) => term)
    expect(await termsFor(admin)).toEqual(expect.arrayContaining(['Invited by', 'Grader']))
    const shown = await termsFor(client)
    expect([shown.includes('Sent'), shown.includes('Invited by'), shown.includes('Grader')]).toEqual([true, false, false])
  })

  it('filters by status, assessment, tag, address, and words of it, in the chosen order', async () => {
    const { organization, assessment, admin, home } = await setUp()
    const other = await service.make.assessment(organization.id)
    const tag = await service.make.tag(organization.id)
    const day = (n: number) => new Date(service.clock.now().getTime() + n * 86_400_000)
    const first = await service.make.invite(assessment, {
      recipientEmail: 'First@example.com',
      sentAt: day(-3),
      expiresAt: day(9),
    })
    await service.make.invite(other, {
      recipientEmail: 'second@example.com',
      sentAt: day(-2),
      expiresAt: day(8),
      status: 'revoked',
    })
    await service.make.invite(assessment, { recipientEmail: 'not.first@example.com', sentAt: day(-1), expiresAt: day(7) })
    await service.db.inviteTag.create({
      data: { organizationId: organization.id, inviteId: first.id, tagId: tag.id, position: 0 },
    })
    const list = async (query = '') => listed((await admin.get(`${home}invites${query}`)).text)
    expect(await list()).toEqual(['not.first@example.com', 'second@example.com', 'First@example.com'])
    expect(await list('?sort=sent-first')).toEqual(['First@example.com', 'second@example.com', 'not.first@example.com'])
    expect(await list('?sort=expires')).toEqual(['not.first@example.com', 'second@example.com', 'First@example.com'])
    expect(await list('?state=revoked')).toEqual(['second@example.com'])
    expect(await list(`?assessment=${other.id}`)).toEqual(['second@example.com'])
    expect(await list(`?tag=${tag.id}`)).toEqual(['First@example.com'])
    expect(await list(`?tag=${tag.id}&state=revoked`)).toEqual([])
    expect(await list('?search=first@EXAMPLE.com')).toEqual(['First@example.com'])
    expect(await list('?search=first')).toEqual(['not.first@example.com', 'First@example.com'])
    expect(await list(`?tag=${unknownId}`)).toEqual([])
    expect(await list('?state=x&assessment=x&tag=x&sort=constructor&page=x&page=2&search=%00')).toHaveLength(3)
  })

  it('keeps filters across pages', async () => {
    const { assessment, admin, home } = await setUp()
    for (let i = 0; i < 26; i++) await service.make.invite(assessment)
    const first = (await admin.get(`${home}invites?state=pending`)).text
    expect(first).toContain('26 invites, page 1 of 2')
    const [, next] = /href="([^"]+)">Next</.exec(first)!
    const second = (await admin.get(next!.replaceAll('&amp;', '&'))).text
    expect([listed(first).length, listed(second).length]).toEqual([25, 1])
    expect(second).toContain('page 2 of 2')
    expect(second).toContain('<input type="hidden" name="state" value="pending">')
    expect((await admin.get(`${home}invites?page=9999999`)).status).toBe(200)
  })

  it('rejects a search that is too broad', async () => {
    const { admin, home } = await setUp()
    const answer = await admin.get(`${home}invites?search=${'a+'.repeat(3)}b+c+d+e+f+g+h+i+j+k`)
    expect([answer.status, answer.text.includes('The search has more than 8 words.')]).toEqual([422, true])
  })

  it('shows graders their assigned invites, read-only', async () => {
    const { organization, assessment, home } = await setUp()
    const grader = await signInAs(service, organization.id, ['grader'])
    const mine = { assignedGraderId: grader.member.id, recipientEmail: 'mine@example.com' }
    const { id } = await service.make.invite(assessment, mine)
    const completed = { ...mine, recipientEmail: 'completed@example.com', status: 'completed' as const }
    await service.make.invite(assessment, { ...completed, sentAt: new Date(0) })
    const other = await service.make.invite(assessment, { recipientEmail: 'other@example.com' })
    const list = async (query = '') => listed((await grader.get(`${home}invites${query}`)).text)
    expect(await list()).toEqual(['mine@example.com', 'completed@example.com'])
    expect(await list('?state=completed')).toEqual(['completed@example.com'])
    expect(await list('?search=other@example.com')).toEqual([])
    const { status, text } = await grader.get(`${home}invites/${id}`)
    expect([status, /action="[^"]*invites/.test(text)]).toEqual([200, false])
    expect((await grader.get(`${home}invites/${other.id}`)).status).toBe(404)
    expect((await grader.get(`${home}invites?assessment=${assessment.id}`)).status).toBe(404)
    await service.db.invite.update({ where: { id }, data: { assignedGraderId: null } })
    expect((await grader.get(`${home}invites/${id}`)).status).toBe(404)
    await service.db.member.update({ where: { id: grader.member.id }, data: { roles: ['Recruiter'] } })
    expect((await grader.get(`${home}invites`)).status).toBe(404)
  })

  it('shows clients the invites of their assessments, read-only', async () => {
    const { organization, assessment, home } = await setUp()
    const other = await service.make.assessment(organization.id)
    const client = await signInAs(service, organization.id, ['client'])
    expect((await client.get(`${home}invites`)).text).toContain('No assessments are shared with you yet.')
    const data = { organizationId: organization.id, assessmentId: assessment.id, memberId: client.member.id, position: 0 }
    await service.db.assessmentClient.create({ data })
    const mine = await service.make.invite(assessment, { recipientEmail: 'mine@example.com' })
    const theirs = await service.make.invite(other, { recipientEmail: 'theirs@example.com' })
    expect(listed((await client.get(`${home}invites`)).text)).toEqual(['mine@example.com'])
    expect(listed((await client.get(`${home}invites?search=example.com`)).text)).toEqual(['mine@example.com'])
    expect((await client.get(`${home}invites?assessment=${other.id}`)).status).toBe(404)
    expect((await client.get(`${home}invites/${theirs.id}`)).status).toBe(404)
    const page = await client.get(`${home}invites/${mine.id}`)
    expect([page.status, page.text.includes('/i/'), /action="[^"]*invites/.test(page.text)]).toEqual([200, false, false])
  })
})

describe('inviting a candidate', () => {
  const form = {
    recipientEmail: ' candidate@example.com ',
    recipientName: HOSTILE,
    expiresInDays: '7',
    customMessage: `${HOSTILE}\r\nsecond line`,
    questionReplayLimit: '3',
    answerRecordLimit: '2',
    screenRecording: 'yes',
    sendEmail: 'yes',
  }

  it("creates the invite in the member's name, mails it, and audits it", async () => {
    const { organization, assessment, admin, home } = await setUp()
    const grader = await service.make.member(organization.id)
    const tag = await service.make.tag(organization.id)
    const more = { assessmentId: assessment.id, assignedGraderId: grader.id, tagIds: tag.id }
    const answer = await admin.post(`${home}invites`, { ...form, ...more })
    expect(answer.status).toBe(303)
    const invite = await service.db.invite.findFirstOrThrow({
      where: { organizationId: organization.id },
      include: { tags: true, emails: true },
    })
    expect(answer.headers.location).toBe(`${home}invites/${invite.id}?done=invited`)
    expect(invite).toMatchObject({
      recipientEmail: 'candidate@example.com',
      recipientName: HOSTILE,
      customMessage: `${HOSTILE}\nsecond line`,
      questionReplayLimit: 3,
      answerRecordLimit: 2,
      screenRecording: true,
      webcamMonitoring: false,
      requireIdCapture: false,
      facePhotoRequired: false,
      assignedGraderId: grader.id,
      createdById: admin.member.id,
      mode: 'live',
      expiresAt: new Date(service.clock.now().getTime() + 7 * 86_400_000),
      tags: [{ tagId: tag.id }],
      emails: [{}],
    })
    expect(await audited(organization.id)).toContainEqual({ action: 'invited', actorId: admin.member.id, targetId: invite.id })
    const page = (await admin.get(answer.headers.location!)).text
    expect(page).toContain('The invite is created.')
    expect(page).toContain(SHOWN)
    expect(page).not.toContain('<script>alert')
    expect(listed((await admin.get(`${home}invites`)).text)).toEqual(['candidate@example.com'])
  })

  it('uses the requirements of the assessment unless changed; API keys get the documented defaults', async () => {
    const { organization, assessment, admin, home } = await setUp()
    const { key } = organization
    const edit = `${home}assessments/${assessment.id}/edit`
    expect(fieldsIn(await admin.get(edit))).not.toHaveProperty('webcamMonitoring')
    const askedOf = async (recipientEmail: string) => {
      const { screenRecording, webcamMonitoring, requireIdCapture, facePhotoRequired } = await service.db.invite.findFirstOrThrow(
        { where: { recipientEmail, organizationId: organization.id } },
      )
      return { screenRecording, webcamMonitoring, requireIdCapture, facePhotoRequired }
    }
    const asked = async (recipientEmail: string, fields: Record<string, string>) => {
      const typed = { ...fieldsIn(await admin.get(`${home}invites/new`)), assessmentId: assessment.id, recipientEmail, ...fields }
      expect((await admin.post(`${home}invites`, typed)).status).toBe(303)
      return askedOf(recipientEmail)
    }
    const nothing = { screenRecording: false, webcamMonitoring: false, requireIdCapture: false, facePhotoRequired: false }
    expect(await asked('nothing@example.com', {})).toEqual(nothing)
    expect((await admin.post(edit, { ...fieldsIn(await admin.get(edit)), webcamMonitoring: 'yes' })).status).toBe(303)
    expect((await admin.get(`${home}assessments/${assessment.id}`)).text).toContain('<dt>Requirements</dt><dd>webcam</dd>')
    expect(await asked('assessment@example.com', {})).toEqual({ ...nothing, webcamMonitoring: true })
    expect(await asked('own@example.com', { proctoring: 'own', requireIdCapture: 'yes' })).toEqual({
      ...nothing,
      requireIdCapture: true,
    })
    await service.v1(key).post('/invites').send({ assessmentId: assessment.id, recipientEmail: 'key@example.com' })
    expect(await askedOf('key@example.com')).toEqual({
      screenRecording: true,
      webcamMonitoring: true,
      requireIdCapture: true,
      facePhotoRequired: true,
    })
  })

  it('requires an assessment, with questions if the invitation is mailed', async () => {
    const { organization, admin, home } = await setUp()
    const recipientEmail = 'candidate@example.com'
    const without = await service.make.assessment(organization.id)
    const invite = (fields: Record<string, string>) => admin.post(`${home}invites`, { recipientEmail, ...fields })
    expect(mistakesIn(await invite({ assessmentId: '', sendEmail: 'yes' }))).toEqual(['Choose an assessment.'])
    const unasked = 'This assessment has no questions yet. Add some before you send invitations.'
    expect(mistakesIn(await invite({ assessmentId: without.id, sendEmail: 'yes' }))).toEqual([unasked])
    const list = { assessmentId: without.id, list: recipientEmail, sendEmail: 'yes' }
    expect(mistakesIn(await admin.post(`${home}invites/batches`, list))).toEqual([unasked])
    expect((await invite({ assessmentId: without.id })).status).toBe(303)
  })

  it('shows mistakes, keeping the typed text', async () => {
    const { assessment, admin, home } = await setUp()
    const send = async (fields: Record<string, string>) => {
      const { status, text } = await admin.post(`${home}invites`, { ...form, assessmentId: assessment.id, ...fields })
      expect(status).toBe(422)
      return text
    }
    const text = await send({ recipientEmail: '=cmd@x', expiresInDays: '1e3', questionReplayLimit: '0' })
    expect(text).toContain('Enter a valid email address, such as name@example.com.')
    expect(text).toContain('The number of days must be a whole number from 1 to 3650.')
    expect(text).toContain('The number of replays must be a whole number from 1 to 2147483647.')
    expect(text).toContain(SHOWN)
    expect(text).toContain('value="=cmd@x"')
    expect(await send({ assessmentId: unknownId })).toContain('There is no such assessment')
    expect(await send({ assessmentId: 'x' })).toContain('There is no such assessment “x”.')
    expect(await send({ tagIds: unknownId })).toContain('There is no such tag')
    expect(await send({ assignedGraderId: admin.member.userId })).toContain('There is no such grader')
    await service.make.invite(assessment, { recipientEmail: 'Candidate@example.com' })
    expect(await send({})).toContain('This address is already invited to that assessment.')
  })
})

describe('an invite', () => {
  it('has its name and message corrected until it is accepted', async () => {
    const { organization, assessment, admin, home } = await setUp()
    const invite = await service.make.invite(assessment, { recipientName: 'Sma', customMessage: 'Helo' })
    const path = `${home}invites/${invite.id}`
    const answer = await admin.post(`${path}/correct`, { recipientName: ' Sam ', customMessage: 'Hello,\r\nSam' })
    expect([answer.status, answer.headers.location]).toEqual([303, `${path}?done=correct`])
    expect(await service.db.invite.findUniqueOrThrow({ where: { id: invite.id } })).toMatchObject({
      recipientName: 'Sam',
      customMessage: 'Hello,\nSam',
    })
    await admin.post(`${path}/correct`, { recipientName: 'Sam', customMessage: 'Hello,\nSam' })
    const updateEvents = await service.db.event.findMany({ where: { organizationId: organization.id, type: 'invite.updated' } })
    expect(updateEvents.map(({ data }) => data)).toMatchObject([{ changes: { corrected: ['recipientName', 'customMessage'] } }])
    await service.db.invite.update({ where: { id: invite.id }, data: { status: 'accepted' } })
    expect(mistakesIn(await admin.post(`${path}/correct`, { recipientName: 'Late' }))).toEqual([
      'This is not possible: the invite is accepted.',
    ])
    expect((await admin.get(path)).text).not.toContain(`action="${path}/correct"`)
  })

  it('is shown as declined, not as revoked', async () => {
    const { organization, assessment, admin, home } = await setUp()
    const [declined, revoked] = [await service.make.invite(assessment), await service.make.invite(assessment)]
    await candidateOf(service, declined).press('decline')
    await admin.post(`${home}invites/${revoked.id}/revoke`)
    const wordOf = async (path: string) =>
      [...(await admin.get(path)).text.matchAll(/<span class="badge [^>]+>.*?>(\w+)<\/span>/g)].map(([, word]) => word)
    expect((await wordOf(`${home}invites`)).sort()).toEqual(['declined', 'revoked'])
    expect(await wordOf(`${home}invites/${declined.id}`)).toEqual(['declined'])
    expect((await service.v1(organization.key).get(`/invites/${declined.id}`)).body.status).toBe('revoked')
  })

  it('expires earlier or later, as chosen', async () => {
    const { assessment, admin, home } = await setUp()
    const inDays = (days: number) => new Date(service.clock.now().getTime() + days * 86_400_000)
    const invite = await service.make.invite(assessment, { expiresAt: inDays(10) })
    const path = `${home}invites/${invite.id}`
    const types = async () =>
      (await service.db.event.findMany({ where: { organizationId: assessment.organizationId }, orderBy: { id: 'asc' } })).map(
        ({ type }) => type,
      )
    for (const days of [3, 20]) {
      expect((await admin.post(`${path}/extend`, { expiresInDays: String(days) })).status).toBe(303)
      const { expiresAt } = await service.db.invite.findUniqueOrThrow({ where: { id: invite.id } })
      expect(expiresAt).toEqual(inDays(days))
    }
    expect(await types()).toEqual(['invite.updated', 'invite.extended'])
    const date = inDays(40).toISOString().slice(0, 10)
    expect((await admin.post(`${path}/extend`, { by: 'date', expiresOn: date })).status).toBe(303)
    const { expiresAt } = await service.db.invite.findUniqueOrThrow({ where: { id: invite.id } })
    expect(expiresAt.toISOString()).toBe(`${date}T23:59:00.000Z`)
    expect((await admin.post(`${path}/extend`, { by: 'date', expiresOn: '' })).text).toContain('Enter a date.')
    const { text } = await admin.get(path)
    expect(text).toContain('On a date')
    expect(text).toMatch(/7 days: <time[^>]+>.+14 days: <time[^>]+>.+30 days: <time/s)
  })

  it('is replaced once, in one step, by an invite to the corrected address', async () => {
    const { organization, assessment, admin, home } = await setUp()
    const tag = await service.make.tag(organization.id)
    const terms = { recipientName: 'Sam', customMessage: 'Hello', questionReplayLimit: 3, screenRecording: false }
    const expiresAt = new Date(service.clock.now().getTime() + 5 * 86_400_000)
    const invite = await service.make.invite(assessment, { recipientEmail: 'wrnog@example.com', expiresAt, ...terms })
    await service.db.inviteTag.create({
      data: { organizationId: organization.id, inviteId: invite.id, tagId: tag.id, position: 0 },
    })
    const other = await service.make.invite(assessment, { recipientEmail: 'other@example.com' })
    const path = `${home}invites/${invite.id}`
    expect(mistakesIn(await admin.post(`${path}/replace`, { recipientEmail: other.recipientEmail }))).toEqual([
      'This address is already invited to that assessment.',
    ])
    expect((await service.db.invite.findUniqueOrThrow({ where: { id: invite.id } })).status).toBe('pending')
    const once = { recipientEmail: ' right@example.com ', once: service.deps.newId() }
    const [first, second] = [await admin.post(`${path}/replace`, once), await admin.post(`${path}/replace`, once)]
    expect([first.status, first.headers.location]).toEqual([303, second.headers.location])
    const made = await service.db.invite.findFirstOrThrow({
      where: { organizationId: organization.id, recipientEmail: 'right@example.com' },
      include: { tags: true, emails: true },
    })
    expect(made).toMatchObject({ ...terms, status: 'pending', expiresAt, tags: [{ tagId: tag.id }], emails: [{}] })
    expect(await service.db.invite.findUniqueOrThrow({ where: { id: invite.id } })).toMatchObject({ status: 'revoked' })
  })

  it('can be retaken once after it is completed, with links between the attempts', async () => {
    const { admin, path, home, organization, assessment } = await setUpOne({ status: 'completed', completedAt: new Date() })
    expect((await admin.get(path)).text).toContain(`action="${path}/retake"`)
    const once = { expiresInDays: '5', once: service.deps.newId() }
    const [first, second] = [await admin.post(`${path}/retake`, once), await admin.post(`${path}/retake`, once)]
    expect([first.status, first.headers.location]).toEqual([303, second.headers.location])
    const retake = first.headers.location!.split('?')[0]!
    expect((await admin.get(retake)).text).toContain(`<a href="${path}">attempt 1</a>`)
    const before = (await admin.get(path)).text
    expect(before).toContain(`<a href="${retake}">attempt 2</a>`)
    expect(before).not.toContain(`action="${path}/retake"`)
    expect((await admin.get(`${home}invites`)).text).toContain(' (attempt 2)')
    expect(mistakesIn(await admin.post(`${path}/retake`, { expiresInDays: '5' }))).toEqual([
      'This address is already invited to that assessment.',
    ])
    expect(mistakesIn(await admin.post(`${retake}/retake`, { expiresInDays: '5' }))).toEqual([
      'This is not possible: the invite is pending.',
    ])
    expect(await service.db.invite.count({ where: { assessmentId: assessment.id } })).toBe(2)
    expect((await audited(organization.id)).map(({ action }) => action)).toEqual(['invited'])
  })

  async function setUpOne(data = {}) {
    const parts = await setUp()
    const { id } = await service.make.invite(parts.assessment, data)
    const path = `${parts.home}invites/${id}`
    return { ...parts, id, path, find: () => service.db.invite.findUniqueOrThrow({ where: { id }, include: { tags: true } }) }
  }

  it('is resent, extended, revoked, and reactivated, each audited', async () => {
    const { organization, admin, id, path, find } = await setUpOne()
    for (const [operation, fields] of [
      ['resend', {}],
      ['extend', { expiresInDays: '60' }],
      ['revoke', {}],
      ['reactivate', { expiresInDays: '5' }],
    ] as const) {
      const answer = await admin.post(`${path}/${operation}`, fields)
      expect([operation, answer.status, answer.headers.location]).toEqual([operation, 303, `${path}?done=${operation}`])
      expect((await admin.get(answer.headers.location!)).text).toContain('alert-success')
    }
    expect(await find()).toMatchObject({ status: 'pending', linkVersion: 2 })
    expect((await audited(organization.id)).filter(({ targetId }) => targetId === id)).toEqual(
      ['resent_invite', 'extended_invite', 'revoked_invite', 'reactivated_invite'].map((action) => ({
        action,
        actorId: admin.member.id,
        targetId: id,
      })),
    )
    expect(await service.db.inviteEmail.count({ where: { inviteId: id } })).toBe(2)
  })

  it('resends the invitation with a message for that email only', async () => {
    const { admin, path, id, find } = await setUpOne({ customMessage: 'Please start this week.' })
    expect((await admin.get(path)).text).toMatch(/name="customMessage"[^>]*>\s*Please start this week\./)
    const tooLong = await admin.post(`${path}/resend`, { customMessage: 'x'.repeat(10_001) })
    expect([tooLong.status, await service.db.inviteEmail.count({ where: { inviteId: id } })]).toEqual([422, 0])
    expect((await admin.post(`${path}/resend`, { customMessage: 'The room is open again.' })).status).toBe(303)
    const { id: emailId } = await service.db.inviteEmail.findFirstOrThrow({ where: { inviteId: id } })
    const { text } = renderInviteEmail(service.mailSettings, (await findEmail(service.system, emailId))!)
    expect(text).toContain('The room is open again.')
    expect(text).not.toContain('Please start this week.')
    expect((await find()).customMessage).toBe('Please start this week.')
  })

  it('explains impossible actions, and changes nothing', async () => {
    const { organization, admin, path, find } = await setUpOne({ status: 'completed' })
    const before = await find()
    for (const operation of ['resend', 'extend', 'revoke', 'reactivate']) {
      const answer = await admin.post(`${path}/${operation}`, { expiresInDays: '50' })
      expect([answer.status, answer.text.includes('This is not possible: the invite is completed.')]).toEqual([422, true])
    }
    expect([await find(), await audited(organization.id)]).toEqual([before, []])
  })

  it('rejects an expiry that is not a number', async () => {
    const { admin, path } = await setUpOne()
    for (const days of ['', 'x', '-1', '99999999999'])
      expect((await admin.post(`${path}/extend`, { expiresInDays: days })).text).toContain('a whole number from 1 to 3650')
  })

  it('accepts only graders as its grader', async () => {
    const { organization, admin, path, find } = await setUpOne()
    const assign = async (assignedGraderId: string) => (await admin.post(`${path}/grader`, { assignedGraderId })).status
    const grader = await service.make.member(organization.id)
    const inactive = await service.make.member(organization.id, { status: 'inactive' })
    const client = await service.make.member(organization.id, { roles: ['client'] })
    const elsewhere = await service.make.member((await service.make.organization()).id)
    expect(await assign(grader.id)).toBe(303)
    for (const { id } of [inactive, client, elsewhere, { id: 'x' }]) expect(await assign(id)).toBe(422)
    expect((await find()).assignedGraderId).toBe(grader.id)
    expect(await assign('')).toBe(303)
    expect((await find()).assignedGraderId).toBe(null)
    expect((await audited(organization.id)).map(({ action }) => action)).toEqual(['assigned_grader', 'assigned_grader'])
  })

  it('can have tags of the organization added and removed', async () => {
    const { organization, admin, path, find } = await setUpOne()
    const [one, two] = [await service.make.tag(organization.id), await service.make.tag(organization.id, { name: HOSTILE })]
    const foreign = await service.make.tag((await service.make.organization()).id)
    const add = async (tagIds: string) => (await admin.post(`${path}/tags`, { tagIds })).status
    expect([await add(one.id), await add(two.id), await add(one.id)]).toEqual([303, 303, 303])
    expect([await add(foreign.id), await add('x'), await add('')]).toEqual([422, 422, 422])
    expect((await admin.get(path)).text).toContain(SHOWN)
    expect((await admin.post(`${path}/tags/${one.id}/remove`)).status).toBe(303)
    expect((await admin.post(`${path}/tags/${one.id}/remove`)).status).toBe(303)
    expect((await find()).tags.map(({ tagId }) => tagId)).toEqual([two.id])
    const actions = (await audited(organization.id)).map(({ action }) => action)
    expect(actions).toEqual(['tagged_invite', 'tagged_invite', 'untagged_invite'])
  })

  it("shows its mails with their attempts and the mail server's response", async () => {
    const { admin, path, id, organization } = await setUpOne()
    const now = service.clock.now()
    const times = { createdAt: now, updatedAt: now }
    const failed = { state: 'failed', attempts: 3, reason: `550 ${HOSTILE}` } as const
    const data = { id: service.deps.newId(), organizationId: organization.id, inviteId: id, linkVersion: 1, ...times, ...failed }
    await service.db.inviteEmail.create({ data })
    const { text } = await admin.get(path)
    expect(text).toContain(`550 ${SHOWN}`)
    expect(text).toMatch(/<td[^>]*>3<\/td>/)
  })

  it('shows its link to copy while it works', async () => {
    const { admin, path, organization, id } = await setUpOne()
    const { body } = await service.v1(organization.key).get(`/invites/${id}/link`)
    const linkOn = async () => /id="link">([^<]+)</.exec((await admin.get(path)).text)?.[1]
    expect(await linkOn()).toBe(body.link)
    await admin.post(`${path}/revoke`)
    expect(await linkOn()).toBeUndefined()
  })
})

it('keeps a former grader when the form is sent unchanged', async () => {
  const { id } = await service.make.organization()
  const admin = await signInAs(service, id, ['admin'])
  const grader = await service.make.member(id, { status: 'inactive' })
  const invite = await service.make.invite(await service.make.assessment(id), { assignedGraderId: grader.id })
  const { text } = await admin.get(`${admin.home}invites/${invite.id}`)
  expect(text).toMatch(new RegExp(`<option value="${grader.id}" selected>`))
  const answer = await admin.post(`${admin.home}invites/${invite.id}/grader`, { assignedGraderId: grader.id })
  expect([answer.status, mistakesIn(answer)]).toEqual([422, ['This member is not active or is not a grader.']])
  expect(await service.db.invite.findUniqueOrThrow({ where: { id: invite.id } })).toMatchObject({ assignedGraderId: grader.id })
})
