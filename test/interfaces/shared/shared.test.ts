import { setTimeout as sleep } from 'node:timers/promises'
import { beforeEach, describe, expect, it } from 'vitest'
import { shareCodeOf } from '../../../src/domain/secrets/share-tokens.ts'
import { mistakesIn } from '../../support/forms.ts'
import { NETWORKS } from '../../support/open-links.ts'
import { signInAs } from '../../support/portal.ts'
import { startServiceForFile } from '../../support/service.ts'
import { makeSharedResult } from '../../support/shared-results.ts'

const service = await startServiceForFile(NETWORKS)
const { db, deps } = service
/** Text in every field that a link must not show. */
const CANARY = 'CANARY'

/** Releases two results of one assessment, each with a written and a recorded answer, and a third result that is not shared. */
async function setUp() {
  const organization = await service.make.organization()
  const assessment = await service.make.assessment(organization.id, { name: 'Support' })
  const admin = await signInAs(service, organization.id, ['admin'])
  await db.member.update({ where: { id: admin.member.id }, data: { canViewTranscription: true } })
  const people: { id: string; mediaId: string; earlierId: string; photoId: string }[] = []
  for (const recipientName of ['Ann Archer', 'Bea Baker', `${CANARY} third`]) {
    const invite = await service.make.invite(assessment, {
      recipientName,
      recipientEmail: `${CANARY.toLowerCase()}-${deps.newId()}@example.com`,
      status: 'completed',
      externalId: `${CANARY}-${deps.newId()}`,
      customMessage: CANARY,
    })
    people.push(
      await makeSharedResult(service, organization.id, {
        text: CANARY,
        assessmentId: assessment.id,
        inviteId: invite.id,
        memberId: admin.member.id,
      }),
    )
  }
  await admin.post(`${admin.home}settings/sharing`, { isOn: 'yes' })
  const create = async (fields: Record<string, string | string[]> = {}) => {
    const ids = people.slice(0, 2).map(({ id }) => id)
    const answer = await admin.post(`${admin.home}shares`, { id: ids, receiver: 'Tom Okafor', days: '7', ...fields })
    if (answer.status !== 303) throw new Error(`${answer.status}: ${mistakesIn(answer)}`)
    const id = answer.headers.location!.split('/').at(-1)!
    return { id, path: new URL(deps.links.shareUrl(id)).pathname }
  }
  return { organization, assessment, admin, people, create }
}

const get = (path: string) => service.http().get(path)
const QUARTER_HOUR_MS = 900_000
const [HOME, OFFICE] = ['203.0.113.7', '198.51.100.8'] as const
const origin = await service.app.listen({ port: 0, host: '127.0.0.1' })

/** Adds three files to the first answer: one is ready, one is still processed, and one was removed by the candidate. */
async function addFiles(submissionId: string) {
  const { organizationId } = await db.submission.findUniqueOrThrow({ where: { id: submissionId } })
  const attempt = await db.answerAttempt.findFirstOrThrow({ where: { organizationId, submissionId, kind: 'text' } })
  const store = async (fileName: string, state: 'ready' | 'joining') => {
    const id = deps.newId()
    const key = `${organizationId}/${id}`
    await deps.media.put(`${key}/file`, Buffer.alloc(9_000, '<script>'))
    const file = { kind: 'answer', state, contentType: 'text/plain', bytes: 9_000, fileName, attemptId: attempt.id } as const
    await db.mediaFile.create({ data: { ...file, organizationId, id, key, submissionId, createdAt: deps.clock() } })
    return id
  }
  const files = {
    ready: await store('plan.html', 'ready'),
    joining: await store('new.pdf', 'joining'),
    removed: await store('removed.pdf', 'ready'),
  }
  const value = [files.ready, files.joining].map((id) => ({ id, name: 'any', bytes: 9_000, type: 'text/plain' }))
  const where = { organizationId_id: { organizationId, id: attempt.id } }
  await db.answerAttempt.update({ where, data: { value, text: 'plan.html (9 kB), new.pdf (9 kB)' } })
  return files
}

let made: Awaited<ReturnType<typeof setUp>>
beforeEach(async () => {
  made = await setUp()
})

describe('a link to results', () => {
  it('shows points alone by default, and records and lists each opening', async () => {
    const { admin, create, people } = made
    const { id, path } = await create()
    const page = await get(path)
    expect([page.status, page.headers['x-robots-tag']]).toEqual([200, 'noindex, nofollow'])
    expect(page.text).toContain('<meta name="robots" content="noindex, nofollow">')
    expect(page.text).toContain('Tom Okafor')
    expect(page.text).toContain('14 of 20 points')
    expect(page.text).toContain('Candidate 1')
    for (const text of ['Ann', 'Bea', CANARY, CANARY.toLowerCase(), 'My written answer', 'Words that were said', '/media/'])
      expect(page.text, text).not.toContain(text)
    for (const { mediaId } of people) expect((await get(`${path}/media/${mediaId}`)).status).toBe(404)
    await get(path).set('user-agent', 'Another browser')
    const entries = await db.auditEntry.findMany({ where: { targetId: id, action: 'opened_share_link' } })
    expect(entries.map(({ actorKind }) => actorKind)).toEqual(['visitor', 'visitor'])
    expect((await admin.get(`${admin.home}shares/${id}`)).text).toContain('Another browser')
    expect((await admin.get(`${admin.home}settings/audit-log`)).text).toContain('opened a link to results')
  })

  it('shows names, answers, recordings, and transcripts if chosen, and nothing private on any page it leads to', async () => {
    const { create, people } = made
    const { path } = await create({ shows: ['names', 'answers', 'recordings', 'transcripts'], asksFeedback: 'yes' })
    const page = await get(path)
    for (const text of ['Ann Archer', 'Bea Baker', 'My written answer', 'Words that were said']) expect(page.text).toContain(text)
    const [ann, , third] = people
    const media = await get(`${path}/media/${ann!.mediaId}`).set('range', 'bytes=0-9')
    expect([media.status, media.headers['x-robots-tag'], media.body.length]).toEqual([206, 'noindex, nofollow', 10])
    // The link opens no earlier attempts, photos, or other people's recordings.
    for (const mediaId of [ann!.earlierId, ann!.photoId, third!.mediaId, deps.newId(), '..%2f..', 'nonsense'])
      expect((await get(`${path}/media/${mediaId}`)).status, mediaId).toBe(404)
    const seen = new Set([path])
    for (const address of seen) {
      const { text, headers } = await get(address)
      expect(text?.toLowerCase() ?? '', address).not.toContain(CANARY.toLowerCase())
      if (!headers['content-type']?.startsWith('text/html')) continue
      for (const [, link] of text.matchAll(/(?:href|src|action)="([^"#]+)/g)) seen.add(link!)
    }
    expect(seen.size).toBeGreaterThan(4)
    expect([...seen].filter((address) => !address.startsWith('/shared/') && !address.startsWith('/i/brand/'))).toEqual([])
  })

  it('offers files with written answers as downloads once they are ready', async () => {
    const { create, people } = made
    const [ann, , third] = people
    const files = await addFiles(ann!.id)
    const { path } = await create({ shows: 'answers' })
    const page = (await get(path)).text
    expect(page.match(/href="[^"]+" download/g)).toEqual([`href="${path}/media/${files.ready}" download`])
    expect(page).toContain('plan.html</span>, 9 kB')
    expect(page).toMatch(/new\.pdf<\/span>, 9 kB: this file can’t be downloaded now\./)
    expect(page).not.toContain('removed.pdf')
    const { status, headers } = await get(`${path}/media/${files.ready}`)
    expect([status, headers['content-type'], headers['content-security-policy']]).toEqual([
      200,
      'text/plain',
      "default-src 'none'; sandbox",
    ])
    expect(headers['content-disposition']).toMatch(/^attachment; filename="answer\.txt"; /)
    const foreign = await addFiles(third!.id)
    for (const id of [files.joining, files.removed, foreign.ready, ann!.mediaId])
      expect((await get(`${path}/media/${id}`)).status).toBe(404)
    const withoutAnswers = await create({ shows: ['names', 'recordings', 'transcripts'] })
    expect((await get(withoutAnswers.path)).text).not.toContain('plan.html')
    expect((await get(`${withoutAnswers.path}/media/${files.ready}`)).status).toBe(404)
  })

  it('shows the same page if it was guessed, expired, or revoked, if sharing is off, or if its sender has left', async () => {
    const { admin, create, organization, people } = made
    const first = await create({ shows: 'recordings' })
    const media = (path: string) => get(`${path}/media/${people[0]!.mediaId}`)
    expect([(await get(first.path)).status, (await media(first.path)).status]).toEqual([200, 200])
    const guessed = await get(`/shared/${Buffer.alloc(32, 7).toString('base64url')}`)
    const expectClosed = async (path: string) => {
      const page = await get(path)
      expect([page.status, page.text, (await media(path)).status]).toEqual([404, guessed.text, 404])
    }
    expect(guessed.status).toBe(404)
    await admin.post(`${admin.home}shares/${first.id}/revoke`)
    await expectClosed(first.path)
    const second = await create({ shows: 'recordings' })
    await db.shareLink.update({ where: { id: second.id }, data: { expiresAt: service.clock.now() } })
    await expectClosed(second.path)
    const third = await create({ shows: 'recordings' })
    await admin.post(`${admin.home}settings/sharing`, { isOn: 'no' })
    await expectClosed(third.path)
    await admin.post(`${admin.home}settings/sharing`, { isOn: 'yes' })
    expect((await get(third.path)).status).toBe(200)
    await db.member.update({ where: { id: admin.member.id }, data: { status: 'inactive' } })
    await expectClosed(third.path)
    expect(await db.shareLink.count({ where: { organizationId: organization.id } })).toBe(3)
  })

  it.each<[how: string, close: (of: { admin: typeof made.admin; id: string }) => unknown]>([
    ['is revoked', ({ admin, id }) => admin.post(`${admin.home}shares/${id}/revoke`)],
    ['ends', ({ id }) => db.shareLink.update({ where: { id }, data: { expiresAt: service.clock.now() } })],
    ['is switched off with all others', ({ admin }) => admin.post(`${admin.home}settings/sharing`, { isOn: 'no' })],
  ])('stops a playing recording when it %s', async (_how, close) => {
    const { admin, create, people } = made
    const { id, path } = await create({ shows: 'recordings' })
    const { mediaId } = people[0]!
    const { key } = await db.mediaFile.findUniqueOrThrow({ where: { id: mediaId } })
    // More than the buffers of both ends hold.
    const bytes = 64_000_000
    await deps.media.put(`${key}/file`, Buffer.alloc(bytes))
    await db.mediaFile.update({ where: { id: mediaId }, data: { bytes } })
    const answer = await fetch(`${origin}${path}/media/${mediaId}`)
    const reader = answer.body!.getReader()
    await reader.read()
    await close({ admin, id })
    await sleep(1_100)
    let received = 0
    const rest = async () => {
      for (;;) {
        const { done, value } = await reader.read()
        if (done) return
        received += value.length
      }
    }
    await expect(rest()).rejects.toThrow()
    expect(received).toBeLessThan(bytes)
  })

  it('asks for the access code, and limits guesses like a sign-in', async () => {
    const { admin, create, people } = made
    const { id, path } = await create({ hasCode: 'yes', shows: 'recordings', asksFeedback: 'yes' })
    const locked = await get(path)
    expect([locked.status, locked.text.includes('14 of 20')]).toEqual([200, false])
    expect((await get(`${path}/media/${people[0]!.mediaId}`)).status).toBe(404)
    const answered = await service.http().post(`${path}/results/1`).type('form').send({ vote: 'up', comment: '' })
    expect(answered.status).toBe(404)
    expect(await db.auditEntry.count({ where: { targetId: id, action: 'opened_share_link' } })).toBe(0)
    const enter = (code: string) => service.http().post(`${path}/code`).type('form').send({ code })
    expect((await enter('AAAAAAAA')).status).toBe(422)
    const shown = (await admin.get(`${admin.home}shares/${id}`)).text
    const code = /id="share-code"[^>]*>([A-Z2-9]{8})</.exec(shown)?.[1] ?? /value="([A-Z2-9]{8})"/.exec(shown)![1]!
    const entered = await enter(`${code.slice(0, 4).toLowerCase()} ${code.slice(4)}`)
    expect([entered.status, entered.headers.location]).toEqual([303, path])
    const [cookie] = entered.headers['set-cookie']!
    expect(cookie).toMatch(/HttpOnly/i)
    const opened = await get(path).set('cookie', cookie!.split(';')[0]!)
    expect(opened.text).toContain('14 of 20 points')
    // The cookie of one link does not open another link.
    const other = await create({ hasCode: 'yes' })
    const foreign = await get(other.path).set('cookie', cookie!.split(';')[0]!.replace(id, other.id))
    expect(foreign.text).not.toContain('14 of 20')
    for (let i = 0; i < 3; i++) await enter('BBBBBBBB')
    const limited = await enter(code)
    expect([limited.status, Number(limited.headers['retry-after']) > 0]).toEqual([429, true])
  })

  it('opens in two networks, lists both, and counts their guesses separately', async () => {
    const { admin, create } = made
    const { id, path } = await create({ hasCode: 'yes' })
    const enter = (code: string, from: string) =>
      service.http().post(`${path}/code`).type('form').set('x-forwarded-for', from).send({ code })
    for (let i = 0; i < 5; i++) expect((await enter('BBBBBBBB', HOME)).status).toBe(422)
    const code = shareCodeOf(deps.secretKeys, id)
    expect([(await enter(code, HOME)).status, (await enter(code, OFFICE)).status]).toEqual([429, 303])
    service.clock.advance(QUARTER_HOUR_MS)
    const cookies = []
    for (const from of [HOME, OFFICE]) {
      const entered = await enter(code, from)
      expect(entered.status).toBe(303)
      cookies.push(entered.headers['set-cookie']![0]!.split(';')[0]!)
      expect((await get(path).set({ 'x-forwarded-for': from, cookie: cookies.at(-1)! })).text).toContain('14 of 20 points')
      expect((await get(path).set('x-forwarded-for', from)).text).not.toContain('14 of 20 points')
    }
    const detail = (await admin.get(`${admin.home}shares/${id}`)).text
    for (const address of [HOME, OFFICE]) expect(detail).toContain(address)
    await admin.post(`${admin.home}shares/${id}/revoke`)
    for (const [i, from] of [HOME, OFFICE].entries())
      expect((await get(path).set({ 'x-forwarded-for': from, cookie: cookies[i]! })).status).toBe(404)
  })

  it('saves a vote and a comment on each result if feedback is requested', async () => {
    const { admin, create } = made
    const { id, path } = await create({ asksFeedback: 'yes' })
    const send = (position: number, fields: object) =>
      service.http().post(`${path}/results/${position}`).type('form').send(fields)
    const saved = await send(2, { vote: 'up', comment: '<b>Meet</b>' })
    expect([saved.status, saved.text.includes('Saved.')]).toEqual([200, true])
    expect((await send(1, { vote: 'down', comment: 'x'.repeat(5_001) })).status).toBe(422)
    expect((await send(3, { vote: 'up', comment: '' })).status).toBe(404)
    const detail = await admin.get(`${admin.home}shares/${id}`)
    expect(detail.text).toContain('&lt;b&gt;Meet&lt;/b&gt;')
    expect(
      (await db.sharedResult.findMany({ where: { shareLinkId: id }, orderBy: { position: 'asc' } })).map(({ vote }) => vote),
    ).toEqual([null, 'up'])
    const silent = await create()
    const refused = await service.http().post(`${silent.path}/results/1`).type('form').send({ vote: 'up', comment: '' })
    expect(refused.status).toBe(404)
  })

  it('is limited to one assessment, 90 days, and candidates who were told that names and answers may be shared, and can be switched off', async () => {
    const { admin, assessment, organization, people } = made
    const [ann, bea] = people
    const send = (fields: Record<string, string | string[]>) =>
      admin.post(`${admin.home}shares`, { id: [ann!.id, bea!.id], receiver: 'Tom', days: '7', ...fields })
    await db.submission.update({ where: { id: bea!.id }, data: { consentVersion: 2 } })
    for (const shows of ['names', 'answers', 'recordings', 'transcripts'])
      expect(mistakesIn(await send({ shows }))).toEqual([
        'One of these candidates was not told that results may be shared. You can share points only.',
      ])
    expect((await send({ shows: [] })).status).toBe(303)
    expect((await send({ id: ann!.id, shows: 'names' })).status).toBe(303)
    expect((await send({ days: '91' })).status).toBe(422)
    expect((await send({ receiver: ' ' })).status).toBe(422)
    const elsewhere = await service.make.assessment(organization.id)
    await db.submission.update({ where: { id: bea!.id }, data: { assessmentId: elsewhere.id } })
    expect(mistakesIn(await send({}))).toEqual(['Select results of one assessment only.'])
    await db.submission.update({ where: { id: bea!.id }, data: { assessmentId: assessment.id } })
    await admin.post(`${admin.home}settings/sharing`, { isOn: 'no' })
    expect(mistakesIn(await send({}))[0]).toMatch(/^Links to results are switched off/)
    await db.member.update({ where: { id: admin.member.id }, data: { canViewTranscription: false } })
    await admin.post(`${admin.home}settings/sharing`, { isOn: 'yes' })
    await db.submission.update({ where: { id: bea!.id }, data: { consentVersion: 3 } })
    expect((await send({ shows: 'transcripts' })).status).toBe(404)
  })

  it('is erased with the candidates', async () => {
    const { create, people } = made
    const { id, path } = await create()
    await db.submission.deleteMany({ where: { id: { in: people.map((person) => person.id) } } })
    expect(await db.sharedResult.count({ where: { shareLinkId: id } })).toBe(0)
    expect((await get(path)).status).toBe(404)
  })
})

describe('a client', () => {
  it('sees what the assessment shows clients, and nothing else', async () => {
    const { organization, assessment, admin, people } = made
    const client = await signInAs(service, organization.id, ['client'])
    await db.assessmentClient.create({
      data: { organizationId: organization.id, assessmentId: assessment.id, memberId: client.member.id, position: 0 },
    })
    const [ann] = people
    const result = () => client.get(`${client.home}results/${ann!.id}`)
    const media = () => client.get(`${client.home}results/${ann!.id}/media/${ann!.mediaId}`)
    const before = await result()
    expect(before.text).toContain('Ann Archer')
    for (const text of ['My written answer', 'Words that were said']) expect(before.text).not.toContain(text)
    expect([(await media()).status, (await client.get(`${client.home}media/${ann!.mediaId}`)).status]).toEqual([404, 404])
    const view = `${admin.home}assessments/${assessment.id}/client-view`
    await admin.post(view, { isSent: 'yes', sees: ['answers', 'recordings', 'transcripts'] })
    const after = await result()
    expect(after.text).toContain('My written answer')
    expect((await media()).status).toBe(200)
    const { ready, joining } = await addFiles(ann!.id)
    const download = `${client.home}results/${ann!.id}/media/`
    expect((await result()).text).toContain(`href="${download}${ready}" download`)
    expect((await client.get(`${download}${ready}`)).headers['content-disposition']).toMatch(/^attachment;/)
    expect((await client.get(`${download}${joining}`)).status).toBe(404)
    // Transcripts also need the member's own right.
    expect(after.text).not.toContain('Words that were said')
    for (const path of ['results', `results/${ann!.id}`, 'invites', ''])
      expect((await client.get(`${client.home}${path}`)).text, path).not.toMatch(/Ann Archer|Bea Baker|canary-/)
    const report = await client.get(`${client.home}results/${ann!.id}/report`).buffer()
    expect(report.status).toBe(200)
    const { inviteId } = await db.submission.findUniqueOrThrow({ where: { id: ann!.id } })
    expect((await client.get(`${client.home}invites/${inviteId}`)).status).toBe(404)
    await db.member.update({ where: { id: client.member.id }, data: { canViewTranscription: true } })
    expect((await result()).text).toContain('Words that were said')
    for (const mediaId of [ann!.earlierId, ann!.photoId, people[1]!.mediaId])
      expect((await client.get(`${client.home}results/${ann!.id}/media/${mediaId}`)).status).toBe(404)
  })

  it('cannot create a link', async () => {
    const { organization, people } = made
    for (const roles of [['client'], ['grader']]) {
      const member = await signInAs(service, organization.id, roles)
      expect((await member.get(`${member.home}shares`)).status).toBe(404)
      const fields = { id: people[0]!.id, receiver: 'Tom', days: '7' }
      expect((await member.post(`${member.home}shares`, fields)).status).toBe(404)
    }
  })
})
