import { describe, expect, it } from 'vitest'
import { reopenResult } from '../../../src/domain/submissions/grading/release-result.ts'
import { unknownId } from '../../support/factories.ts'
import { makeHandedIn } from '../../support/grading.ts'
import { startServiceForFile } from '../../support/service.ts'
import { makeAccepted } from '../../support/taking.ts'

const service = await startServiceForFile()
const textOf = (page: string) =>
  page
    .replace(/<style>.*<\/style>/s, '')
    .replace(/<[^>]+>/g, ' ')
    .replace(/\s+/g, ' ')

/** A result that was released, with what is shown to nobody but graders beside it. */
async function makeReleased() {
  const made = await makeHandedIn(service)
  const { ctx } = await made.join()
  await made.grade(ctx, 1, 4.5, { comment: 'To the <point>' })
  await made.grade(ctx, 2, 0)
  await made.release(ctx, { comment: 'For the organization', message: 'Thank you, Kim.' })
  const report = (accept = 'text/html', key = made.organization.key) =>
    service.v1(key).get(`/invites/${made.invite.id}/submission/report`).set('accept', accept)
  return { ...made, ctx, report }
}

describe('GET /invites/{inviteId}/submission/report', () => {
  it('is 404 of an invite that is none or another organization’s, before the start, and before the release', async () => {
    const { organization, invite } = await makeAccepted(service)
    const handedIn = await makeHandedIn(service)
    const other = await makeReleased()
    const outcome = async (key: string, id: string) => {
      const { status, body, headers } = await service.v1(key).get(`/invites/${id}/submission/report`)
      return [status, body.error, headers['x-error-code']]
    }
    const noInvite = [404, 'Invite not found', 'invite_not_found']
    expect(await outcome(organization.key, unknownId)).toEqual(noInvite)
    expect(await outcome(organization.key, '1')).toEqual(noInvite)
    expect(await outcome(organization.key, other.invite.id)).toEqual(noInvite)
    expect(await outcome(organization.key, invite.id)).toEqual([404, 'Submission not found', 'submission_not_found'])
    const unreleased = [404, 'The result has not been released yet', 'result_not_released']
    expect(await outcome(handedIn.organization.key, handedIn.invite.id)).toEqual(unreleased)
    const { ctx } = await handedIn.join()
    await handedIn.grade(ctx, 1, 5, { comment: 'Unreleased' })
    expect(await outcome(handedIn.organization.key, handedIn.invite.id)).toEqual(unreleased)
    await service.db.submission.update({ where: { id: other.submissionId }, data: { state: 'withdrawn' } })
    expect(await outcome(other.organization.key, other.invite.id)).toEqual([404, 'Submission not found', 'submission_not_found'])
  })

  it('is a page of what was released, and of nothing else', async () => {
    const { organization, assessment, invite, ctx, submissionId, grade, release, report } = await makeReleased()
    await service.db.invite.update({ where: { id: invite.id }, data: { recipientName: 'Kim <Lee>' } })
    const { status, headers, text } = await report()
    expect([status, headers['content-type']]).toEqual([200, 'text/html; charset=utf-8'])
    expect(headers['content-security-policy']).toContain("default-src 'none'; style-src 'unsafe-inline'")
    expect(text).toMatch(/^<!doctype html>\n<html lang="en">/)
    const said = textOf(text)
    const { acceptedAt } = await service.db.invite.findUniqueOrThrow({ where: { id: invite.id } })
    for (const part of [
      'Result of Kim &lt;Lee&gt;',
      `Organization ${organization.name}`,
      `Assessment ${assessment.name}`,
      `Address ${invite.recipientEmail}`,
      'Points 4.5 of 8 Percent 56 %',
      'Message to the candidate Thank you, Kim.',
      '4.5 of 5 points Comment To the &lt;point&gt;',
      '0 of 3 points',
      'version 1 of the result',
    ])
      expect(said).toContain(part)
    for (const label of [...(acceptedAt ? ['Accepted'] : []), 'Started', 'Handed in', 'Released'])
      expect(said).toMatch(new RegExp(`${label} \\w+,? \\d+ \\w+ \\d{4} at \\d\\d:\\d\\d UTC`))
    expect(said).not.toContain('For the organization')
    await reopenResult(ctx, submissionId)
    await grade(ctx, 1, 5, { comment: 'Graded anew' })
    expect((await report()).text).toBe(text)
    await release(ctx)
    expect(textOf((await report()).text)).toContain('Points 5 of 8 Percent 63 %')
  })

  it('says of a result without points that there are none, and of a question what it asked', async () => {
    const { report, join, release, organization } = await makeHandedInWithoutPoints()
    const { ctx } = await join()
    await release(ctx)
    const said = textOf((await report(organization.key)).text)
    expect(said).toContain('None of the questions gives points')
    expect(said).not.toContain('Percent')
  })
})

async function makeHandedInWithoutPoints() {
  const made = await makeHandedIn(service, { questions: [{ points: 0 }, { points: 0 }] })
  const report = (key: string) => service.v1(key).get(`/invites/${made.invite.id}/submission/report`).set('accept', 'text/html')
  return { ...made, report }
}
