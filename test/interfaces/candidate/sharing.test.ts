import { describe, expect, it } from 'vitest'
import { prepare } from '../../support/candidate.ts'
import { signInAs } from '../../support/portal.ts'
import { startServiceForFile } from '../../support/service.ts'
import { webmPart } from '../../support/submissions.ts'
import { makeAccepted, openTab } from '../../support/taking.ts'

const service = await startServiceForFile({ ROLE: 'api' })

/** Starts an assessment that requires a screen recording. */
async function makeShared() {
  const made = await makeAccepted(service, { screenRecording: true })
  const { candidate, invite, organization } = made
  await prepare(service, invite)
  await candidate.press('start')
  const tab = await openTab(service, candidate)
  const share = async (): Promise<string> =>
    (await candidate.session('post', '/media', { tab, body: { kind: 'screen' } })).body.mediaId
  const sendPart = (mediaId: string) =>
    service
      .http()
      .put(`${candidate.path}/session/media/${mediaId}/parts/0/0`)
      .set({ 'x-tab': tab, 'content-type': 'application/octet-stream' })
      .send(webmPart())
  const stopSharing = async (mediaId: string) => {
    await sendPart(mediaId)
    await candidate.session('post', `/media/${mediaId}/complete`, { tab, body: { segments: [1] } })
  }
  const opened = async () => (await made.paper()).filter(({ openedAt }) => openedAt).map(({ number }) => number)
  const admin = await signInAs(service, organization.id, ['admin'])
  return { ...made, tab, share, stopSharing, opened, admin, page: `${admin.home}invites/${invite.id}` }
}

describe('a required screen recording', () => {
  it('must run before a question is opened, each time again', async () => {
    const { candidate, share, stopSharing, opened } = await makeShared()
    const refused = await candidate.press('open', { number: '1' })
    expect(refused.status).toBe(422)
    expect(refused.text).toContain('The question was not opened: your screen has to be recorded, and is not.')
    expect(refused.text).toContain('Open question 1')
    expect(await opened()).toEqual([])
    const mediaId = await share()
    expect((await candidate.press('open', { number: '1' })).status).toBe(303)
    await stopSharing(mediaId)
    await candidate.answer(1, 'What was open may be answered', 'next')
    expect((await candidate.press('open', { number: '2' })).status).toBe(422)
    expect(await opened()).toEqual([1])
    await share()
    await candidate.press('open', { number: '2' })
    expect(await opened()).toEqual([1, 2])
  })

  it('is no longer required after an admin has waived it, which is audited and shown', async () => {
    const { candidate, share, stopSharing, opened, admin, page, organization, invite } = await makeShared()
    const mediaId = await share()
    await candidate.press('open', { number: '1' })
    service.clock.advance(40_000)
    await stopSharing(mediaId)
    service.clock.advance(90_000)
    expect((await admin.get(page)).text).toContain('they can then continue without it')
    expect((await admin.get(`${page}/submission`)).text).toContain(
      'The screen was not recorded for <strong>1 minute 30 seconds</strong> of the 2 minutes 10 seconds',
    )
    expect((await admin.post(`${page}/waive`, { requirement: 'screen' })).status).toBe(303)
    expect((await candidate.session('get')).body.checks.waived).toEqual(['screen'])
    expect((await candidate.open()).text).toContain('data-capture=""')
    service.clock.advance(60_000)
    await candidate.press('next', { number: '1' })
    await candidate.press('open', { number: '2' })
    expect(await opened()).toEqual([1, 2])
    await candidate.press('finish')
    const submission = (await service.db.invite.findUniqueOrThrow({ where: { id: invite.id } })).assessmentSession
    for (const address of [`${page}/submission`, `${admin.home}grading/${submission}`]) {
      const { text } = await admin.get(address)
      expect(text).toContain('<strong>1 minute 30 seconds</strong> of the 2 minutes 10 seconds')
      expect(text).toContain('the candidate was allowed to continue without sharing the screen')
      expect(text).toContain('Screen sharing was waived')
    }
    expect((await admin.get(page)).text).not.toContain('waive-heading')
    const entries = await service.db.auditEntry.findMany({
      where: { organizationId: organization.id, action: 'waived_requirement' },
    })
    expect(entries.map(({ actorId, details }) => [actorId, details])).toEqual([[admin.member.id, { requirement: 'screen' }]])
  })

  it('is waived only by admins', async () => {
    const { organization, invite, stored } = await makeShared()
    const grader = await signInAs(service, organization.id, ['grader'])
    const answer = await grader.post(`${grader.home}invites/${invite.id}/waive`, { requirement: 'screen' })
    expect(answer.status).toBe(404)
    expect((await stored()).waivedChecks).toEqual([])
  })
})
