import { describe, expect, it } from 'vitest'
import { defineQuestion } from '../../../src/domain/assessments/define-question.ts'
import { completeDueSubmissions } from '../../../src/domain/submissions/taking/complete-due-submissions.ts'
import { grantExtraTime } from '../../../src/domain/submissions/taking/grant-extra-time.ts'
import { candidateOf, consent, NO_REQUIREMENTS } from '../../support/candidate.ts'
import { examplesOf } from '../../support/kinds.ts'
import { asOperator } from '../../support/portal.ts'
import { startServiceForFile } from '../../support/service.ts'
import { makePool, makeSectioned } from '../../support/structure.ts'
import { openTab } from '../../support/taking.ts'

const service = await startServiceForFile()
const { clock, db } = service

type Made = Awaited<ReturnType<typeof makeSectioned>>

async function start(...of: Parameters<typeof makeSectioned> extends [unknown, ...infer Rest] ? Rest : never) {
  const made = await makeSectioned(service, ...of)
  await consent(made.candidate)
  await made.candidate.press('start').expect(303)
  return made
}
const press = ({ candidate }: Made, button: string, fields: Record<string, string | number>) =>
  candidate.press(button as 'open', Object.fromEntries(Object.entries(fields).map(([name, value]) => [name, String(value)])))
const answer = (made: Made, number: number, text: string, then: string) => press(made, 'answer', { number, text, then })
const pageOf = async ({ candidate }: Made) => (await candidate.open()).text
const sectionsOf = ({ organization }: Made) =>
  db.submissionSection.findMany({ where: { organizationId: organization.id }, orderBy: { number: 'asc' } })

const later = (seconds: number) => new Date(clock.now().getTime() + seconds * 1_000)

describe('a section', () => {
  it('is introduced, and opens its questions one after the other', async () => {
    const made = await start([
      { name: 'Grammar <b>', intro: 'Read **closely**. <script>', questions: [{}, {}] },
      { name: 'Style', questions: [{}] },
    ])
    const intro = await pageOf(made)
    expect(intro).toContain('Section 1 of 2')
    expect(intro).toContain('Grammar &lt;b&gt;')
    expect(intro).toContain('Read <strong>closely</strong>. &lt;script&gt;')
    await press(made, 'open', { number: 1 })
    expect(await pageOf(made)).toContain('Open section 1')
    await press(made, 'open-section', { number: 2 })
    await press(made, 'open-section', { number: 1 })
    expect(await pageOf(made)).toContain('>Question 1 of 3</h2>')
    await press(made, 'open', { number: 1 })
    await answer(made, 1, 'One', 'next')
    await press(made, 'open', { number: 2 })
    await answer(made, 2, 'Two', 'next')
    expect(await pageOf(made)).toContain('Open section 2')
    await press(made, 'open-section', { number: 2 })
    await press(made, 'open', { number: 3 })
    await answer(made, 3, 'Three', 'next')
    expect(await pageOf(made)).toContain('You have answered every question.')
    expect(await made.texts()).toEqual(['One', 'Two', 'Three'])
  })

  it('keeps its name, order, and clock when the assessment changes or the form is sent again', async () => {
    const made = await start([{ timeLimit: 600, questions: [{}, {}] }])
    await press(made, 'open-section', { number: 1 })
    const [before] = await sectionsOf(made)
    await db.assessmentSection.updateMany({ where: { assessmentId: made.assessment.id }, data: { name: 'Other', timeLimit: 1 } })
    clock.advance(1_000)
    await press(made, 'open-section', { number: 1 })
    expect(await sectionsOf(made)).toEqual([before])
    expect(before).toMatchObject({ name: 'Part 1', timeLimit: 600 })
  })

  it('closes its questions when the question, the section, or the whole ends, whichever is first', async () => {
    const questions = [{ timeLimit: 60 }, { timeLimit: 600 }, {}]
    const made = await start(
      [
        { timeLimit: 300, questions },
        { timeLimit: 7_200, questions: [{}] },
      ],
      { timeLimit: 3_600 },
    )
    const [opened, whole] = [clock.now(), later(3_600)]
    await press(made, 'open-section', { number: 1 })
    const sectionEnd = new Date(opened.getTime() + 300_000)
    await press(made, 'open', { number: 1 })
    await press(made, 'next', { number: 1 })
    await press(made, 'open', { number: 2 })
    expect((await made.paper()).map(({ closesAt }) => closesAt)).toEqual([later(60), sectionEnd, null, null])
    clock.advance(300_000)
    // Question 3 can no longer be answered, because its section has ended.
    expect(await pageOf(made)).toContain('Open section 2')
    await press(made, 'open', { number: 3 })
    await press(made, 'open-section', { number: 2 })
    await press(made, 'open', { number: 4 })
    expect((await made.paper()).map(({ closesAt }) => closesAt)).toEqual([expect.any(Date), sectionEnd, null, whole])
  })

  it('is submitted and scored by the sweep when its time ends, also if it is the last and unfinished', async () => {
    const made = await start([{ questions: [{}] }, { timeLimit: 120, questions: [{}, {}] }])
    await press(made, 'open-section', { number: 1 })
    await press(made, 'open', { number: 1 })
    await answer(made, 1, 'One', 'next')
    expect((await made.submission()).deadlineAt).toBe(null)
    await press(made, 'open-section', { number: 2 })
    expect(await made.submission()).toMatchObject({ deadlineAt: later(120), isDeadlineOfQuestion: true })
    clock.advance(120_000)
    expect(await pageOf(made)).toContain('Time is up')
    clock.advance(31_000)
    await completeDueSubmissions(service.system)
    expect((await made.stored()).status).toBe('completed')
    expect(await made.submission()).toMatchObject({ state: 'submitted' })
    expect(await made.texts()).toEqual(['One'])
  })

  it('can be followed by a pause of a week if the whole has no limit; then the rest is submitted by the sweep', async () => {
    const made = await start([{ timeLimit: 120, questions: [{}, {}] }, { questions: [{}] }, { timeLimit: 60, questions: [{}] }])
    await press(made, 'open-section', { number: 1 })
    await press(made, 'open', { number: 1 })
    await answer(made, 1, 'One', 'save')
    const due = later(120 + 7 * 86_400)
    expect(await made.submission()).toMatchObject({ deadlineAt: due, isDeadlineOfQuestion: true })
    await grantExtraTime(asOperator(service, made.organization), made.invite.id, 50)
    expect(await made.submission()).toMatchObject({ deadlineAt: due })
    expect((await sectionsOf(made))[0]).toMatchObject({ closesAt: later(180) })
    clock.advance(86_400_000)
    await completeDueSubmissions(service.system)
    expect(await pageOf(made)).toContain('Open section 2')
    // Another candidate does not come back.
    const other = await start([{ timeLimit: 120, questions: [{}, {}] }, { questions: [{}] }])
    await press(other, 'open-section', { number: 1 })
    await press(other, 'open', { number: 1 })
    await answer(other, 1, 'One', 'save')
    // A section without a limit never ends, and neither do its questions.
    await press(made, 'open-section', { number: 2 })
    await press(made, 'open', { number: 3 })
    expect((await made.paper())[2]).toMatchObject({ closesAt: null })
    expect(await made.submission()).toMatchObject({ deadlineAt: null, isDeadlineOfQuestion: false })
    clock.advance(8 * 86_400_000)
    await completeDueSubmissions(service.system)
    expect([(await made.stored()).status, (await other.stored()).status]).toEqual(['started', 'completed'])
    expect(await other.submission()).toMatchObject({ state: 'submitted' })
    expect(await other.texts()).toEqual(['One'])
    await answer(made, 3, 'Three', 'next')
    await press(made, 'open-section', { number: 3 })
    expect(await made.submission()).toMatchObject({ deadlineAt: later(90) })
  })

  it('keeps its end when a candidate answers early, unless the question is the last', async () => {
    const early = { preparationTime: 30, timeLimit: 60 }
    const made = await start([{ timeLimit: 600, questions: [early, early] }])
    await press(made, 'open-section', { number: 1 })
    const end = later(600)
    await press(made, 'open', { number: 1 })
    await press(made, 'begin', { number: 1 })
    expect((await made.paper())[0]).toMatchObject({ closesAt: later(60) })
    expect(await made.submission()).toMatchObject({ deadlineAt: end })
    await press(made, 'next', { number: 1 })
    await press(made, 'open', { number: 2 })
    await press(made, 'begin', { number: 2 })
    expect(await made.submission()).toMatchObject({ deadlineAt: later(60) })
  })

  it('gets extra time with its open question and the whole, never less', async () => {
    const made = await start([{ timeLimit: 100, questions: [{}, {}] }])
    await press(made, 'open-section', { number: 1 })
    await press(made, 'open', { number: 1 })
    const opened = clock.now()
    clock.advance(10_000)
    await grantExtraTime(asOperator(service, made.organization), made.invite.id, 50)
    const end = new Date(opened.getTime() + 150_000)
    expect((await sectionsOf(made))[0]).toMatchObject({ closesAt: end })
    expect((await made.paper())[0]).toMatchObject({ closesAt: end })
    expect(await made.submission()).toMatchObject({ deadlineAt: end })
  })

  it('has its questions in a stored random order', async () => {
    const made = await start([{ shuffle: true, questions: Array.from({ length: 12 }, () => ({})) }])
    const ids = (await made.paper()).map(({ questionId }) => questionId)
    expect(ids).not.toEqual(made.questions.map(({ id }) => id))
    expect([...ids].sort()).toEqual(made.questions.map(({ id }) => id).sort())
  })
})

describe('a pool', () => {
  it('gives each candidate some questions, new ones first when the assessment is taken again', async () => {
    const made = await makeSectioned(service, [{ questions: Array.from({ length: 7 }, () => ({ points: 5 })) }])
    await makePool(service, made.questions.slice(1), { draw: 3, points: 5 })
    const { totalPoints } = await db.assessment.findUniqueOrThrow({ where: { id: made.assessment.id } })
    expect(totalPoints).toBe(20)
    await consent(made.candidate)
    await made.candidate.press('start')
    const first = await made.paper()
    expect(first.map(({ points }) => points)).toEqual([5, 5, 5, 5])
    await press(made, 'open-section', { number: 1 })
    for (const number of [1, 2, 3, 4]) {
      await press(made, 'open', { number })
      await press(made, 'next', { number })
    }
    await made.candidate.press('finish')
    const { recipientEmail } = made.invite
    const again = await service.make.invite(made.assessment, {
      status: 'accepted',
      recipientEmail: recipientEmail.toUpperCase(),
      attempt: 2,
      ...NO_REQUIREMENTS,
    })
    const candidate = candidateOf(service, again)
    await consent(candidate)
    await candidate.press('start')
    const seen = new Set(first.slice(1).map(({ questionId }) => questionId))
    const second = (await made.paper()).filter(({ submissionId }) => submissionId !== first[0]!.submissionId)
    expect(second.filter(({ questionId }) => seen.has(questionId))).toEqual([])
    expect(second).toHaveLength(4)
  })
})

describe('free navigation', () => {
  const free = { navigation: 'free', questions: [{}, {}, {}] }

  it('goes back and forth without scripts, and keeps each answer', async () => {
    const made = await start([free])
    await press(made, 'open-section', { number: 1 })
    expect(await pageOf(made)).toContain('>Question 1 of 3</h2>')
    await answer(made, 1, 'One', 'next')
    expect(await pageOf(made)).toContain('>Question 2 of 3</h2>')
    await answer(made, 2, '', 'mark')
    expect(await pageOf(made)).toContain('Remove the mark')
    await answer(made, 2, '', 'previous')
    expect(await pageOf(made)).toContain('>\nOne</textarea>')
    await answer(made, 1, 'One, corrected', 'overview')
    const overview = await pageOf(made)
    expect(overview).toContain('2 questions have no answer.')
    expect(overview).toContain('Marked for later')
    await press(made, 'go', { number: 3 })
    await answer(made, 3, 'Three', 'next')
    expect(await pageOf(made)).toContain('1 question has no answer.')
    await press(made, 'finish-section', { number: 1 })
    expect(await pageOf(made)).toContain('Question 2 has no answer.')
    await made.candidate.press('finish')
    expect(await made.texts()).toEqual(['One, corrected', '', 'Three'])
  })

  it('goes back and forth from a question that is answered by files', async () => {
    const made = await makeSectioned(service, [free])
    const [{ responseType, spec, key }] = examplesOf('file') as [ReturnType<typeof examplesOf>[number]]
    const ref = { assessmentId: made.assessment.id, questionId: made.questions[1]!.id }
    await defineQuestion(asOperator(service, made.organization), ref, { responseType, spec, key })
    await consent(made.candidate)
    await made.candidate.press('start')
    await press(made, 'open-section', { number: 1 })
    await press(made, 'go', { number: 2 })
    const page = await pageOf(made)
    for (const direction of ['mark', 'previous', 'overview', 'next']) expect(page).toContain(`name="then" value="${direction}"`)
    const then = 'previous'
    await press(made, 'next', { number: 2, then })
    expect(await pageOf(made)).toContain('>Question 1 of 3</h2>')
  })

  it('changes nothing when a form is sent again, or after the section is finished', async () => {
    const made = await start([free, { questions: [{}] }])
    await press(made, 'open-section', { number: 1 })
    for (const _ of [1, 2]) await answer(made, 1, 'One', 'next')
    expect(await pageOf(made)).toContain('>Question 2 of 4</h2>')
    for (const _ of [1, 2]) await press(made, 'finish-section', { number: 1 })
    expect(await pageOf(made)).toContain('Open section 2')
    expect((await answer(made, 1, 'Too late', 'next')).headers.location).toContain('late=1')
    await press(made, 'go', { number: 1 })
    expect(await pageOf(made)).toContain('Open section 2')
    expect(await made.texts()).toEqual(['One'])
  })

  it('saves the answers of two tabs to the questions that they show', async () => {
    const made = await start([free])
    await press(made, 'open-section', { number: 1 })
    await answer(made, 1, '', 'next')
    // The other tab still shows question 1.
    await answer(made, 1, 'From the other tab', 'save')
    await answer(made, 2, 'From this tab', 'next')
    expect(await made.texts()).toEqual(['From the other tab', 'From this tab'])
  })

  it('accepts a text that was typed in time after the section’s end, as with one question after the other', async () => {
    const made = await start([{ ...free, timeLimit: 60 }])
    await press(made, 'open-section', { number: 1 })
    const tab = await openTab(service, made.candidate)
    clock.advance(61_000)
    const body = { text: 'In time', revision: 1, ago: 2_000 }
    await made.candidate.session('put', '/questions/2/text', { tab, body }).expect(200)
    clock.advance(31_000)
    await completeDueSubmissions(service.system)
    expect(await made.texts()).toEqual(['In time'])
    expect(await made.submission()).toMatchObject({ state: 'submitted' })
  })
})
