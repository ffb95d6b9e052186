import { parse } from 'csv-parse/sync'
import { describe, expect, it } from 'vitest'
import { mistakesIn } from '../../../support/forms.ts'
import { signInAs } from '../../../support/portal.ts'
import { startServiceForFile } from '../../../support/service.ts'

const service = await startServiceForFile()
const { db } = service

const PEOPLE = ['Ann', 'Bea', 'Cem', 'Dan']

/** Releases results of four people with the same questions in different order. Person i has i % 3 more points for each question. */
async function setUp(questions: number, { blindGrading = false, hasRubric = false } = {}) {
  const { newId, clock } = service.deps
  const organization = await service.make.organization()
  const assessment = await service.make.assessment(organization.id, { blindGrading })
  const admin = await signInAs(service, organization.id, ['admin'])
  const asked = Array.from({ length: questions }, (_, i) => ({ questionId: newId(), script: `Question ${i}?` }))
  const texts = { inputType: 'text', responseType: 'text', audioUrl: '', videoUrl: '', points: 10, timeLimit: 0 }
  const [of, at] = [{ organizationId: organization.id }, clock()]
  const ids: string[] = []
  for (const [i, recipientName] of PEOPLE.entries()) {
    const invite = await service.make.invite(assessment, { recipientName, status: 'completed' })
    const submissionId = newId()
    const limits = { questionReplayLimit: 1, answerRecordLimit: 1 }
    const times = { submittedAt: at, releasedAt: at, createdAt: at, updatedAt: at }
    const ends = { state: 'released' as const, ...limits, ...times }
    await db.submission.create({ data: { ...of, ...ends, id: submissionId, inviteId: invite.id, assessmentId: assessment.id } })
    // Each person begins with another question.
    const paper = asked.map((_, n) => asked[(n + i) % questions]!)
    await db.submissionQuestion.createMany({
      data: paper.map((question, n) => ({ ...of, submissionId, number: n + 1, ...question, ...texts })),
    })
    await db.answerAttempt.createMany({
      data: paper.map(({ script }, n) => ({
        ...({ ...of, id: newId(), submissionId, questionNumber: n + 1, kind: 'text', state: 'complete' } as const),
        ...{ text: `${recipientName} about ${script}`, createdAt: at, completedAt: at },
      })),
    })
    const grades = paper.map(({ script }, n) => {
      const index = Number(/\d+/.exec(script)![0])
      const rubric = [
        { criterion: 'Accuracy', level: 1 + i, text: `Level of ${recipientName}`, points: 3 - i, ofPoints: 6 },
        { criterion: 'Fluency', level: null, text: '', points: null, ofPoints: 4 },
      ]
      const grade = { number: n + 1, points: ((index + i) % 4) + i, ofPoints: 10, comment: '', graderId: admin.member.id }
      return { ...grade, ...(hasRubric && { rubric }) }
    })
    const points = grades.reduce((sum, grade) => sum + grade.points, 0)
    const result = { points, ofPoints: 10 * questions, comment: '', message: '', toCandidate: false, grades }
    await db.release.create({
      data: { ...of, id: newId(), submissionId, version: 1, releasedById: admin.member.id, ...result, createdAt: at },
    })
    ids.push(submissionId)
  }
  const query = (more = '', chosen = ids) => `${chosen.map((id) => `id=${id}`).join('&')}${more}`
  const get = (more = '', chosen = ids) => admin.get(`${admin.home}results/compare?${query(more, chosen)}`)
  return { organization, assessment, admin, ids, query, get }
}

/** Texts of the table's cells, by row. */
const rowsIn = (text: string): string[][] =>
  [...text.matchAll(/<tr[^>]*>(.*?)<\/tr>/gs)].map(([, row]) =>
    [...row!.matchAll(/<t[hd][^>]*>(.*?)<\/t[hd]>/gs)].map(([, cell]) =>
      cell!
        .replace(/<[^>]*>/g, ' ')
        .replace(/\s+/g, ' ')
        .trim(),
    ),
  )

describe('the comparison of results', () => {
  it('shows points by question, whatever its number, and sorts by total or question', async () => {
    const { get } = await setUp(4)
    const page = await get()
    const [head, ...rows] = rowsIn(page.text)
    expect(head!.slice(1).map((cell) => cell.slice(0, 3))).toEqual(['Dan', 'Cem', 'Bea', 'Ann'])
    // Cem's third question is Ann's first.
    const row = rows.find(([question]) => question!.startsWith('Question 0?'))!
    expect(row.slice(1)).toEqual(['6 / 10', '4 / 10', '2 / 10', '0 / 10'])
    const index = rows.findIndex(([question]) => question!.startsWith('Question 1?')) + 1
    const [sorted] = rowsIn((await get(`&sort=${index}`)).text)
    expect(sorted!.slice(1).map((cell) => cell.slice(0, 3))).toEqual(['Cem', 'Dan', 'Bea', 'Ann'])
  })

  it('shows the criteria of a rubric below their question, sorts by one, and exports them', async () => {
    const { get, admin, ids } = await setUp(4, { hasRubric: true })
    const [head, , accuracy, fluency] = rowsIn((await get()).text)
    expect(head!.slice(1).map((cell) => cell.slice(0, 3))).toEqual(['Dan', 'Cem', 'Bea', 'Ann'])
    expect(accuracy).toEqual(['Accuracy Sort', ...[0, 1, 2, 3].map((n) => `${n} / 6 Level of ${PEOPLE[3 - n]}`)])
    expect(fluency).toEqual(['Fluency Sort', '–', '–', '–', '–'])
    const [sorted, , again] = rowsIn((await get('&sort=1.1')).text)
    expect(sorted!.slice(1).map((cell) => cell.slice(0, 3))).toEqual(['Ann', 'Bea', 'Cem', 'Dan'])
    expect(again!.slice(1).map((cell) => cell.slice(0, 1))).toEqual(['3', '2', '1', '0'])
    for (const sort of ['9', '1.9', '1.', '1.0', '-1', '1.1.1', 'x']) expect((await get(`&sort=${sort}`)).status, sort).toBe(200)
    const csv = await admin.post(`${admin.home}results/compare/export`, { id: ids.slice(0, 2) })
    const rows: Record<string, string>[] = parse(csv.text, { columns: true, bom: true })
    expect(rows.map(({ criterion, of_points, Ann, Bea }) => [criterion, of_points, Ann, Bea])).toContainEqual([
      'Accuracy',
      '6',
      '3',
      '2',
    ])
    expect(rows).toHaveLength(12)
  })

  it('leads from the answers to a question to those of its neighbors', async () => {
    const { get } = await setUp(3)
    const stepsIn = async (more: string) =>
      [...(await get(more)).text.matchAll(/data-go="(\w+)" href="[^"]*question=(\d)/g)].map(([, key, to]) => `${key} ${to}`)
    expect(await stepsIn('')).toEqual(['next 1'])
    expect(await stepsIn('&question=2')).toEqual(['next 3', 'previous 1'])
    expect(await stepsIn('&question=3')).toEqual(['previous 2'])
  })

  it('opens the answers to a question side by side', async () => {
    const { get } = await setUp(2)
    const rows = rowsIn((await get('&question=1')).text)
    const question = rows[1]![0]!.slice(0, 11)
    const people = rows[0]!.slice(1).map((head) => head.slice(0, 3))
    expect(rows[2]!.slice(1)).toEqual(people.map((name) => `${name} about ${question}`))
  })

  it('hides names of a blind-graded assessment until the reader asks for them', async () => {
    const { get, admin, query, ids } = await setUp(1, { blindGrading: true })
    const hidden = await get()
    expect(hidden.text).toContain(`Candidate ${ids[0]!.slice(-4).toUpperCase()}`)
    expect(/Ann|Bea|Cem|Dan/.test(hidden.text)).toBe(false)
    expect((await get('&names=yes')).text).toContain('Ann')
    const csv = await admin.post(`${admin.home}results/compare/export`, { id: ids })
    expect(/Ann|Bea|Cem|Dan/.test(csv.text)).toBe(false)
    expect(query()).not.toContain('names')
  })

  it('exports the table', async () => {
    const { admin, ids, organization } = await setUp(2)
    const csv = await admin.post(`${admin.home}results/compare/export`, { id: ids.slice(0, 2) })
    const rows: Record<string, string>[] = parse(csv.text, { columns: true, bom: true })
    expect(rows.map(({ question, of_points, Ann, Bea }) => [question, of_points, Ann, Bea]).sort()).toEqual([
      ['Question 0?', '10', '0', '2'],
      ['Question 1?', '10', '1', '3'],
    ])
    expect(await db.auditEntry.count({ where: { organizationId: organization.id, action: 'exported_results' } })).toBe(1)
  })

  it('compares two to four results only', async () => {
    const { get, ids } = await setUp(1)
    for (const chosen of [[], ids.slice(0, 1), [ids[0]!, crypto.randomUUID(), 'nonsense']]) {
      const refused = await get('', chosen)
      expect([refused.status, mistakesIn(refused)[0]]).toEqual([
        422,
        expect.stringContaining('Choose two to four results to compare.'),
      ])
    }
  })

  it('shows 4 people with 50 questions within 200 ms', async () => {
    const { get } = await setUp(50)
    const times: number[] = []
    for (let i = 0; i < 5; i++) {
      const since = performance.now()
      expect((await get()).status).toBe(200)
      times.push(performance.now() - since)
    }
    times.sort((a, b) => a - b)
    process.stdout.write(`compared in ${times.map(Math.round).join(', ')} ms\n`)
    expect(times[2]).toBeLessThan(200)
  })
})
