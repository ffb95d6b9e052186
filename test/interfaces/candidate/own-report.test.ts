import { describe, expect, it } from 'vitest'
import { reopenResult } from '../../../src/domain/submissions/grading/release-result.ts'
import { makeSubmitted } from '../../support/grading.ts'
import { hasPoppler, readPdf } from '../../support/pdf.ts'
import { startServiceForFile } from '../../support/service.ts'

const service = await startServiceForFile()

/** A candidate whose two answers are graded, with comments. */
async function makeGraded(languages: string[] = ['en', 'de', 'ar']) {
  const made = await makeSubmitted(service, { recipientName: 'Mei Tanaka' })
  const { organization, candidate } = made
  await service.db.organization.update({ where: { id: organization.id }, data: { languagesOffered: languages } })
  const { ctx } = await made.join()
  await made.grade(ctx, 1, 4.5, { comment: 'A comment for the organization' })
  await made.grade(ctx, 2, 3)
  const download = (language = 'en') =>
    service
      .http()
      .get(`${candidate.path}/report`)
      .set('accept-language', language)
      .responseType('arraybuffer')
      .then(({ status, headers, body }) => ({ status, headers, pdf: Buffer.from(body) }))
  const page = (language = 'en') => service.http().get(candidate.path).set('accept-language', language)
  return { ...made, ctx, download, page }
}

describe("the report on a candidate's own result", () => {
  it('is offered and sent only while the result is released to the candidate', async () => {
    const { candidate, ctx, submissionId, release, download, page } = await makeGraded()
    const outcome = async () => {
      const { status, headers } = await download()
      return [status, headers['content-type'], (await page()).text.includes(`href="${candidate.path}/report"`)]
    }
    const without = [404, 'text/html; charset=utf-8', false]
    expect(await outcome()).toEqual(without)
    await release(ctx, { message: 'Well done.' })
    expect(await outcome()).toEqual(without)
    await reopenResult(ctx, submissionId)
    await release(ctx, { message: 'Well done.', toCandidate: true })
    const shown = [200, 'application/pdf', true]
    expect(await outcome()).toEqual(shown)
    const { headers, pdf } = await download()
    expect(headers['content-disposition']).toBe(`attachment; filename="report-${submissionId}.pdf"`)
    expect(headers['cache-control']).toContain('no-store')
    expect(pdf.subarray(0, 8).toString()).toBe('%PDF-1.7')
    await reopenResult(ctx, submissionId)
    expect(await outcome()).toEqual(shown)
    const foreign = `${candidate.path.slice(0, -1)}${candidate.path.endsWith('A') ? 'B' : 'A'}/report`
    expect((await service.http().get(foreign)).status).toBe(404)
  })

  it.skipIf(!hasPoppler).each([
    ['de', ['Ergebnis: Mei Tanaka', 'Punkte 7,5 von 8', '94 %', 'Frage 1', '4,5 von 5 Punkten', 'Seite 1 von 1']],
    ['ar', ['النتيجة', 'Mei Tanaka', '94٪', 'السؤال 1', 'نقاط', 'صفحة']],
  ])("has the page's language, %s, and what the page shows: no question, comment, or level", async (language, texts) => {
    const { ctx, release, download, organization, assessment } = await makeGraded()
    await release(ctx, { message: 'Well done.', comment: 'A comment for the organization', toCandidate: true })
    const { text } = await readPdf((await download(language)).pdf)
    const plainText = text.replace(/\s+/g, ' ')
    for (const part of [...texts, organization.name, assessment.name, 'Well done.']) expect(plainText).toContain(part)
    for (const part of ['What is 1?', 'A comment for the organization', 'graders']) expect(plainText).not.toContain(part)
  })
})
