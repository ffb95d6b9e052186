import { describe, expect, it } from 'vitest'
import { deleteExpiredRows } from '../../../../src/domain/concurrency/expired-rows.ts'
import { DAY_MS } from '../../../support/factories.ts'
import { fieldsIn } from '../../../support/forms.ts'
import { joinAs, PASSWORD, type Visitor, visit } from '../../../support/portal.ts'
import { startServiceForFile } from '../../../support/service.ts'

const HOUR_MS = 3_600_000

const service = await startServiceForFile()

/** Signs in a member whose session then expires, while a page stays open in their browser. */
async function makeSignedOut() {
  const organization = await service.make.organization()
  const person = await joinAs(service, organization)
  service.clock.advance(13 * HOUR_MS)
  return { ...person, organization }
}

const signIn = (visitor: Visitor, email: string, next = '') =>
  visitor.post('/portal/sign-in', { email, password: PASSWORD, next })

/** Action and fields of the page's last form. */
function formIn(text: string): { action: string; fields: Record<string, string> } {
  const form = text.slice(text.lastIndexOf('<form'))
  return { action: /action="([^"]+)"/.exec(form)![1]!, fields: fieldsIn({ text: `<main${form}` }) }
}

/** Address of the saved form in a redirect to sign-in. */
const resumeIn = ({ headers }: { headers: Record<string, string> }) =>
  new URL(headers.location!, 'http://x').searchParams.get('next') ?? ''

const SHORT = `first line\r\n\r\n"Ünïcode" & <b>marks</b> \u{1f393}'; last`
const LONG = `${SHORT}${'x'.repeat(20_000)}\r\n`

describe('a form that is sent after the session has ended', () => {
  it('is saved unchanged, and sent once by its button after its owner has signed in again', async () => {
    const { email, home, organization, ...person } = await makeSignedOut()
    const sent = await person.post(`${home}tags`, { name: 'Kept', color: '#336699', description: SHORT, long: LONG })
    expect([sent.status, sent.headers.location]).toEqual([
      303,
      expect.stringMatching(/^\/portal\/sign-in\?next=%2Fportal%2Fresume%2F/),
    ])
    expect((await person.get(sent.headers.location!)).text).toContain('What you had filled in is kept')
    const signedIn = await signIn(person, email, resumeIn(sent))
    expect(signedIn.headers.location).toBe(resumeIn(sent))
    const page = await person.get(resumeIn(sent))
    expect([page.status, page.text.includes('Nothing was sent yet')]).toEqual([200, true])
    expect(page.text).toContain('&quot;Ünïcode&quot; &amp; &lt;b&gt;marks')
    expect(page.text).toContain('>Send</button>')
    expect(await service.db.tag.count({ where: { organizationId: organization.id } })).toBe(0)
    const { action, fields } = formIn(page.text)
    expect([action, fields.description, fields.long]).toEqual([`${home}tags`, SHORT, LONG])
    const done = await person.post(action, fields)
    expect(done.status).toBe(303)
    expect(await service.db.tag.count({ where: { organizationId: organization.id } })).toBe(1)
    const entry = { organizationId: organization.id, action: 'resumed_form' }
    const { details, address } = await service.db.auditEntry.findFirstOrThrow({ where: entry })
    expect([details, address]).toEqual([{ path: `${home}tags` }, '127.0.0.1'])
    const again = await person.post(action, fields)
    expect(again.headers.location).toBe(resumeIn(sent))
    const sentPage = (await person.get(resumeIn(sent))).text
    expect(sentPage).toContain('This was sent')
    expect(sentPage).not.toContain('Nothing was sent yet')
    expect(await service.db.tag.count({ where: { organizationId: organization.id } })).toBe(1)
  })

  it('is sent once when its button is pressed ten times at once', async () => {
    const { email, home, organization, ...person } = await makeSignedOut()
    const sent = await person.post(`${home}settings/webhooks`, { url: 'https://example.com/hook', mode: 'live' })
    await signIn(person, email)
    const { action, fields } = formIn((await person.get(resumeIn(sent))).text)
    await Promise.all(Array.from({ length: 10 }, () => person.post(action, fields)))
    expect(await service.db.webhookEndpoint.count({ where: { organizationId: organization.id } })).toBe(1)
  })

  it('keeps a list of 10,000 rows, and asks for a file again', async () => {
    const { email, home, organization, ...person } = await makeSignedOut()
    const assessment = await service.make.assessment(organization.id)
    const list = `email\r\n${Array.from({ length: 10_000 }, (_, i) => `candidate.${i}@example.com`).join('\r\n')}`
    const pasted = await person.post(`${home}invites/batches`, { assessmentId: assessment.id, list })
    const uploaded = await service
      .http()
      .post(`${home}invites/batches`)
      .set({ cookie: person.cookies(), 'sec-fetch-site': 'same-origin' })
      .field('assessmentId', assessment.id)
      .attach('file', Buffer.from(list), 'list.csv')
    await signIn(person, email)
    const shown = formIn((await person.get(resumeIn(pasted))).text)
    expect(shown.fields.list).toBe(list)
    const shownFile = formIn((await person.get(resumeIn(uploaded))).text)
    expect(shownFile.fields).toMatchObject({ assessmentId: assessment.id })
    expect(shownFile.fields.file).toBeUndefined()
    const done = await person.post(shown.action, shown.fields)
    expect(done.headers.location).toMatch(/invites\/batches\//)
  })

  it('opens only in the browser that saved it', async () => {
    const { email, home, organization, ...person } = await makeSignedOut()
    const sent = await person.post(`${home}tags`, { name: 'Mine' })
    const elsewhere = visit(service)
    await signIn(elsewhere, email)
    const id = resumeIn(sent).split('/').at(-1)!
    expect((await elsewhere.get(resumeIn(sent))).status).toBe(404)
    await elsewhere.post(`${home}tags`, { name: 'Mine', resumed_form: id })
    expect(await service.db.tag.count({ where: { organizationId: organization.id } })).toBe(0)
    await signIn(person, email)
    expect((await person.get(resumeIn(sent))).text).toContain('>Mine<')
  })

  it('is hidden from everybody else', async () => {
    const { home, organization, ...person } = await makeSignedOut()
    const sent = await person.post(`${home}tags`, { name: 'Mine' })
    const other = await joinAs(service, organization)
    const nowhere = await other.get('/portal/resume/x')
    const answer = await other.get(resumeIn(sent))
    expect([answer.status, answer.text]).toEqual([404, nowhere.text])
    expect(answer.text).toContain('in the browser where you filled it in, with the same account')
    // They can neither send it nor use it up.
    const id = resumeIn(sent).split('/').at(-1)!
    const used = await other.post(`${other.home}tags`, { name: 'Theirs', resumed_form: id })
    expect(used.headers.location).toBe(resumeIn(sent))
    expect(await service.db.tag.count({ where: { organizationId: organization.id } })).toBe(0)
    expect((await visit(service).get(resumeIn(sent))).headers.location).toMatch(/^\/portal\/sign-in/)
    expect((await service.db.savedForm.findUniqueOrThrow({ where: { id } })).usedAt).toBeNull()
  })

  it('is encrypted without passwords, codes, and files, and deleted after a day', async () => {
    const { email, home, ...person } = await makeSignedOut()
    const sent = await person.post(`${home}account/password`, {
      current: PASSWORD,
      password: `${PASSWORD} anew`,
      username: 'a name',
    })
    const id = resumeIn(sent).split('/').at(-1)!
    const { body } = await service.db.savedForm.findUniqueOrThrow({ where: { id } })
    expect(Buffer.from(body).includes('a name')).toBe(false)
    await signIn(person, email)
    const page = await person.get(resumeIn(sent))
    expect([page.text.includes(PASSWORD), page.text.includes('are not saved')]).toEqual([false, true])
    expect(Object.keys(formIn(page.text).fields).sort()).toEqual(['resumed_form', 'username'])
    service.clock.advance(DAY_MS)
    await signIn(person, email)
    expect((await person.get(resumeIn(sent))).status).toBe(404)
    await deleteExpiredRows(service.system, 'delete_expired_sign_ins')
    expect(await service.db.savedForm.findUnique({ where: { id } })).toBeNull()
  })

  it('is stored only as one of the newest five', async () => {
    const { email, home, ...person } = await makeSignedOut()
    const kept: string[] = []
    for (let i = 0; i < 7; i++) {
      kept.push(resumeIn(await person.post(`${home}tags`, { name: `Tag ${i}` })))
      service.clock.advance(1_000)
    }
    await signIn(person, email)
    const statuses = []
    for (const address of kept) statuses.push((await person.get(address)).status)
    expect(statuses).toEqual([404, 404, 200, 200, 200, 200, 200])
  })

  it('is saved at most twenty times in a quarter of an hour', async () => {
    const { home, ...person } = await makeSignedOut()
    const leads = []
    for (let i = 0; i < 22; i++) leads.push(resumeIn(await person.post(`${home}tags`, { name: `Tag ${i}` })) !== '')
    expect(leads.filter(Boolean)).toHaveLength(20)
    expect(leads.slice(20)).toEqual([false, false])
  })
})

describe('the cookie of an ended session', () => {
  it('neither shows nor sends a form that its owner saved with it', async () => {
    const { email, home, organization, ...person } = await makeSignedOut()
    const stolen = visit(service, person.cookie())
    const sent = await person.post(`${home}tags`, { name: 'Kept', color: '#336699' })
    expect((await stolen.get(resumeIn(sent))).headers.location).toMatch(/^\/portal\/sign-in/)
    await signIn(person, email)
    const { action, fields } = formIn((await person.get(resumeIn(sent))).text)
    expect((await stolen.get(resumeIn(sent))).headers.location).toMatch(/^\/portal\/sign-in/)
    expect((await stolen.post(action, fields)).headers.location).toMatch(/^\/portal\/sign-in/)
    expect(await service.db.tag.count({ where: { organizationId: organization.id } })).toBe(0)
    expect((await person.post(action, fields)).status).toBe(303)
    expect(await service.db.tag.count({ where: { organizationId: organization.id } })).toBe(1)
  })

  it('saves nothing after its owner has ended it, or changed their credentials', async () => {
    const { email, home, ...person } = await joinAs(service, await service.make.organization())
    const stolen = [visit(service, person.cookie())]
    await signIn(person, email) // starts another session, which ends the one before
    const other = visit(service)
    await signIn(other, email)
    stolen.push(visit(service, other.cookie()))
    await person.post(`${home}account/sessions/end-others`)
    const third = visit(service)
    await signIn(third, email)
    stolen.push(visit(service, third.cookie()))
    await person.post(`${home}account/password`, { current: PASSWORD, password: `${PASSWORD} anew` })
    for (const browser of stolen)
      expect((await browser.post(`${home}tags`, { name: 'Planted' })).headers.location).toBe('/portal/sign-in')
    expect(await service.db.savedForm.count({ where: { credential: { email } } })).toBe(0)
  })
})

describe('saving a form', () => {
  it('is rejected for strangers, after old sessions, or from other sites', async () => {
    const { home, ...person } = await makeSignedOut()
    const before = await service.db.savedForm.count()
    for (const visitor of [visit(service), visit(service, `session=${'x'.repeat(43)}`)])
      expect((await visitor.post(`${home}tags`, { name: 'x' })).headers.location).toBe('/portal/sign-in')
    const foreign = await service
      .http()
      .post(`${home}tags`)
      .set({ cookie: person.cookie()!, 'sec-fetch-site': 'cross-site' })
      .type('form')
      .send('name=x')
    expect(foreign.status).toBe(400)
    service.clock.advance(DAY_MS)
    expect((await person.post(`${home}tags`, { name: 'x' })).headers.location).toBe('/portal/sign-in')
    expect(await service.db.savedForm.count()).toBe(before)
  })

  it('is rejected after signing out, or without a form', async () => {
    const { home, ...person } = await joinAs(service, await service.make.organization())
    const cookie = person.cookie()!
    await person.post('/portal/sign-out')
    expect((await person.post(`${home}tags`, { name: 'x' })).headers.location).toBe('/portal/sign-in')
    const bytes = await service
      .http()
      .post(`${home}question-media`)
      .set({ cookie, 'sec-fetch-site': 'same-origin', 'content-type': 'application/octet-stream' })
      .send('x')
    expect([bytes.status, bytes.headers.location]).toEqual([303, '/portal/sign-in'])
  })
})

describe('a form that requires recent authentication', () => {
  it('is saved until then, and does nothing by itself', async () => {
    const organization = await service.make.organization()
    const person = await joinAs(service, organization)
    const other = await service.make.member(organization.id, { roles: ['grader'] })
    service.clock.advance(HOUR_MS / 4)
    const sent = await person.post(`${person.home}members/${other.id}`, { roles: 'admin', department: 'Kept' })
    expect(sent.headers.location).toMatch(/^\/portal\/prove\?next=%2Fportal%2Fresume%2F/)
    const proven = await person.post('/portal/prove', { current: PASSWORD, next: resumeIn(sent) })
    const page = await person.get(proven.headers.location!)
    expect((await service.db.member.findUniqueOrThrow({ where: { id: other.id } })).roles).toEqual(['grader'])
    const { action, fields } = formIn(page.text)
    expect((await person.post(action, fields)).status).toBe(303)
    expect((await service.db.member.findUniqueOrThrow({ where: { id: other.id } })).roles).toEqual(['admin'])
  })

  it('is rejected afterwards if its sender has lost the permission', async () => {
    const organization = await service.make.organization()
    const [person, admin] = [await joinAs(service, organization), await joinAs(service, organization)]
    service.clock.advance(HOUR_MS / 4)
    const sent = await person.post(`${person.home}members/export`)
    await person.post('/portal/prove', { current: PASSWORD, next: resumeIn(sent) })
    const { action, fields } = formIn((await person.get(resumeIn(sent))).text)
    const { id } = await service.db.member.findFirstOrThrow({ where: { email: person.email } })
    await admin.post('/portal/prove', { current: PASSWORD, next: '/portal' })
    await admin.post(`${admin.home}members/${id}`, { roles: 'grader', department: '' })
    expect((await person.post(action, fields)).status).toBe(404)
  })
})
