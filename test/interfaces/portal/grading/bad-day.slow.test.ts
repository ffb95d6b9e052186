import fc from 'fast-check'
import { expect, it } from 'vitest'
import { takeGraderSlot } from '../../../../src/domain/submissions/grading/reassign-grader.ts'
import { mistakesIn, rowsOf } from '../../../support/forms.ts'
import { makeSubmitted } from '../../../support/grading.ts'
import { hostileText, percentEncode } from '../../../support/hostile-values.ts'
import { signInAs } from '../../../support/portal.ts'
import { startServiceForFile } from '../../../support/service.ts'

const service = await startServiceForFile()
const QUARTER_MS = 15 * 60_000

/** Creates a submission, and signs in a member who grades it. */
async function setUp({ roles = ['admin'], ...of }: Parameters<typeof makeSubmitted>[1] & { roles?: string[] } = {}) {
  const made = await makeSubmitted(service, of)
  const person = await signInAs(service, made.organization.id, roles)
  const sheet = `${person.home}grading/${made.submissionId}`
  const save = (fields: Record<string, string>, number = 1) =>
    person.post(`${sheet}/questions/${number}/save`, {
      points: '',
      comment: '',
      seen: service.clock.now().toISOString(),
      ...fields,
    })
  return { ...made, person, sheet, save }
}

const seenIn = ({ text }: { text: string }): string => /name="seen" value="([^"]*)"/.exec(text)?.[1] ?? 'nothing'

it("shows the current grades in the grading view, and all earlier ones on the question's page", async () => {
  const { person, sheet, save } = await setUp()
  for (let version = 1; version <= 60; version++) {
    await save({ points: '1', comment: `Version ${version}.` })
    service.clock.advance(QUARTER_MS)
  }
  const { text } = await person.get(sheet)
  expect([text.includes('Version 60.'), text.includes('Version 59.')]).toEqual([true, false])
  expect(text).toContain('Grades so far: 60')
  const history = text.match(/href="([^"]*\/questions\/1)"/)![1]!
  const comments = async (query: string) => rowsOf((await person.get(history + query)).text).map((row) => row.split(' | ').at(-1))
  const all = [...(await comments('')), ...(await comments('?page=2')), ...(await comments('?page=3'))]
  expect(all).toEqual(Array.from({ length: 60 }, (_, i) => `Version ${60 - i}.`))
  for (const number of ['0', '3', 'x', '99999999999']) expect((await person.get(`${sheet}/questions/${number}`)).status).toBe(404)
})

it("hides the other grader's grades until both have graded everything", async () => {
  const { person, sheet, save, join, grade, assign, submissionId } = await setUp({ roles: ['grader'], secondGrader: true })
  const second = await join()
  await assign(person.member.id)
  await takeGraderSlot(second.ctx, submissionId)
  await grade(second.ctx, 1, 1, { comment: 'Of the second' })
  await save({ points: '1', comment: 'Of the first' })
  const read = async () => (await person.get(`${sheet}/questions/1`)).text
  expect([(await read()).includes('Of the first'), (await read()).includes('Of the second')]).toEqual([true, false])
  await save({ points: '1' }, 2)
  await grade(second.ctx, 2, 1)
  expect(await read()).toContain('Of the second')
})

it('returns only changed parts with each save, even for a large view', async () => {
  const questions = Array.from({ length: 20 }, () => ({ points: 5 }))
  const { person, sheet, save, join, grade } = await setUp({ questions })
  for (let graders = 1; graders <= 5; graders++) {
    const { ctx } = await join(['admin'])
    for (let number = 1; number <= 20; number++) await grade(ctx, number, 1, { comment: 'Why it is so. '.repeat(20).trim() })
  }
  type Parts = Record<string, { tag: string; text: string }>
  const page = new Map<string, string>()
  const send = async (answer: ReturnType<typeof save>) => {
    const { status, body, text } = await answer
    const parts = Object.entries(body.parts as Parts)
    for (const [name, { tag }] of parts) page.set(name, tag)
    return { status, names: parts.map(([name]) => name), bytes: text.length }
  }
  const shown = () => [...page].map((part) => part.join(':')).join(' ')
  const first = await send(save({ points: '2' }))
  expect([first.status, first.names.length]).toEqual([200, 126])
  const again = await send(save({ points: '3', shown: shown() }))
  expect(again.names).toEqual(['progress', 'given-1', 'counts-1', 'stands-1'])
  expect(again.bytes).toBeLessThan(first.bytes / 10)
  expect((await send(person.post(`${sheet}/viewers`, { shown: shown() }))).names).toEqual([])
  expect((await send(person.post(`${sheet}/viewers`, { shown: 'given-1:x progress' }))).names).toHaveLength(126)
})

it('asks again before the release if points have changed since, keeping the typed text', async () => {
  const { person, sheet, save, grade, join, releases } = await setUp()
  const other = await join(['admin'])
  await save({ points: '4' })
  await save({ points: '3' }, 2)
  const shown = await person.get(`${sheet}/release`)
  await grade(other.ctx, 1, 2.5)
  const fields = { comment: '字'.repeat(5_000), message: '字'.repeat(5_000), toCandidate: 'yes' }
  const refused = await person.post(`${sheet}/release`, { ...fields, seen: seenIn(shown) })
  expect([refused.status, mistakesIn(refused)]).toEqual([
    422,
    ['The grades have changed in the meantime: the total is now 5.5 points. Check it, then release it again.'],
  ])
  expect(refused.text).toContain(fields.message)
  expect(await releases()).toEqual([])
  expect((await person.post(`${sheet}/release`, { ...fields, seen: seenIn(refused) })).status).toBe(303)
  expect((await releases()).map(({ points, message }) => [Number(points), message])).toEqual([[5.5, fields.message]])
})

it('gives a repeated click the same result', async () => {
  const { person, sheet, save, releases } = await setUp()
  await save({ points: '4' })
  await save({ points: '3' }, 2)
  const twice = async (action: string, fields: Record<string, string> = {}) =>
    (await Promise.all([person.post(`${sheet}/${action}`, fields), person.post(`${sheet}/${action}`, fields)]))
      .map(({ status }) => status)
      .sort()
  expect(await twice('take-over')).toEqual([303, 303])
  expect(await twice('hand-on/first', { assignedGraderId: person.member.id })).toEqual([303, 303])
  expect(await twice('release')).toEqual([303, 422])
  expect(await twice('reopen')).toEqual([303, 422])
  expect(await releases()).toHaveLength(1)
})

it('rejects saves and shows nothing after the grader has lost access or the submission was withdrawn', async () => {
  const { person, sheet, save, grades, submissionId } = await setUp({ roles: ['grader'] })
  const member = (data: object) => service.db.member.update({ where: { id: person.member.id }, data })
  const state = (state: 'submitted' | 'withdrawn') =>
    service.db.submission.update({ where: { id: submissionId }, data: { state } })
  const tried = async () => [
    (await save({ points: '1' })).status,
    (await person.post(`${sheet}/viewers`)).status,
    (await person.post(`${sheet}/release`)).status,
    (await person.get(sheet)).status,
  ]
  await state('withdrawn')
  expect(await tried()).toEqual([404, 404, 404, 404])
  await state('submitted')
  await member({ roles: ['client'] })
  expect(await tried()).toEqual([404, 404, 404, 404])
  await member({ status: 'inactive', roles: ['grader'] })
  expect(await tried()).toEqual([303, 303, 303, 303])
  expect(await grades()).toEqual([])
})

it('rejects every malformed request without an internal error', async () => {
  const { person, sheet, save } = await setUp()
  const strange = [...fc.sample(hostileText, { seed: 1, numRuns: 30 }), '1.25', '5.5', '١', '9999999999']
  for (const text of strange) {
    for (const fields of [{ points: text }, { comment: text }, { seen: text }, { points: text, comment: text, seen: text }])
      expect((await save(fields)).status).toBeLessThan(500)
    expect((await person.post(`${sheet}/release`, { seen: text, comment: text, message: text })).status).toBeLessThan(500)
    expect((await person.post(`${sheet}/hand-on/first`, { assignedGraderId: text })).status).toBeLessThan(500)
    expect((await person.get(`${sheet}/questions/${percentEncode(text)}`)).status).toBeLessThan(500)
  }
  for (const action of ['questions/1/save', 'questions/1', 'viewers', 'release', 'reopen', 'take-over', 'hand-on/second'])
    expect((await person.post(`${sheet}/${action}`)).status).toBeLessThan(500)
  expect((await person.get(sheet)).status).toBe(200)
})
