import { expect, it } from 'vitest'
import { makeAnswers } from '../../../support/answers.ts'
import { signInAs, type Visitor } from '../../../support/portal.ts'
import { RUBRIC, RUBRIC_POINTS } from '../../../support/rubrics.ts'
import { startServiceForFile } from '../../../support/service.ts'

const service = await startServiceForFile()
// This job would unassign the answers of assessments that do not assign graders.
await service.db.$executeRaw`DELETE FROM pgboss.schedule WHERE name = 'sweep.assign_answers'`

type Made = Awaited<ReturnType<typeof makeAnswers>>
type Person = Visitor & { home: string }

/** Finds in the list of questions the address that leads from answer to answer. */
async function findWalk(person: Person, { assessment }: Made): Promise<string> {
  const { text } = await person.get(`${person.home}grading/by-question/${assessment.id}`)
  return /href="([^"]+)"[^>]*aria-label="Grade question 1"/.exec(text)![1]!
}

/** Signs in graders until one starts at a wanted submission: the start is random. */
async function findGraderFrom(made: Made, walk: string, isWanted: (start: string) => boolean): Promise<Person> {
  for (;;) {
    const grader = await signInAs(service, made.organization.id, ['grader'])
    if (isWanted(submissionOn((await grader.get(walk)).text))) return grader
  }
}

const submissionOn = (text: string): string => /data-sheet="[^"]+\/([^"/]+)"/.exec(text)![1]!
const seen = () => service.clock.now().toISOString()

/** Grades one answer after the other with the page's form. @returns the submissions in the order shown. */
async function gradeAll(person: Person, walk: string, points = '4'): Promise<string[]> {
  const order: string[] = []
  for (let address = walk; ; ) {
    const { text } = await person.get(address)
    if (text.includes('All answers are graded')) return order
    const submission = submissionOn(text)
    order.push(submission)
    service.clock.advance(60_000)
    const saved = await person.post(`${walk}/${submission}`, { points, comment: '', seen: seen() })
    expect(saved.status).toBe(303)
    address = saved.headers.location!
  }
}

it('shows all answers to a question one after the other, without scripts, in a fixed order with a start for each grader', async () => {
  const made = await makeAnswers(
    service,
    Array.from({ length: 12 }, (_, i) => `Answer ${i}`),
  )
  const one = await signInAs(service, made.organization.id, ['grader'])
  const walk = await findWalk(one, made)
  const first = submissionOn((await one.get(walk)).text)
  expect(submissionOn((await one.get(walk)).text)).toBe(first)
  const order = await gradeAll(one, walk)
  expect(order[0]).toBe(first)
  expect(order.toSorted()).toEqual(made.submissions.map(({ id }) => id).toSorted())
  expect(order).not.toEqual(made.submissions.map(({ id }) => id))
  expect((await one.get(walk)).text).toContain('You have graded 12 answers to this question.')
  // Other graders start elsewhere in the same order. Without two graders, a later grade is stored beside the earlier one.
  const other = await findGraderFrom(made, walk, (start) => start !== first)
  const others = await gradeAll(other, walk)
  const start = order.indexOf(others[0]!)
  expect(others).toEqual([...order.slice(start), ...order.slice(0, start)])
  expect(await made.grades()).toHaveLength(24)
})

it('continues where the grader stopped, leaves skipped answers for the end, and estimates the time left', async () => {
  const made = await makeAnswers(
    service,
    Array.from({ length: 6 }, (_, i) => `Answer ${i}`),
  )
  const grader = await signInAs(service, made.organization.id, ['grader'])
  const walk = await findWalk(grader, made)
  const grade = async (address: string) => {
    const { text } = await grader.get(address)
    service.clock.advance(2 * 60_000)
    return (await grader.post(`${walk}/${submissionOn(text)}`, { points: '1', comment: '', seen: seen() })).headers.location!
  }
  const start = (await grader.get(walk)).text
  const skip = /href="([^"]+)" data-go="next"/.exec(start)![1]!
  const third = await grade(skip)
  const fourth = await grade(await grade(third).then((address) => address))
  const resumed = (await grader.get(walk)).text
  expect(resumed).toContain(`data-sheet="${grader.home}grading/${fourth.split('/').at(-1)}"`)
  expect(resumed).toContain('3 of 6 answers')
  expect(resumed).toContain('about 6 minutes left at your pace')
  await grade(await grade(fourth).then((address) => address))
  expect(submissionOn((await grader.get(walk)).text)).toBe(submissionOn(start))
})

it('lists a question once for each wording, and hides candidates from graders who grade blindly', async () => {
  const made = await makeAnswers(service, ['One', 'Two'])
  await service.db.assessment.update({ where: { id: made.assessment.id }, data: { blindGrading: true } })
  await service.db.submissionQuestion.updateMany({
    where: { submissionId: made.submissions[1]!.id },
    data: { script: 'What would you do second?' },
  })
  const grader = await signInAs(service, made.organization.id, ['grader'])
  const { text } = await grader.get(`${grader.home}grading/by-question/${made.assessment.id}`)
  expect(text.match(/aria-label="Grade question 1"/g)).toHaveLength(2)
  for (const [, address] of text.matchAll(/href="([^"]+)"[^>]*aria-label="Grade question 1"/g)) {
    const page = (await grader.get(address!)).text
    expect(page).toContain('0 of 1 answer')
    expect(page).not.toContain('Candidate number')
    expect((await grader.get(`${address}/${submissionOn(page)}/equal`)).text).not.toContain('Candidate number')
  }
})

it('shows a grader only their own answers: whole submissions, single answers, and those without a grader', async () => {
  const made = await makeAnswers(service, ['Mine', 'Single', 'Free', 'Of another', 'Single of another'])
  const { id: organizationId } = made.organization
  const [me, other] = [await signInAs(service, organizationId, ['grader']), await signInAs(service, organizationId, ['grader'])]
  const [mine, single, free, foreign, foreignSingle] = made.submissions.map(({ id }) => id)
  const hold = (id: string, assignedGraderId: string) =>
    service.db.invite.updateMany({ where: { assessmentSession: id }, data: { assignedGraderId } })
  for (const { id, inviteId } of made.submissions)
    await service.db.invite.update({ where: { id: inviteId }, data: { assessmentSession: id } })
  await hold(mine!, me.member.id)
  await hold(foreign!, other.member.id)
  const assign = (submissionId: string, graderId: string) =>
    service.db.gradingAssignment.create({ data: { organizationId, submissionId, questionNumber: 1, round: 1, graderId } })
  await assign(single!, me.member.id)
  await assign(foreignSingle!, other.member.id)
  const walk = await findWalk(me, made)
  expect((await gradeAll(me, walk)).toSorted()).toEqual([mine, single, free].toSorted())
  for (const id of [foreign, foreignSingle]) {
    expect((await me.get(`${walk}/${id}`)).status).toBe(404)
    expect((await me.post(`${walk}/${id}`, { points: '1', comment: '', seen: seen() })).status).toBe(404)
  }
  const admin = await signInAs(service, organizationId, ['admin'])
  expect(await gradeAll(admin, walk.replace(me.home, admin.home))).toHaveLength(5)
})

it('gives each of two graders their own answers, without the other’s grades', async () => {
  const made = await makeAnswers(service, ['One', 'Two'], { secondGrader: true })
  const { id: organizationId } = made.organization
  const [first, second] = [
    await signInAs(service, organizationId, ['grader']),
    await signInAs(service, organizationId, ['grader']),
  ]
  for (const { id, inviteId } of made.submissions) {
    await service.db.invite.update({
      where: { id: inviteId },
      data: { assessmentSession: id, assignedGraderId: first.member.id },
    })
    await service.db.submission.update({ where: { id }, data: { secondGraderId: second.member.id } })
  }
  const walk = await findWalk(first, made)
  await gradeAll(first, walk, '9')
  const page = (await second.get(walk)).text
  expect(page).toContain('0 of 2 answers')
  expect(page).not.toContain('9 points')
  expect(await gradeAll(second, walk, '8')).toHaveLength(2)
  expect((await made.grades()).map(({ round, points }) => [round, Number(points)])).toEqual([
    [1, 9],
    [1, 9],
    [2, 8],
    [2, 8],
  ])
})

it('grades equal answers together, with a separate grade for each', async () => {
  const texts = ['“Paris” – of course', '"Paris"  - of course', ' "Paris" - of course ', 'Paris']
  const made = await makeAnswers(service, texts, { points: RUBRIC_POINTS, rubric: RUBRIC })
  const grader = await signInAs(service, made.organization.id, ['grader'])
  const walk = await findWalk(grader, made)
  const address = `${walk}/${made.submissions[0]!.id}/equal`
  const { text } = await grader.get(address)
  expect(text).toContain('3 equal answers')
  const submission = [...text.matchAll(/name="submission" value="([^"]+)"/g)].map(([, id]) => id!)
  const fields = { 'level-1': '3', 'level-2': '2', 'level-3': '2', points: '', comment: 'Right', submission }
  const send = () => grader.post(address, fields)
  expect((await Promise.all([send(), send()])).map(({ status }) => status)).toEqual([303, 303])
  const grades = await made.grades()
  expect(grades.map(({ submissionId }) => submissionId).toSorted()).toEqual(submission.toSorted())
  expect(grades.every(({ points, levels }) => Number(points) === 9 && levels.join() === '3,2,2')).toBe(true)
  expect((await grader.get(`${walk}/${made.submissions[3]!.id}/equal`)).text).toContain('No other ungraded answer')
})
