import { describe, expect, it } from 'vitest'
import { mistakesIn } from '../../../support/forms.ts'
import { signInAs } from '../../../support/portal.ts'
import { startServiceForFile } from '../../../support/service.ts'

const service = await startServiceForFile()
const { db } = service

const NEW = { inputType: 'text', responseType: 'text' }

/** Creates an assessment and its author. Each letter is the text of one question. */
async function openAssessment(letters: string) {
  const organization = await service.make.organization()
  const author = await signInAs(service, organization.id, ['admin'])
  const assessment = await service.make.assessment(organization.id)
  for (const [i, script] of [...letters].entries()) await service.make.question(assessment, { order: i + 1, script, points: i })
  const path = `${author.home}assessments/${assessment.id}`
  const where = { organizationId: organization.id, assessmentId: assessment.id }
  const list = () =>
    db.question.findMany({ where, include: { section: true, pool: true }, orderBy: [{ order: 'asc' }, { id: 'asc' }] })
  const idOf = async (script: string) => (await db.question.findFirstOrThrow({ where: { ...where, script } })).id
  const section = (name: string) => db.assessmentSection.findFirstOrThrow({ where: { ...where, name } })
  return {
    ...author,
    organization,
    assessment,
    path,
    idOf,
    section,
    pathOf: async (name: string) => `${path}/sections/${(await section(name)).id}`,
    pool: () => db.assessmentPool.findFirst({ where }),
    counts: () => db.assessment.findUniqueOrThrow({ where: { id: assessment.id } }),
    /** Prints sections with their questions, such as `One:ab Two:c`. */
    print: async () => {
      const bySection = Map.groupBy(await list(), (question) => question.section?.name ?? '')
      return [...bySection].map(([name, questions]) => `${name}:${questions.map(({ script }) => script).join('')}`).join(' ')
    },
    addSection: (name: string, fields: Record<string, string> = {}) =>
      author.post(`${path}/sections`, { name, navigation: 'forward', ...fields }),
    move: async (script: string, to: string) =>
      author.post(`${path}/questions/${await idOf(script)}/section`, { section: (await section(to)).id }),
  }
}
/** Fields that the summary of mistakes links to. */
const mistakenFields = ({ text }: { text: string }) => [...text.matchAll(/<li><a href="#([^"]+)"/g)].map(([, field]) => field)

type Opened = Awaited<ReturnType<typeof openAssessment>>

describe('sections', () => {
  it('contain all questions at first, and later those that are moved to them', async () => {
    const { addSection, move, print, get, path, section } = await openAssessment('abc')
    expect((await addSection('One', { intro: 'Read **this**.', timeLimit: '1:30', shuffle: 'yes' })).status).toBe(303)
    await addSection('Two')
    expect(await print()).toBe('One:abc')
    await move('a', 'Two')
    await move('b', 'Two')
    expect(await print()).toBe('One:c Two:ab')
    const page = (await get(path)).text
    expect(page.indexOf('One</bdi>')).toBeLessThan(page.indexOf('Two</bdi>'))
    expect(page).toContain('1 question</span> · 1 minute 30 seconds · random order')
    expect(await section('One')).toMatchObject({ intro: 'Read **this**.', timeLimit: 90, shuffle: true, navigation: 'forward' })
  })

  it('move with their questions, and leave them to their neighbor when deleted', async () => {
    const { addSection, move, pathOf, print, post } = await openAssessment('abc')
    await addSection('One')
    await addSection('Two')
    await move('b', 'Two')
    await post(`${await pathOf('Two')}/move`, { by: 'up' })
    expect(await print()).toBe('Two:b One:ac')
    await post(`${await pathOf('Two')}/delete`)
    expect(await print()).toBe('One:bac')
    await post(`${await pathOf('One')}/delete`)
    expect(await print()).toBe(':bac')
  })

  it('are reordered by the script, with the questions between their headings', async () => {
    const { addSection, section, idOf, path, post, print } = await openAssessment('abc')
    await addSection('One')
    await addSection('Two')
    const [a, b, c] = [await idOf('a'), await idOf('b'), await idOf('c')]
    const [one, two] = [`section:${(await section('One')).id}`, `section:${(await section('Two')).id}`]
    const seen = [one, a, b, c, two].join(' ')
    const order = (wanted: (string | undefined)[]) => post(`${path}/order`, { seen, wanted: wanted.join(' ') })
    expect((await order([one, b, two, c, a])).status).toBe(200)
    expect((await order([one, b, two, c, a])).status).toBe(200)
    expect(await print()).toBe('One:b Two:ca')
    expect((await order([one, c, two, b, a])).status).toBe(409)
  })

  it('reject free navigation beside the field if candidates can’t come back to a question', async () => {
    const { addSection, idOf, path, pathOf, post, print } = await openAssessment('ab')
    await addSection('One')
    await addSection('Free', { navigation: 'free' })
    await db.question.update({ where: { id: await idOf('a') }, data: { timeLimit: 60 } })
    const refused = await post(`${await pathOf('One')}`, { name: 'One', navigation: 'free' })
    expect([refused.status, mistakenFields(refused)]).toEqual([422, ['navigation']])
    expect(mistakesIn(refused).join()).toContain('Question 1: In a section where candidates go back and forth')
    const added = await post(`${path}/questions`, { ...NEW, script: 'c', responseType: 'audio', timeLimit: '1' })
    expect([added.status, mistakenFields(added)]).toEqual([422, ['responseType', 'timeLimit']])
    expect((await post(`${path}/questions`, { ...NEW, script: 'c' })).status).toBe(303)
    expect(await print()).toBe('One:ab Free:c')
  })
})

describe('a pool', () => {
  const makePool = async ({ path, post, idOf }: Opened, letters: string, fields: Record<string, string> = {}) => {
    const questions = await Promise.all([...letters].map(idOf))
    return post(`${path}/pools`, { name: 'Numbers', draw: '2', points: '5', questions, ...fields })
  }

  it('gives its questions the same points, and counts those that a candidate gets', async () => {
    const made = await openAssessment('abcd')
    expect((await makePool(made, 'bcd')).status).toBe(303)
    // Question a has 0 points.
    expect(await made.counts()).toMatchObject({ questionCount: 4, totalPoints: 10, undrawnPoints: 5 })
    const { body } = await service.v1(made.organization.key).get(`/assessments/${made.assessment.id}/settings`)
    expect(body.assessment).toMatchObject({ questionCount: 4, totalPoints: 10 })
    expect((await made.get(made.path)).text).toContain('Pool <bdi>Numbers</bdi>: 2 of 3')
    const edit = { ...NEW, script: 'b', points: '7', seen: new Date().toISOString() }
    const refused = await made.post(`${made.path}/questions/${await made.idOf('b')}`, edit)
    expect(mistakenFields(refused)).toContain('points')
    expect(mistakesIn(refused).join()).toContain('pool Numbers')
    await made.post(`${made.path}/questions/${await made.idOf('b')}/delete`)
    expect(await made.counts()).toMatchObject({ questionCount: 3, totalPoints: 10, undrawnPoints: 0 })
  })

  it('is removed with its last question, and keeps its questions when deleted', async () => {
    const made = await openAssessment('abcd')
    await makePool(made, 'bcd', { draw: '1' })
    await made.addSection('One')
    await made.addSection('Two')
    for (const script of 'bc') await made.move(script, 'Two')
    expect(await made.pool()).not.toBe(null)
    await made.move('d', 'Two')
    expect(await made.pool()).toBe(null)
    expect(await made.counts()).toMatchObject({ totalPoints: 15, undrawnPoints: 0 })
    await makePool(made, 'bcd', { draw: '1' })
    expect(await made.counts()).toMatchObject({ totalPoints: 5, undrawnPoints: 10 })
    await made.post(`${made.path}/pools/${(await made.pool())!.id}/delete`)
    expect(await made.counts()).toMatchObject({ totalPoints: 15, undrawnPoints: 0 })
  })

  it('cannot draw more questions than it has, or contain questions of two sections', async () => {
    const made = await openAssessment('abcd')
    expect(mistakenFields(await makePool(made, 'bc', { draw: '3' }))).toEqual(['draw'])
    expect(mistakenFields(await makePool(made, ''))).toContain('questions')
    await made.addSection('One')
    await made.addSection('Two')
    await made.move('a', 'Two')
    expect(mistakenFields(await makePool(made, 'ab'))).toEqual(['questions'])
  })

  it('is copied with its section and questions', async () => {
    const made = await openAssessment('abcd')
    await made.addSection('One', { navigation: 'free' })
    await makePool(made, 'bcd')
    const { headers } = await made.post(`${made.path}/duplicate`)
    const copyId = /assessments\/([0-9a-f-]{36})/.exec(headers.location!)![1]!
    const where = { organizationId: made.organization.id, assessmentId: copyId }
    const questions = await db.question.findMany({ where, include: { section: true, pool: true }, orderBy: { order: 'asc' } })
    expect(questions.map(({ script, section, pool }) => [script, section?.navigation, pool?.draw])).toEqual([
      ['a', 'free', undefined],
      ['b', 'free', 2],
      ['c', 'free', 2],
      ['d', 'free', 2],
    ])
    expect(
      questions.every(({ section, pool }) => section?.assessmentId === copyId && (pool?.assessmentId ?? copyId) === copyId),
    ).toBe(true)
    expect(await db.assessment.findUniqueOrThrow({ where: { id: copyId } })).toMatchObject({ totalPoints: 10, undrawnPoints: 5 })
    expect((await made.post(`${made.home}assessments/${copyId}/delete`)).status).toBe(303)
    expect(await db.assessmentSection.count({ where })).toBe(0)
  })
})

describe('GET /assessments/{id}/structure', () => {
  it('returns sections, pools, and questions in their order', async () => {
    const made = await openAssessment('ab')
    const get = () => service.v1(made.organization.key).get(`/assessments/${made.assessment.id}/structure`)
    const questions = [{ id: await made.idOf('a') }, { id: await made.idOf('b') }]
    const bare = { sectionId: null, poolId: null }
    expect((await get()).body).toEqual({
      structure: { sections: [], pools: [], questions: questions.map((question) => ({ ...question, ...bare })) },
    })
    await made.addSection('One', { timeLimit: '2' })
    const section = await made.section('One')
    await made.post(`${made.path}/pools`, { name: 'P', draw: '1', points: '5', questions: questions.map(({ id }) => id) })
    const { id: poolId } = (await made.pool())!
    expect((await get()).body).toEqual({
      structure: {
        sections: [{ id: section.id, name: 'One', intro: '', timeLimit: 120, navigation: 'forward', shuffle: false }],
        pools: [{ id: poolId, name: 'P', draw: 1, points: 5 }],
        questions: questions.map((question) => ({ ...question, sectionId: section.id, poolId })),
      },
    })
    const other = await service.make.organization()
    expect((await service.v1(other.key).get(`/assessments/${made.assessment.id}/structure`)).status).toBe(404)
  })
})
