import { expect, it } from 'vitest'
import { makeSubmitted } from '../../../support/grading.ts'
import { hasPoppler, readPdf } from '../../../support/pdf.ts'
import { signInAs, visit } from '../../../support/portal.ts'
import { startServiceForFile } from '../../../support/service.ts'

const service = await startServiceForFile()

/** Releases a result, and returns functions that read its page in the portal. */
async function makeReleased() {
  const made = await makeSubmitted(service, { recipientName: 'محمد علي' })
  const { organization, assessment, submissionId } = made
  const { ctx } = await made.join()
  await made.grade(ctx, 1, 4.5, { comment: 'Comment on the answer' })
  await made.grade(ctx, 2, 0)
  const client = await signInAs(service, organization.id, ['client'])
  const own = { organizationId: organization.id, assessmentId: assessment.id, memberId: client.member.id }
  await service.db.assessmentClient.create({ data: { ...own, position: 0 } })
  const page = `/portal/${organization.id}/results/${submissionId}`
  return { ...made, ctx, client, page, admin: await signInAs(service, organization.id, ['admin']) }
}

it('is available to permitted members on the page of a released result', async () => {
  const { release, ctx, admin, client, page, organization, invite, submissionId } = await makeReleased()
  const outsiders = [
    await signInAs(service, organization.id, ['client']),
    await signInAs(service, organization.id, ['grader']),
    await signInAs(service, (await service.make.organization()).id, ['admin']),
  ]
  expect((await admin.get(`${page}/report`)).status).toBe(404)
  await release(ctx, { message: 'Thank you' })
  for (const person of [admin, client]) {
    expect((await person.get(page)).text).toContain(`href="${page}/report">`)
    const answers = `/portal/${organization.id}/invites/${invite.id}/submission`
    expect((await person.get(page)).text.includes(answers)).toBe(person === admin)
    const { status, headers, body } = await person.get(`${page}/report`).responseType('blob')
    expect([status, headers['content-type'], headers['content-disposition']]).toEqual([
      200,
      'application/pdf',
      `attachment; filename="report-${submissionId}.pdf"`,
    ])
    expect(headers['cache-control']).toContain('no-store')
    expect(body.subarray(0, 8).toString()).toBe('%PDF-1.7')
  }
  for (const person of outsiders) expect((await person.get(`${page}/report`)).status).toBe(404)
  const { status, headers } = await visit(service).get(`${page}/report`)
  expect([status, headers.location]).toEqual([303, `/portal/sign-in?${new URLSearchParams({ next: `${page}/report` })}`])
})

it.skipIf(!hasPoppler)('shows points to clients, and texts for the candidate only to admins', async () => {
  const { release, ctx, admin, client, page } = await makeReleased()
  await release(ctx, { message: 'Thank you', comment: 'For the organization' })
  const read = async (person: typeof admin) =>
    (await readPdf((await person.get(`${page}/report`).responseType('blob')).body)).text
  const [forAdmin, forClient] = [await read(admin), await read(client)]
  for (const text of [forAdmin, forClient]) {
    expect(text).toContain('محمد علي')
    expect(text).toContain('4.5 of 5 points')
    expect(text).not.toContain('For the organization')
  }
  for (const words of ['Thank you', 'Comment on the answer']) {
    expect(forAdmin).toContain(words)
    expect(forClient).not.toContain(words)
  }
})

it.skipIf(!hasPoppler)(
  "shows decisions only in the organization's version, and sends the candidate's version to admins",
  async () => {
    const { release, ctx, admin, client, page, invite, organization } = await makeReleased()
    await release(ctx, { message: 'Thank you' })
    await service.db.organization.update({ where: { id: organization.id }, data: { languagesOffered: ['en', 'de'] } })
    await service.db.invite.update({ where: { id: invite.id }, data: { chosenLanguage: 'de' } })
    await admin.post(`${page}/decision`, { decision: 'reject', note: 'Not for us' })
    const address = `${page}/report?audience=candidate`
    expect((await admin.get(page)).text).toContain(`href="${address}"`)
    expect((await client.get(page)).text).not.toContain(address)
    expect((await client.get(address)).status).toBe(404)
    const read = async (path: string) => (await readPdf((await admin.get(path).responseType('blob')).body)).text
    const [own, forCandidate] = [await read(`${page}/report`), await read(address)]
    for (const text of ['Result of', 'Decision', 'Not for us'])
      expect([own.includes(text), forCandidate.includes(text)]).toEqual([true, false])
    for (const text of ['Ergebnis:', '4,5 von 5 Punkten', 'Comment on the answer', 'Thank you'])
      expect(forCandidate).toContain(text)
  },
)

it.skipIf(!hasPoppler)('shows formatted questions with their markup on the page, and as plain text in the file', async () => {
  const { release, ctx, organization, invite, admin, page, submissionId } = await makeReleased()
  const script = 'Which are **prime**?\n\n- 4\n- <b>5</b>\n\n![A number line](asset:0197a3f2-6c1e-7b52-9d0a-3f1c2b4d5e75)'
  const where = { organizationId: organization.id, submissionId, number: 1 }
  await service.db.submissionQuestion.updateMany({ where, data: { script, scriptFormat: 'markdown' } })
  await release(ctx, {})
  const { text: web } = await service
    .v1(organization.key)
    .get(`/invites/${invite.id}/submission/report`)
    .set('accept', 'text/html')
  expect(web).toContain('<strong>prime</strong>')
  expect(web).toContain('<li>&lt;b&gt;5&lt;/b&gt;</li>')
  expect(web).toContain('[A number line]')
  const { text } = await readPdf((await admin.get(`${page}/report`).responseType('blob')).body)
  for (const words of ['Which are prime?', '[A number line]']) expect(text).toContain(words)
  expect(text).toMatch(/•\s*4\n\s*•\s*<b>5<\/b>/)
  for (const marks of ['**', 'asset:']) expect(`${web}${text}`).not.toContain(marks)
  expect((await admin.get(page)).text).toContain('Which are prime?')
})
