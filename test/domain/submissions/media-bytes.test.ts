import { expect, it } from 'vitest'
import { deleteSubmissionMedia } from '../../../src/domain/submissions/media/delete-expired-media.ts'
import { removeFiles } from '../../../src/domain/submissions/media/remove-files.ts'
import { asOperator } from '../../support/portal.ts'
import { startServiceForFile } from '../../support/service.ts'
import { jpeg, MINUTE_MS, takeAssessment, webmPart } from '../../support/submissions.ts'

const service = await startServiceForFile({ ROLE: 'api' })
const { db } = service
/** A link allows four concurrent uploads, and frees a place shortly after the response. So two at once never exceed the limit. */
const AT_ONCE = 2

/** The organization's count of media bytes, and the sum over its submissions. */
async function bytesOf(organizationId: string) {
  const kept = await db.organizationMediaBytes.aggregate({ where: { organizationId }, _sum: { bytes: true } })
  const there = await db.submission.aggregate({ where: { organizationId }, _sum: { mediaBytes: true } })
  return [Number(kept._sum.bytes ?? 0), Number(there._sum.mediaBytes ?? 0)]
}

it("counts an organization's media bytes correctly under concurrent uploads, until they are removed", async () => {
  const candidate = await takeAssessment(service)
  const { organization, submissionId } = candidate
  const attempt = await candidate.beginAttempt()
  const screen = await candidate.beginCapture()
  const parts = Array.from({ length: 12 }, (_, i) => webmPart('x'.repeat(i)))
  const uploads = [
    () => candidate.putPhoto('webcam_still', jpeg()),
    ...parts.map((part, i) => () => candidate.putPart(i % 2 ? attempt : screen, i, 0, part)),
  ]
  for (let i = 0; i < uploads.length; i += AT_ONCE) {
    const answers = await Promise.all(uploads.slice(i, i + AT_ONCE).map((upload) => upload()))
    expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 204))
  }
  const bytes = [...parts, jpeg()].reduce((sum, { length }) => sum + length, 0)
  expect(await bytesOf(organization.id)).toEqual([bytes, bytes])

  await deleteSubmissionMedia(asOperator(service, organization), candidate.invite.id, ['answer', 'screen', 'webcam_still'])
  service.clock.advance(2 * MINUTE_MS)
  await removeFiles(service.system)
  expect(await bytesOf(organization.id)).toEqual([0, 0])
  await db.submission.update({ where: { id: submissionId }, data: { mediaBytes: 5 } })
  await db.submission.delete({ where: { id: submissionId } })
  expect(await bytesOf(organization.id)).toEqual([0, 0])
})

it('deletes the count with the organization, and counts for no other organization', async () => {
  const [one, other] = [await takeAssessment(service), await takeAssessment(service)]
  for (const { submissionId } of [one, other])
    await db.submission.update({ where: { id: submissionId }, data: { mediaBytes: 70 } })
  await db.invite.deleteMany({ where: { organizationId: one.organization.id } })
  expect(await bytesOf(one.organization.id)).toEqual([0, 0])
  await db.organization.delete({ where: { id: one.organization.id } })
  expect(await db.organizationMediaBytes.count({ where: { organizationId: one.organization.id } })).toBe(0)
  expect(await bytesOf(other.organization.id)).toEqual([70, 70])
})
