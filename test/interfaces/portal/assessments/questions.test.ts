import { expect, it } from 'vitest'
import { MAX_INTEGER } from '../../../../src/domain/limits.ts'
import { fieldsIn, mistakesIn } from '../../../support/forms.ts'
import { signInAs } from '../../../support/portal.ts'
import { type Service, startServiceForFile } from '../../../support/service.ts'
import { itSlow } from '../../../support/slow.ts'

const service = await startServiceForFile()

const NEW = { inputType: 'text', responseType: 'text' }

/** Creates an assessment and its admin. */
async function openAssessment(data: Parameters<Service['make']['assessment']>[1] = {}) {
  const organization = await service.make.organization()
  const admin = await signInAs(service, organization.id, ['admin'])
  const assessment = await service.make.assessment(organization.id, data)
  const path = `${admin.home}assessments/${assessment.id}`
  const add = (fields: Record<string, string> = {}) => admin.post(`${path}/questions`, { ...NEW, ...fields })
  const find = (script: string) => service.db.question.findFirstOrThrow({ where: { assessmentId: assessment.id, script } })
  const addressOf = async (script: string) => `${path}/questions/${(await find(script)).id}`
  const scripts = async (): Promise<string[]> => {
    const { body } = await service.v1(organization.key).get(`/assessments/${assessment.id}/questions?order=asc&limit=100`)
    return body.questions.map(({ script }: { script: string }) => script)
  }
  const counts = () =>
    service.db.assessment.findUniqueOrThrow({ where: { id: assessment.id }, select: { questionCount: true, totalPoints: true } })
  /** Fields of the question's form for Up or Down, as the page contains them. */
  const moveFields = (page: string, id: string, label: 'Up' | 'Down') => {
    const form = [...page.matchAll(/<form [^>]*action="([^"]*\/move)">(.*?)<\/form>/gs)].find(
      ([, action, rest]) => action!.includes(id) && rest!.includes(`Move ${label.toLowerCase()} `),
    )
    return fieldsIn({ text: `<main${form![2]}</form>` })
  }
  return { ...admin, organization, assessment, path, add, find, addressOf, scripts, counts, moveFields }
}

it('adds a question at the end with all its settings', async () => {
  const { add, path, scripts, counts, organization, assessment, get } = await openAssessment({ defaultQuestionFormat: 'video' })
  expect((await get(`${path}/questions/new`)).text).toMatch(/value="video" selected/)
  const answer = await add({
    inputType: 'audio',
    responseType: 'video',
    script: 'First line\r\nsecond <b>line</b>',
    audioUrl: ' https://media.example.com/1.mp3 ',
    videoUrl: '',
    points: '5',
    timeLimit: '1:30',
    preparationTime: '0:30',
    sourceLanguage: 'yue',
    targetLanguage: '',
  })
  expect([answer.status, answer.headers.location]).toEqual([303, `${path}?done=question-added`])
  await add({ script: 'The second', points: '2' })
  expect(await scripts()).toEqual(['First line\nsecond <b>line</b>', 'The second'])
  expect(await counts()).toEqual({ questionCount: 2, totalPoints: 7 })
  const { body } = await service.v1(organization.key).get(`/assessments/${assessment.id}/questions?order=asc`)
  expect(body.questions[0]).toMatchObject({
    order: 1,
    inputType: 'audio',
    responseType: 'video',
    audioUrl: 'https://media.example.com/1.mp3',
    videoUrl: '',
    points: 5,
    timeLimit: 90,
    sourceLanguage: 'yue',
    targetLanguage: '',
  })
  const { text } = await get(path)
  expect(text).toContain('second &lt;b&gt;line&lt;/b&gt;')
  expect(text).toContain('30 seconds to prepare')
  const entry = await service.db.auditEntry.findFirstOrThrow({
    where: { organizationId: organization.id },
    orderBy: { id: 'desc' },
  })
  expect(entry).toMatchObject({ action: 'added_question', targetKind: 'question', details: { assessment: assessment.name } })
})

it('rejects a question with mistakes at their fields, keeping the typed text', async () => {
  const { add, scripts } = await openAssessment()
  const typed = {
    ...NEW,
    script: 'x'.repeat(5_001),
    audioUrl: 'x'.repeat(2_001),
    points: '1.5',
    timeLimit: 'soon',
  }
  const answer = await add(typed)
  expect(answer.status).toBe(422)
  expect(fieldsIn(answer)).toMatchObject(typed)
  expect(mistakesIn(answer)).toEqual([
    'The text has more than 5000 characters.',
    'The audio URL has more than 2000 characters.',
    `The number of points must be a whole number from 0 to ${MAX_INTEGER}.`,
    'Enter the time limit in minutes, or as minutes and seconds like 1:30. Leave it empty for none.',
  ])
  expect(mistakesIn(await add({ script: 'Why?', sourceLanguage: 'xx-new' }))).toEqual(['There is no language “xx-new”.'])
  expect(mistakesIn(await add({ inputType: ' ', responseType: '', script: 'Why?' }))).toEqual([
    'Enter the question format.',
    'Enter the answer format.',
  ])
  expect(await scripts()).toEqual([])
})

it("rejects a question without a text, or with an address that candidates can't play", async () => {
  const { add, get, post, addressOf, scripts, assessment } = await openAssessment()
  const nothing = 'The question is empty. Enter a text, or an audio or video URL.'
  for (const inputType of ['text', 'audio', 'video', 'mixed']) {
    expect(mistakesIn(await add({ inputType, script: ' \r\n' })), inputType).toEqual([nothing])
  }
  for (const videoUrl of ['http://media.example.com/1.mp4', 'media.example.com/1.mp4', 'javascript:alert(1)', 'https://']) {
    expect(mistakesIn(await add({ inputType: 'video', videoUrl })), videoUrl).toEqual(['The video URL must begin with https://.'])
  }
  for (const [inputType, missing] of [
    ['audio', 'Enter the audio URL.'],
    ['video', 'Enter the video URL.'],
  ] as const)
    expect(mistakesIn(await add({ inputType, script: 'Listen, and answer.' }))).toEqual([missing])
  expect(await scripts()).toEqual([])
  await add({ inputType: 'text', script: 'Read' })
  const read = await addressOf('Read')
  const heard = { ...fieldsIn(await get(read)), inputType: 'audio' }
  expect(mistakesIn(await post(read, heard))).toEqual(['Enter the audio URL.'])
  await post(`${read}/delete`)
  await add({ inputType: 'audio', audioUrl: 'HTTPS://media.example.com/1.mp3' })
  const address = await addressOf('')
  const cleared = { ...fieldsIn(await get(address)), audioUrl: '' }
  expect(mistakesIn(await post(address, cleared))).toEqual([nothing])
  // An imported question with such an address can still be saved.
  const imported = await service.make.question(assessment, { inputType: 'video', script: '', videoUrl: '/1.mp4' })
  const there = address.replace(/[^/]+$/, imported.id)
  expect((await post(there, { ...fieldsIn(await get(there)), points: '2' })).status).toBe(303)
})

it('stores no time limit for an empty field, and rejects 0', async () => {
  const { add, find } = await openAssessment()
  for (const timeLimit of ['0', '0:00'])
    expect(mistakesIn(await add({ script: 'No time', timeLimit }))).toEqual([
      'Enter the time limit in minutes, or as minutes and seconds like 1:30. Leave it empty for none.',
    ])
  await add({ script: 'All the time', timeLimit: '' })
  expect((await find('All the time')).timeLimit).toBe(0)
})

it('has no preparation time if the field is empty, and rejects 0 and more than an hour', async () => {
  const { add, find } = await openAssessment()
  for (const preparationTime of ['0', '60:01', 'soon'])
    expect(mistakesIn(await add({ script: 'Ready?', preparationTime }))).toEqual([
      'Enter the preparation time in minutes, or as minutes and seconds like 0:30, up to 60 minutes. Leave it empty for none.',
    ])
  await add({ script: 'Ready?', preparationTime: '60' })
  expect((await find('Ready?')).preparationTime).toBe(3_600)
  await add({ script: 'At once', preparationTime: '' })
  expect((await find('At once')).preparationTime).toBe(0)
})

it('never exceeds the maximum of total points', async () => {
  const { add, post, get, addressOf, counts } = await openAssessment()
  await add({ script: 'Nearly all', points: String(MAX_INTEGER - 5) })
  expect(mistakesIn(await add({ script: 'Too many', points: '6' }))).toEqual([
    'The number of points must be a whole number from 0 to 5.',
  ])
  const answers = await Promise.all([1, 2, 3].map(() => add({ script: 'The rest', points: '5' })))
  expect(answers.map(({ status }) => status).sort()).toEqual([303, 422, 422])
  const address = await addressOf('Nearly all')
  const fields = fieldsIn(await get(address))
  expect((await post(address, { ...fields, points: String(MAX_INTEGER) })).status).toBe(422)
  expect((await post(address, { ...fields, points: '1' })).status).toBe(303)
  expect(await counts()).toEqual({ questionCount: 2, totalPoints: 6 })
})

it('edits a question, keeping a custom format', async () => {
  const { assessment, get, post, path, counts, organization } = await openAssessment()
  await service.make.language('en')
  const made = await service.make.question(assessment, {
    inputType: 'Role play',
    script: 'Old',
    points: 3,
    sourceLanguage: 'en',
    timeLimit: 61,
  })
  const address = `${path}/questions/${made.id}`
  const fields = fieldsIn(await get(address))
  expect(fields).toMatchObject({ inputType: 'Role play', timeLimit: '1:01', points: '3', sourceLanguage: 'en' })
  expect((await post(address, { ...fields, script: 'New', points: '' })).headers.location).toBe(`${path}?done=question-saved`)
  const { updatedAt, ...changed } = await service.db.question.findUniqueOrThrow({ where: { id: made.id } })
  expect({ ...changed, updatedAt: made.updatedAt }).toEqual({ ...made, script: 'New', points: 0 })
  expect(updatedAt > made.updatedAt).toBe(true)
  expect(await counts()).toEqual({ questionCount: 1, totalPoints: 0 })
  const other = await service.make.assessment(organization.id)
  const elsewhere = address.replace(assessment.id, other.id)
  expect([(await get(elsewhere)).status, (await post(elsewhere, fields)).status]).toEqual([404, 404])
})

it('does not overwrite a question from an outdated form', async () => {
  const { add, get, post, addressOf, find, organization } = await openAssessment()
  const other = await signInAs(service, organization.id, ['admin'])
  await add({ script: 'Original', points: '1' })
  const address = await addressOf('Original')
  const mine = fieldsIn(await get(address))
  await other.post(address, { ...mine, script: 'Theirs' })
  const refused = await post(address, { ...mine, points: '9' })
  expect(mistakesIn(refused)).toEqual([
    expect.stringMatching(`^${other.member.email} changed the text on .+ UTC, to “Theirs”. Saving again replaces that change.$`),
    expect.stringContaining('changed the number of points on'),
  ])
  expect(await find('Theirs')).toMatchObject({ points: 1 })
  expect((await post(address, { ...fieldsIn(refused), script: 'Theirs' })).status).toBe(303)
  expect(await find('Theirs')).toMatchObject({ points: 9 })
})

it('moves a question up, down, and to any position, even with irregular stored positions', async () => {
  const { assessment, get, post, path, addressOf, find, scripts, moveFields } = await openAssessment()
  for (const [script, order] of [
    ['A', 7],
    ['B', 7],
    ['C', 0],
    ['D', 2_000_000_000],
  ] as const)
    await service.make.question(assessment, { script, order })
  expect(await scripts()).toEqual(['C', 'A', 'B', 'D'])
  const press = async (script: string, label: 'Up' | 'Down') => {
    const { id } = await find(script)
    return post(`${path}/questions/${id}/move`, moveFields((await get(path)).text, id, label))
  }
  // Browsers scroll to the fragment, and not to the top of the page.
  expect((await press('B', 'Up')).headers.location).toBe(`${path}?done=question-moved&page=1#question-${(await find('B')).id}`)
  expect(await scripts()).toEqual(['C', 'B', 'A', 'D'])
  await press('C', 'Down')
  expect(await scripts()).toEqual(['B', 'C', 'A', 'D'])
  const move = async (script: string, place: string) =>
    post(`${await addressOf(script)}/move`, { place, order: String((await find(script)).order) })
  await move('D', '1')
  expect(await scripts()).toEqual(['D', 'B', 'C', 'A'])
  expect((await move('D', '1000')).headers.location).toContain('&page=1#')
  expect(await scripts()).toEqual(['B', 'C', 'A', 'D'])
  for (const place of ['0', '-1', 'x', '1.5', '99999999999', '']) {
    const answer = await move('A', place)
    expect([answer.status, mistakesIn(answer)]).toEqual([422, ['The position must be a whole number from 1 to 2147483647.']])
  }
})

it('does not move a question from an outdated page', async () => {
  const { add, get, post, path, find, scripts, moveFields } = await openAssessment()
  for (const script of ['A', 'B', 'C']) await add({ script })
  const page = (await get(path)).text
  const { id } = await find('C')
  const fields = moveFields(page, id, 'Up')
  // A double click moves the question once.
  const answers = await Promise.all([1, 2, 3].map(() => post(`${path}/questions/${id}/move`, fields)))
  expect(answers.map(({ status }) => status).sort()).toEqual([303, 422, 422])
  expect(await scripts()).toEqual(['A', 'C', 'B'])
  expect(mistakesIn(answers.find(({ status }) => status === 422)!)[0]).toBe(
    'This question was moved in the meantime. It stays where it is now.',
  )
})

it('keeps all positions when many questions are moved and added at once', async () => {
  const { add, post, path, find, scripts, counts } = await openAssessment()
  const letters = ['A', 'B', 'C', 'D', 'E']
  for (const script of letters) await add({ script })
  await Promise.all([
    ...letters.map(async (script, i) => {
      const { id, order } = await find(script)
      return post(`${path}/questions/${id}/move`, { place: String(5 - i), order: String(order) })
    }),
    add({ script: 'F' }),
    add({ script: 'G' }),
  ])
  const orders = await service.db.question.findMany({ where: { assessmentId: path.split('/').at(-1)! }, select: { order: true } })
  expect(orders.map(({ order }) => order).sort()).toEqual([1, 2, 3, 4, 5, 6, 7])
  expect((await scripts()).toSorted()).toEqual([...letters, 'F', 'G'])
  expect((await counts()).questionCount).toBe(7)
})

it('reorders the questions of a page in one request, unless the order has changed', async () => {
  const { add, post, path, find, scripts, organization } = await openAssessment()
  for (const script of ['A', 'B', 'C', 'D']) await add({ script })
  const idsOf = async (letters: string) => (await Promise.all([...letters].map(async (one) => (await find(one)).id))).join(' ')
  const order = async (seen: string, wanted: string) =>
    post(`${path}/order`, { seen: await idsOf(seen), wanted: await idsOf(wanted) })
  const inOrder = async () => (await scripts()).join('')
  expect((await order('ABCD', 'DABC')).status).toBe(200)
  expect(await inOrder()).toBe('DABC')
  // The request is repeated after a lost response.
  expect((await order('ABCD', 'DABC')).status).toBe(200)
  const audit = { organizationId: organization.id, action: 'ordered_questions' }
  expect(await service.db.auditEntry.count({ where: audit })).toBe(1)
  const late = await order('ABCD', 'BACD')
  expect([late.status, late.body.mistakes]).toEqual([409, [expect.stringMatching(/^This question was moved/)]])
  // A page of the list contains only some of the questions.
  expect((await order('AB', 'BA')).status).toBe(200)
  expect(await inOrder()).toBe('DBAC')
  for (const [seen, wanted] of [
    ['DB', 'BA'],
    ['DB', 'BB'],
    ['DA', 'AD'],
    ['D', ''],
  ] as const)
    expect([seen, (await order(seen, wanted)).status]).toEqual([seen, 409])
  expect((await post(`${path}/order`, { seen: 'x', wanted: 'x' })).status).toBe(409)
  expect(await inOrder()).toBe('DBAC')
})

it('copies a question right after itself, once, even if the button is pressed several times', async () => {
  const { add, get, post, path, addressOf, scripts, find } = await openAssessment()
  for (const script of ['A', 'B']) await add({ script, points: '3', timeLimit: '2', preparationTime: '1' })
  const { once } = fieldsIn({ text: `<main${(await get(path)).text.split('/duplicate">')[2]}` })
  const copy = async () => (await post(`${await addressOf('A')}/duplicate`, { once: once! })).headers.location
  const [first, second] = [await copy(), await copy()]
  expect(second).toBe(first)
  expect(await scripts()).toEqual(['A', 'A', 'B'])
  const { id } = await find('B')
  expect(await service.db.question.findUniqueOrThrow({ where: { id } })).toMatchObject({ order: 3 })
  const copied = await service.db.question.findUniqueOrThrow({ where: { id: first!.split('#question-')[1]! } })
  expect(copied).toMatchObject({ script: 'A', order: 2, points: 3, timeLimit: 120, preparationTime: 60 })
})

it('leads to the form of another question of the same type, if requested', async () => {
  const { add, get, path } = await openAssessment()
  const { location } = (await add({ script: 'A', responseType: 'video', next: 'another' })).headers
  expect(location).toBe(`${path}/questions/new?done=question-added&answer=video`)
  const { text } = await get(location!)
  expect(text).toContain('Question 1 is added.')
  expect(fieldsIn({ text })).toMatchObject({ responseType: 'video', script: '' })
})

it('deletes a question once', async () => {
  const { add, post, addressOf, path, scripts, counts } = await openAssessment()
  await add({ script: 'A', points: '3' })
  await add({ script: 'B', points: '4' })
  const address = await addressOf('A')
  expect((await post(`${address}/delete`)).headers.location).toBe(`${path}?done=question-deleted`)
  expect((await post(`${address}/delete`)).status).toBe(404)
  expect([await scripts(), await counts()]).toEqual([['B'], { questionCount: 1, totalPoints: 4 }])
})

itSlow('lists thousands of questions in pages, and copies them completely', async () => {
  const { assessment, get, post, path, organization } = await openAssessment()
  const now = service.clock.now()
  const rows = Array.from({ length: 6_000 }, (_, i) => ({
    ...{
      id: service.deps.newId(),
      organizationId: organization.id,
      assessmentId: assessment.id,
      order: i,
      script: `Question ${i + 1}`,
    },
    ...{ inputType: 'text', responseType: 'text', createdAt: now, updatedAt: now },
  }))
  for (let i = 0; i < rows.length; i += 1_000) await service.db.question.createMany({ data: rows.slice(i, i + 1_000) })
  const page = (await get(`${path}?page=60`)).text
  expect(page).toContain('Page 60 of 60')
  expect(page).toContain('<span data-place>6000</span>. ')
  const copy = (await post(`${path}/duplicate`)).headers.location!.split('?')[0]!
  expect(await service.db.question.count({ where: { assessmentId: copy.split('/').at(-1)! } })).toBe(6_000)
  const { id, order } = rows[5_999]!
  expect((await post(`${path}/questions/${id}/move`, { place: '1', order: String(order) })).status).toBe(303)
  expect((await get(path)).text).toMatch(new RegExp(`<ol [^>]+>\\s*<li [^>]*id="question-${id}"`))
})
