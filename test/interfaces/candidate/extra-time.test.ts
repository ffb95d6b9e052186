import { describe, expect, it } from 'vitest'
import { completeDueSubmissions } from '../../../src/domain/submissions/taking/complete-due-submissions.ts'
import { consent } from '../../support/candidate.ts'
import { confirmColumns } from '../../support/check-columns.ts'
import { signInAs } from '../../support/portal.ts'
import { startServiceForFile } from '../../support/service.ts'
import { makeAccepted, makeTaking, type Taken } from '../../support/taking.ts'

const service = await startServiceForFile()
const MINUTE = 60_000

const withAdmin = async <M extends Awaited<ReturnType<typeof makeAccepted>>>(made: M) => {
  const admin = await signInAs(service, made.organization.id, ['admin'])
  const path = `${admin.home}invites/${made.invite.id}`
  const client = service.v1(made.organization.key)
  return {
    ...made,
    ...{ admin, path, client },
    give: (extraTimePercent: number) => client.put(`/invites/${made.invite.id}/accommodations`).send({ extraTimePercent }),
    /** Minutes from `from` to the end of the assessment and to the end of the question. */
    ends: async (number: number, from: number) => {
      const minutes = (time: Date | null | undefined) => (time ? (time.getTime() - from) / MINUTE : null)
      const question = (await made.paper()).find((asked) => asked.number === number)
      return [minutes((await made.submission()).deadlineAt), minutes(question?.closesAt)]
    },
  }
}
const taking = async (of: Taken) => withAdmin(await makeTaking(service, of))

describe('extra time', () => {
  it('is part of each limit if granted before the start, and is shown to the candidate', async () => {
    const made = await withAdmin(await makeAccepted(service, { timeLimit: 3_600, questions: [{ timeLimit: 600 }, {}] }))
    const { body } = await made.give(50).expect(200)
    expect(body).toEqual({ extraTimePercent: 50 })
    expect((await made.candidate.open()).text).toContain('90 minutes')
    const from = service.clock.now().getTime()
    await consent(made.candidate)
    await made.candidate.press('start')
    expect((await made.candidate.open()).text).toContain('15 minutes')
    await made.candidate.press('open', { number: '1' })
    expect((await made.candidate.open()).text).toContain('within 15 minutes')
    expect(await made.ends(1, from)).toEqual([90, 15])
  })

  it('moves the end of the open question and of the whole at once, by the total limit', async () => {
    const made = await taking({ timeLimit: 3_600, questions: [{ timeLimit: 600 }, { timeLimit: 600 }] })
    const from = service.clock.now().getTime()
    await made.candidate.press('open', { number: '1' })
    service.clock.advance(4 * MINUTE)
    await made.give(50).expect(200)
    expect(await made.ends(1, from)).toEqual([90, 15])
    const { body } = await made.candidate.session('get', '')
    expect(body).toMatchObject({
      deadlineAt: new Date(from + 90 * MINUTE).toISOString(),
      question: { closesAt: new Date(from + 15 * MINUTE).toISOString() },
    })
    await made.give(100).expect(200)
    expect(await made.ends(1, from)).toEqual([120, 20])
  })

  it('extends a question that the end of the whole had cut short', async () => {
    const made = await taking({ timeLimit: 600, questions: [{ timeLimit: 3_600 }, {}] })
    const from = service.clock.now().getTime()
    await made.candidate.press('open', { number: '1' })
    await made.give(200).expect(200)
    expect(await made.ends(1, from)).toEqual([30, 30])
  })

  it('moves the end of the last question if that is the end of the whole', async () => {
    const made = await taking({ questions: [{ timeLimit: 600 }] })
    const from = service.clock.now().getTime()
    await made.candidate.press('open', { number: '1' })
    expect(await made.ends(1, from)).toEqual([10, 10])
    await made.give(50).expect(200)
    expect(await made.ends(1, from)).toEqual([15, 15])
  })

  it('is never reduced while it runs, and an edited limit of the assessment shortens nothing', async () => {
    const made = await taking({ timeLimit: 3_600, questions: [{ timeLimit: 600 }, {}] })
    const from = service.clock.now().getTime()
    await made.candidate.press('open', { number: '1' })
    await made.give(50).expect(200)
    const { body } = await made.give(20).expect(400)
    expect(body).toMatchObject({ error: expect.stringContaining('between 50 and 300') })
    await service.db.assessment.update({ where: { id: made.assessment.id }, data: { timeLimit: 60 } })
    await made.give(100).expect(200)
    expect(await made.ends(1, from)).toEqual([120, 20])
  })

  it('does not reopen a question whose time is over, and moves the automatic end', async () => {
    const made = await taking({ timeLimit: 600, questions: [{ timeLimit: 60 }, {}] })
    const from = service.clock.now().getTime()
    await made.candidate.press('open', { number: '1' })
    service.clock.advance(2 * MINUTE)
    await made.give(100).expect(200)
    expect(await made.ends(1, from)).toEqual([20, 1])
    service.clock.advance(11 * MINUTE)
    await completeDueSubmissions(service.system)
    expect((await made.stored()).status).toBe('started')
    service.clock.advance(8 * MINUTE)
    await completeDueSubmissions(service.system)
    expect((await made.stored()).status).toBe('completed')
    await made.give(150).expect(409)
  })

  it.each([-1, 301, 1.5, 'much'])('rejects %s percent', async (extraTimePercent) => {
    const made = await withAdmin(await makeAccepted(service))
    await made.give(extraTimePercent as number).expect(400)
    expect((await made.stored()).extraTimePercent).toBe(0)
  })

  it('is granted on the invite page, is in the audit log without a reason, and is hidden from graders', async () => {
    const made = await taking({ timeLimit: 3_600, questions: [{ timeLimit: 600 }] })
    const grader = await signInAs(service, made.organization.id, ['grader'])
    await service.db.invite.update({ where: { id: made.invite.id }, data: { assignedGraderId: grader.member.id } })
    expect((await made.admin.post(`${made.path}/extra-time`, { extraTimePercent: '35' })).status).toBe(303)
    expect((await made.admin.get(made.path)).text).toContain('<dd>35 %</dd>')
    const where = { organizationId: made.organization.id, action: 'changed_extra_time' }
    expect(await service.db.auditEntry.findMany({ where })).toMatchObject([
      { actorId: made.admin.member.id, targetId: made.invite.id, details: { percent: 35 } },
    ])
    await made.candidate.press('open', { number: '1' })
    await made.candidate.answer(1, 'An answer', 'next')
    await made.candidate.press('finish')
    const { id } = await made.submission()
    for (const page of [`invites/${made.invite.id}`, `invites/${made.invite.id}/submission`, `grading/${id}`]) {
      const { status, text } = await grader.get(`${grader.home}${page}`)
      expect([page, status]).toEqual([page, 200])
      expect(text).not.toMatch(/extra.?time|35 %/i)
    }
    expect((await made.admin.post(`${made.path}/extra-time`, { extraTimePercent: '50' })).status).toBe(422)
  })

  it('is a column of a candidate list, and also applies to a retake', async () => {
    const made = await withAdmin(await makeAccepted(service))
    const list = 'email,extra time\nlong@example.com,25 %\nusual@example.com,\nwrong@example.com,a lot\nfar@example.com,400'
    const { headers } = await made.admin.post(`${made.admin.home}invites/batches`, { assessmentId: made.assessment.id, list })
    const location = await confirmColumns(made.admin, headers.location!)
    const rows = await service.db.inviteBatchRow.findMany({
      where: { organizationId: made.organization.id },
      orderBy: { number: 'asc' },
    })
    expect(location).toContain('invites/batches/')
    expect(rows.map(({ state, terms }) => [state, terms])).toEqual([
      ['ready', { extraTimePercent: 25 }],
      ['ready', {}],
      ['invalid', {}],
      ['invalid', {}],
    ])
    await service.db.invite.update({ where: { id: made.invite.id }, data: { status: 'completed', extraTimePercent: 40 } })
    const { body } = await made.client.post(`/invites/${made.invite.id}/retake`).expect(201)
    expect(await service.db.invite.findUnique({ where: { id: body.invite.id } })).toMatchObject({ extraTimePercent: 40 })
  })
})
