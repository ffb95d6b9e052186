import { parse } from 'csv-parse/sync'
import { beforeEach, describe, expect, it } from 'vitest'
import { releaseResult, reopenResult } from '../../../../src/domain/submissions/grading/release-result.ts'
import { mistakesIn, rowsOf } from '../../../support/forms.ts'
import { asMember, makeSubmitted } from '../../../support/grading.ts'
import { hasPoppler, readPdf } from '../../../support/pdf.ts'
import { signInAs } from '../../../support/portal.ts'
import { startServiceForFile } from '../../../support/service.ts'

const service = await startServiceForFile()
const { db } = service

/** Creates a submission with 4.5 of 5 and 0 points for its questions, and an admin who sets bands and knock-outs. */
async function setUp() {
  const made = await makeSubmitted(service, { recipientName: 'Ann' })
  const { organization, assessment, submissionId } = made
  const { ctx } = await made.join()
  await made.grade(ctx, 1, 4.5)
  await made.grade(ctx, 2, 0)
  const admin = await signInAs(service, organization.id, ['admin'])
  const questions = await db.question.findMany({ where: { assessmentId: assessment.id }, orderBy: { order: 'asc' } })
  const set = (bands: string, required: (number | '')[] = []) =>
    admin.post(`${admin.home}assessments/${assessment.id}/bands`, {
      bands,
      ...Object.fromEntries(required.map((percent, i) => [`required-${questions[i]!.id}`, String(percent)])),
    })
  const releaser = asMember(service, organization, { ...admin.member, roles: ['admin'] } as never)
  const release = (toCandidate = false) => releaseResult(releaser, { submissionId, comment: '', message: '', toCandidate })
  const reopen = () => reopenResult(releaser, submissionId)
  const releases = () => db.release.findMany({ where: { submissionId }, orderBy: { version: 'asc' } })
  return { ...made, admin, set, release, reopen, releases }
}

let made: Awaited<ReturnType<typeof setUp>>
beforeEach(async () => {
  made = await setUp()
})

describe('bands and knock-outs', () => {
  it('are frozen in each release: changes apply to later releases only', async () => {
    const { set, release, reopen, releases, admin, submissionId } = made
    expect((await set('0 Not yet\n30 Good\n90 Excellent', [91, ''])).status).toBe(303)
    await release()
    const percent = Math.round((100 * 4.5) / Number((await releases())[0]!.ofPoints))
    const band = percent >= 90 ? 'Excellent' : percent >= 30 ? 'Good' : 'Not yet'
    expect(await releases()).toMatchObject([{ band, knockedOut: [1] }])
    await set('0 Renamed', [90, 1])
    const page = await admin.get(`${admin.home}results/${submissionId}`)
    expect(page.text).toContain(band)
    expect(page.text).toContain('by question 1')
    await reopen()
    await release()
    expect(await releases()).toMatchObject([
      { band, knockedOut: [1] },
      { band: 'Renamed', knockedOut: [2] },
    ])
  })

  it('filter the results, and are in the export and the API', async () => {
    const { set, release, admin, assessment, organization, invite } = made
    await set('0 Everybody', [91])
    await release()
    const count = async (query: string) => rowsOf((await admin.get(`${admin.home}results?${query}`)).text).length
    expect([await count('knockedOut=yes'), await count('knockedOut=no')]).toEqual([1, 0])
    const of = `assessment=${assessment.id}`
    expect([await count(`${of}&band=Everybody`), await count(`${of}&band=Nobody`)]).toEqual([1, 0])
    const rows: Record<string, string>[] = parse((await admin.post(`${admin.home}results/export`)).text, {
      columns: true,
      bom: true,
    })
    expect(rows.map(({ band, knocked_out_by }) => [band, knocked_out_by])).toEqual([['Everybody', '1']])
    const { body } = await service.v1(organization.key).get(`/invites/${invite.id}/submission`)
    expect(body.result).toMatchObject({ band: 'Everybody', knockedOut: [1] })
  })

  it('show candidates and clients no knock-out, and candidates a band only where they see points', async () => {
    const { set, release, reopen, organization, assessment, submissionId, candidate } = made
    await set('0 Everybody', [100, 100])
    const client = await signInAs(service, organization.id, ['client'])
    const own = { organizationId: organization.id, assessmentId: assessment.id, memberId: client.member.id }
    await db.assessmentClient.create({ data: { ...own, position: 0 } })
    await release(false)
    expect((await candidate.open()).text).not.toContain('Everybody')
    await reopen()
    await release(true)
    const page = (await candidate.open()).text
    expect(page).toContain('Everybody')
    for (const path of ['results', `results/${submissionId}`]) {
      const { text } = await client.get(`${client.home}${path}`)
      expect([text.includes('Everybody'), /knocked/i.test(text)]).toEqual([true, false])
    }
    expect(page).not.toMatch(/knock/i)
    expect((await client.get(`${client.home}results?knockedOut=yes`)).status).toBe(404)
  })

  it('reject a band without a percentage, twice the same, or above 100 %', async () => {
    const { set, assessment } = made
    expect(mistakesIn(await set('Good'))).toHaveLength(1)
    expect(mistakesIn(await set('101 Good'))).toHaveLength(1)
    expect(mistakesIn(await set('50 Good\n60 good'))).toEqual(['Two bands have the same name or percentage. Change one.'])
    expect(mistakesIn(await set('50 Good', [101]))).toHaveLength(1)
    expect((await db.assessment.findUniqueOrThrow({ where: { id: assessment.id } })).bands).toEqual([])
  })

  it.skipIf(!hasPoppler)('are on the report, with the decision and its note for members who decide', async () => {
    const { set, release, admin, organization, assessment, submissionId } = made
    await set('0 Everybody', [100])
    await release()
    await admin.post(`${admin.home}results/${submissionId}/decision`, { decision: 'hold', note: 'Ask again in May' })
    const client = await signInAs(service, organization.id, ['client'])
    const own = { organizationId: organization.id, assessmentId: assessment.id, memberId: client.member.id }
    await db.assessmentClient.create({ data: { ...own, position: 0 } })
    const read = async (person: typeof admin) =>
      (await readPdf((await person.get(`${person.home}results/${submissionId}/report`).responseType('blob')).body)).text
    const [forAdmin, forClient] = [await read(admin), await read(client)]
    for (const words of ['Everybody', 'by question 1', 'Hold', 'Ask again in May']) expect(forAdmin).toContain(words)
    expect(forClient).toContain('Everybody')
    for (const words of ['Knocked out', 'Hold', 'Ask again in May']) expect(forClient).not.toContain(words)
  })
})
