import { describe, expect, it } from 'vitest'
import { CONSENT_VERSION } from '../../../../src/domain/submissions/taking/record-consent.ts'
import { consent } from '../../../support/candidate.ts'
import { signInAs } from '../../../support/portal.ts'
import { startServiceForFile } from '../../../support/service.ts'
import { makeAccepted, makeTaking, type Taken } from '../../../support/taking.ts'

const service = await startServiceForFile()
const HOSTILE = '</p><script>alert(1)</script>'
const SHOWN = '&lt;/p&gt;&lt;script&gt;alert(1)&lt;/script&gt;'

/** Starts a submission, and returns its page as an admin sees it. */
async function setUp(of: Taken = {}) {
  const made = await makeTaking(service, of)
  const admin = await signInAs(service, made.organization.id, ['admin'])
  const address = `${admin.home}invites/${made.invite.id}/submission`
  return { ...made, admin, address, read: async () => (await admin.get(address)).text }
}

/** Inserts the rows of a recorded answer, without its file. */
async function record(
  submission: { id: string; organizationId: string },
  state: 'ready' | 'joining' | 'deleted',
  kind: 'audio' | 'video' = 'video',
) {
  const now = service.clock.now()
  const { organizationId } = submission
  const ids = { organizationId, submissionId: submission.id }
  const key = `${organizationId}/${service.deps.newId()}`
  const stored = { contentType: `${kind}/webm`, createdAt: now }
  const media = await service.db.mediaFile.create({
    data: { id: service.deps.newId(), ...ids, kind: 'answer', state, key, ...stored },
  })
  const take = { kind, questionNumber: 1, mediaId: media.id, createdAt: now, completedAt: now }
  await service.db.answerAttempt.create({ data: { id: service.deps.newId(), ...ids, ...take, state: 'complete' } })
  return media.id
}

describe('the page of a submission', () => {
  it('shows webcam stills in pages with continuous numbers, like the grading view', async () => {
    const { submission, candidate, admin, address } = await setUp()
    await candidate.press('finish')
    const { id: submissionId, organizationId } = await submission()
    const of = { organizationId, submissionId, kind: 'webcam_still', contentType: 'image/jpeg' } as const
    const still = (i: number, state: 'ready' | 'deleted') => {
      const id = service.deps.newId()
      return { ...of, id, key: `${organizationId}/${id}`, state, createdAt: new Date(service.clock.now().getTime() + i * 30_000) }
    }
    const stills = Array.from({ length: 122 }, (_, i) => still(i, i < 2 ? 'deleted' : 'ready'))
    await service.db.mediaFile.createMany({ data: stills })
    for (const page of [address, `${admin.home}grading/${submissionId}`]) {
      const read = async (query: string) => {
        const { text } = await admin.get(page + query)
        expect(text).toContain('Webcam: 120 pictures')
        return [...text.matchAll(/alt="Webcam, picture (\d+)"/g)].map(([, number]) => Number(number))
      }
      const all = [await read(''), await read('?page=2'), await read('?page=3')]
      expect(all.map(({ length }) => length)).toEqual([50, 50, 20])
      expect(all.flat()).toEqual(Array.from({ length: 120 }, (_, i) => i + 1))
      expect((await admin.get(page)).text).toContain(`href="${page}?page=2#stills-heading"`)
      expect([await read('?page=4'), (await read('?page=x')).length]).toEqual([[], 50])
    }
  })

  it('shows the paper with answers, times, consent, and incidents', async () => {
    const { candidate, tab, admin, read, invite } = await setUp({
      questions: [{ script: HOSTILE, points: 3, timeLimit: 60 }, {}],
    })
    await candidate.press('open', { number: '1' })
    await candidate.answer(1, HOSTILE, 'next')
    await candidate.session('post', '/notes', {
      tab,
      body: {
        notes: [
          { kind: 'tab_hidden', ago: 0 },
          { kind: 'offline', ago: 0 },
        ],
      },
    })
    const page = await read()
    expect(page).not.toContain('<script>')
    expect(page.split(`<p class="script" lang="" dir="auto">${SHOWN}</p>`)).toHaveLength(3)
    for (const words of [
      'in progress',
      '1 minute, 3 points',
      `version ${CONSENT_VERSION}`,
      'The page was hidden',
      'The browser went offline',
      'Never opened',
    ])
      expect(page).toContain(words)
    await candidate.press('finish')
    expect(await read()).toContain('submitted')
    expect((await admin.get(`${admin.home}invites/${invite.id}`)).text).toContain(
      `href="${admin.home}invites/${invite.id}/submission"`,
    )
  })

  it('treats the last complete attempt as the answer, and shows the others behind it', async () => {
    const { candidate, submission, read, organization } = await setUp({ questions: [{ responseType: 'mixed' }] })
    await candidate.press('open', { number: '1' })
    const first = await record(await submission(), 'ready')
    service.clock.advance(1_000)
    await candidate.answer(1, 'In the end by text', 'save')
    const answer = async () => (await read()).split('<h3>Answer</h3>')[1]!.split('<details>')
    expect((await answer())[0]).toContain('In the end by text')
    expect((await answer())[1]).toContain(`controls preload="metadata" src="/portal/${organization.id}/media/${first}#t=0.001"`)
    service.clock.advance(1_000)
    const second = await record(await submission(), 'ready', 'audio')
    expect((await answer())[0]).toContain(`controls preload="metadata" src="/portal/${organization.id}/media/${second}"`)
    service.clock.advance(1_000)
    await record(await submission(), 'joining')
    expect((await answer())[0]).toContain('being processed')
    service.clock.advance(1_000)
    await record(await submission(), 'deleted')
    expect((await answer())[0]).toContain('Answer by video: deleted.')
    service.clock.advance(1_000)
    await candidate.answer(1, '', 'save') // an empty text is no answer
    expect((await answer())[0]).toContain('Answer by video: deleted.')
  })

  it('shows where a recording has gaps', async () => {
    const { candidate, submission, read } = await setUp({ questions: [{ responseType: 'mixed' }] })
    await candidate.press('open', { number: '1' })
    const id = await record(await submission(), 'ready')
    expect(await read()).not.toContain('Not complete')
    await service.db.mediaFile.update({ where: { id }, data: { cuts: [0, 62_400] } })
    expect(await read()).toContain('Incomplete: parts of the recording are missing at 0:00, 1:02.')
    await service.db.mediaFile.update({ where: { id }, data: { cuts: Array.from({ length: 12 }, (_, place) => place * 1_000) } })
    expect(await read()).toContain('0:09 and 2 more places.')
  })

  it('is for admins and the assigned grader', async () => {
    const { organization, invite, address } = await setUp()
    const [assigned, other, client] = [
      await signInAs(service, organization.id, ['grader']),
      await signInAs(service, organization.id, ['grader']),
      await signInAs(service, organization.id, ['client']),
    ]
    await service.db.invite.update({ where: { id: invite.id }, data: { assignedGraderId: assigned.member.id } })
    const statuses = await Promise.all([assigned, other, client].map(async (person) => (await person.get(address)).status))
    expect(statuses).toEqual([200, 404, 404])
    // The page does not link to the invite, because graders cannot open that.
    expect((await assigned.get(address)).text).not.toContain(`invites/${invite.id}"`)
    await service.db.member.update({ where: { id: assigned.member.id }, data: { roles: ['client'] } })
    expect((await assigned.get(address)).status).toBe(404)
  })

  it('lets admins delete photos or recordings', async () => {
    const { candidate, submission, invite, organization, admin, address, read } = await setUp({
      questions: [{ responseType: 'mixed' }],
    })
    await candidate.press('open', { number: '1' })
    const mediaId = await record(await submission(), 'ready')
    const state = async () => (await service.db.mediaFile.findUniqueOrThrow({ where: { id: mediaId } })).state
    const grader = await signInAs(service, organization.id, ['grader'])
    await service.db.invite.update({ where: { id: invite.id }, data: { assignedGraderId: grader.member.id } })
    expect((await grader.get(address)).text).not.toContain('Delete')
    expect((await grader.post(`${address}/delete`, { media: 'answers' })).status).toBe(404)
    for (const media of ['', 'all', 'constructor']) expect((await admin.post(`${address}/delete`, { media })).status).toBe(422)
    expect((await admin.post(`${address}/delete`, { media: 'photos' })).status).toBe(303)
    expect(await state()).toBe('ready')
    expect((await admin.post(`${address}/delete`, { media: 'answers' })).headers.location).toBe(`${address}?done=deleted`)
    expect(await state()).toBe('deleted')
    expect(await read()).toContain('Answer by video: deleted.')
  })

  it('deletes recordings while the media store is down', async () => {
    const { candidate, submission, admin, address, read } = await setUp({ questions: [{ responseType: 'mixed' }] })
    await candidate.press('open', { number: '1' })
    await record(await submission(), 'ready')
    const { media } = service.deps
    const { deletePrefix } = media
    media.deletePrefix = () => Promise.reject(new Error('away'))
    const answer = await admin.post(`${address}/delete`, { media: 'answers' })
    media.deletePrefix = deletePrefix
    expect(answer.headers.location).toBe(`${address}?done=deleted`)
    expect(await read()).toContain('Answer by video: deleted.')
  })

  it('shows that nothing was submitted yet', async () => {
    const { invite, organization } = await makeAccepted(service)
    const admin = await signInAs(service, organization.id, ['admin'])
    const { status, text } = await admin.get(`${admin.home}invites/${invite.id}/submission`)
    expect([status, text]).toEqual([200, expect.stringContaining('No submission yet')])
  })
})

describe("a requirement that the candidate can't meet", () => {
  it("is waived on the invite's page once, with an audit entry", async () => {
    const { candidate, invite, organization, stored } = await makeAccepted(service, {
      screenRecording: true,
      requireIdCapture: true,
    })
    const admin = await signInAs(service, organization.id, ['admin'])
    const address = `${admin.home}invites/${invite.id}`
    const offered = async () =>
      [
        ...(await admin.get(address)).text
          .split('id="waive-heading"')[1]!
          .split('</form>')[0]!
          .matchAll(/<option value="(\w+)"/g),
      ].map(([, value]) => value)
    expect(await offered()).toEqual(['screen', 'id_photo'])
    for (let i = 0; i < 2; i++) expect((await admin.post(`${address}/waive`, { requirement: 'screen' })).status).toBe(303)
    expect((await stored()).waivedChecks).toEqual(['screen'])
    expect(await offered()).toEqual(['id_photo'])
    const entries = await service.db.auditEntry.findMany({
      where: { organizationId: organization.id, action: 'waived_requirement' },
    })
    expect(entries.map(({ actorId, targetId, details }) => [actorId, targetId, details])).toEqual([
      [admin.member.id, invite.id, { requirement: 'screen' }],
    ])
    await admin.post(`${address}/waive`, { requirement: 'id_photo' })
    await consent(candidate)
    await candidate.press('start')
    expect((await stored()).status).toBe('started')
    expect((await admin.get(address)).text).not.toContain('waive-heading')
  })

  it('is rejected if unknown', async () => {
    const { invite, organization, stored } = await makeAccepted(service)
    const admin = await signInAs(service, organization.id, ['admin'])
    for (const requirement of ['', 'everything', 'constructor', HOSTILE])
      expect((await admin.post(`${admin.home}invites/${invite.id}/waive`, { requirement })).status).toBe(422)
    expect((await stored()).waivedChecks).toEqual([])
  })
})
