import { describe, expect, it } from 'vitest'
import { toText } from '../../../../src/html/html.ts'
import { matchingAuthor } from '../../../../src/kinds/matching/author.ts'
import { fieldsIn, mistakesIn } from '../../../support/forms.ts'
import { signInAs } from '../../../support/portal.ts'
import { startServiceForFile, startServiceForTest } from '../../../support/service.ts'

const service = await startServiceForFile()

type Fields = Record<string, string | string[]>

/** Creates an empty assessment and its admin. */
async function openAssessment() {
  const organization = await service.make.organization()
  const admin = await signInAs(service, organization.id, ['admin'])
  const assessment = await service.make.assessment(organization.id)
  const path = `${admin.home}assessments/${assessment.id}`
  const questions = () =>
    service.db.question.findMany({
      where: { assessmentId: assessment.id },
      include: { version: { include: { keys: true } } },
      orderBy: { order: 'asc' },
    })
  const rowsIn = ({ text }: { text: string }) => [...text.matchAll(/name="row" value="([a-z]{8})"/g)].map(([, id]) => id!)
  return { ...admin, organization, assessment, path, questions, rowsIn }
}

const wrongFields = ({ text }: { text: string }) => [...text.matchAll(/id="([a-z-]+)-mistake"/g)].map(([, field]) => field)

describe('the form of an automatically scored question', () => {
  it('is offered for each type, and starts with empty rows', async () => {
    const { get, path, rowsIn } = await openAssessment()
    const { text } = await get(path)
    for (const offer of [
      'single_choice',
      'single_choice&amp;preset=true_false',
      'multiple_choice',
      'number',
      'short_text',
      'matching',
    ])
      expect(text).toContain(`questions/new?answer=${offer}"`)
    expect(rowsIn(await get(`${path}/questions/new?answer=single_choice`))).toHaveLength(4)
    const preset = await get(`${path}/questions/new?answer=single_choice&preset=true_false`)
    expect(preset.text).toMatch(/value="True".*value="False"/s)
  })

  it('creates a choice question by buttons alone, and shows it again for editing', async () => {
    const { get, post, path, questions, rowsIn } = await openAssessment()
    const first = await get(`${path}/questions/new?answer=single_choice`)
    const [one, two] = rowsIn(first)
    const typed: Fields = {
      ...fieldsIn(first),
      script: 'Capital of Norway?',
      row: rowsIn(first),
      [`text-${one}`]: 'Oslo',
      [`text-${two}`]: 'Bergen',
    }
    const more = await post(`${path}/questions`, { ...typed, rows: 'add' })
    expect([more.status, rowsIn(more).length]).toEqual([200, 5])
    const added = rowsIn(more).at(-1)!
    const up = await post(`${path}/questions`, { ...typed, row: rowsIn(more), rows: `up-${two}` })
    expect(rowsIn(up).slice(0, 2)).toEqual([two, one])
    expect(await questions()).toEqual([])
    const fields = { ...typed, row: rowsIn(up), [`text-${added}`]: 'None of these', fixed: added, right: one!, points: '4' }
    expect((await post(`${path}/questions`, fields)).status).toBe(303)
    const [question] = await questions()
    expect(question).toMatchObject({ responseType: 'single_choice', script: 'Capital of Norway?', points: 4 })
    expect(question!.version).toMatchObject({
      spec: {
        options: [
          { id: two, text: 'Bergen' },
          { id: one, text: 'Oslo' },
          { id: added, text: 'None of these', fixed: true },
        ],
        shuffle: true,
      },
      keys: [{ key: { policy: 'exact', right: [one] } }],
    })
    const again = await get(`${path}/questions/${question!.id}`)
    expect(rowsIn(again)).toEqual([two, one, added])
    expect(again.text).toMatch(new RegExp(`name="right" value="${one}"[^>]* checked`))
    expect(again.text).toContain('Guessing gets 33 % on average')
  })

  it('shows the scores of ticking all, none, and guessing', async () => {
    const { get, post, path, rowsIn } = await openAssessment()
    const form = await get(`${path}/questions/new?answer=multiple_choice`)
    const rows = rowsIn(form)
    const texts = Object.fromEntries(rows.map((id, i) => [`text-${id}`, `Option ${i}`]))
    const look = async (policy: string, more: Fields = {}) => {
      const sent = {
        responseType: 'multiple_choice',
        row: rows,
        ...texts,
        right: rows.slice(0, 2),
        policy,
        rows: 'look',
        ...more,
      }
      return /data-outlook[^>]*>([^<]*)/.exec((await post(`${path}/questions`, sent)).text)?.[1]
    }
    expect(await look('balanced')).toBe('Ticking all gets 0 %, none 0 %, and guessing 19 % on average.')
    expect(await look('exact')).toBe('Ticking all gets 0 %, none 0 %, and guessing 6 % on average.')
    const shares = { [`share-${rows[0]}`]: '60', [`share-${rows[1]}`]: '40', [`share-${rows[2]}`]: '-100' }
    expect(await look('weights', shares)).toBe('Ticking all gets 0 %, none 0 %, and guessing 25 % on average.')
    expect(await look('balanced', { most: '2', least: '2' })).toBe('Ticking none gets 0 %, and guessing 17 % on average.')
  })

  it('shows three accepted and three rejected example answers of a short-text key', async () => {
    const { get, post, path, rowsIn } = await openAssessment()
    const form = await get(`${path}/questions/new?answer=short_text`)
    expect(form.text).toContain('Once the accepted texts are complete')
    const [row] = rowsIn(form)
    const look = async (text: string, options: Fields = {}) => {
      const sent = { responseType: 'short_text', row: row!, [`text-${row}`]: text, lines: '1', rows: 'look', ...options }
      const page = (await post(`${path}/questions`, sent)).text
      return page
        .slice(page.indexOf('data-outlook'))
        .split('<ul>')
        .slice(1, 3)
        .map((list) => [...list.slice(0, list.indexOf('</ul>')).matchAll(/<q[^>]*>([^<]*)/g)].map(([, answer]) => answer))
    }
    expect(await look('C#')).toEqual([
      ['C#', 'c#', '  C#'],
      ['C', 'C#.', 'C# C#'],
    ])
    expect(await look('José', { accents: 'yes', punctuation: 'yes' })).toEqual([
      ['José', 'JOSÉ', 'Jose'],
      ['Jos', 'José José', 'ésoJ'],
    ])
  })

  it.each<[string, string, Fields, string[]]>([
    ['no options', 'single_choice', {}, ['options']],
    ['two equal options', 'single_choice', { 'text-0': 'A', 'text-1': ' A ', right: '0' }, ['text-1']],
    ['an invalid weight', 'multiple_choice', { 'text-0': 'A', 'text-1': 'B', policy: 'weights', 'share-0': '1000' }, ['share-0']],
    ['more to tick than there is', 'multiple_choice', { 'text-0': 'A', 'text-1': 'B', right: '0', most: '9' }, ['most']],
    ['a text instead of a number', 'number', { 'value-0': 'ten' }, ['value-0']],
    ['a number that reads in two ways', 'number', { 'value-0': '16,000' }, ['value-0']],
    ['a range that ends before it begins', 'number', { 'value-0': '5', 'way-0': 'range', 'second-0': '3' }, ['second-0']],
    ['a share of nothing', 'number', { 'value-0': '5', 'share-0': '0' }, ['share-0']],
    ['no accepted text', 'short_text', {}, ['accepted']],
    ['no prompts', 'matching', {}, ['pairs']],
    ['a prompt that nothing fits', 'matching', { 'text-0': 'A', 'fits-0': 'x', 'text-1': 'B', 'fits-2': 'y' }, ['fits-1']],
    ['two equal prompts', 'matching', { 'text-0': 'A', 'fits-0': 'x', 'text-1': ' A ', 'fits-1': 'y' }, ['text-1']],
    ['a text that matches everything', 'short_text', { 'text-0': '**' }, ['text-0']],
  ])('shows at its field the mistake of %s', async (_, word, typed, wrong) => {
    const { get, post, path, rowsIn, questions } = await openAssessment()
    const form = await get(`${path}/questions/new?answer=${word}`)
    const rows = rowsIn(form)
    const named = Object.entries(typed).map(([name, value]): [string, string | string[]] => [
      name.replace(/-(\d)$/, (_, i) => `-${rows[Number(i)]}`),
      name === 'right' ? rows[Number(value)]! : value,
    ])
    const answer = await post(`${path}/questions`, {
      ...fieldsIn(form),
      script: 'Asked',
      row: rows,
      ...Object.fromEntries(named),
    })
    expect(answer.status).toBe(422)
    for (const field of wrongFields(answer))
      expect(answer.text, field).toMatch(new RegExp(`aria-describedby="([^"]* )?${field}-mistake"`))
    expect(wrongFields(answer)).toEqual(wrong.map((name) => name.replace(/-(\d)$/, (_, i) => `-${rows[Number(i)]}`)))
    expect(await questions()).toEqual([])
  })

  it('reports mistakes of the question and of its type together', async () => {
    const { get, post, path } = await openAssessment()
    const form = await get(`${path}/questions/new?answer=number`)
    const answer = await post(`${path}/questions`, { ...fieldsIn(form), script: '', 'value-x': '' })
    expect(answer.status).toBe(422)
    expect(mistakesIn(answer).length).toBe(2)
  })

  it('reads numbers as candidates write them, and texts with their comparison settings', async () => {
    const { get, post, path, questions, rowsIn } = await openAssessment()
    const number = await get(`${path}/questions/new?answer=number`)
    const [row] = rowsIn(number)
    const value = { [`value-${row}`]: '3,14', [`way-${row}`]: 'percent', [`second-${row}`]: '1,5', unit: 'm' }
    await post(`${path}/questions`, { ...fieldsIn(number), script: 'Pi', row: row!, ...value }).expect(303)
    const text = await get(`${path}/questions/new?answer=short_text`)
    const [line] = rowsIn(text)
    const words = { [`text-${line}`]: 'colo*r', caseSensitive: 'yes', accents: 'yes', otherwise: 'wrong', lines: '3' }
    await post(`${path}/questions`, { ...fieldsIn(text), script: 'Color', row: line!, ...words }).expect(303)
    const [one, two] = await questions()
    expect(one!.version).toMatchObject({
      spec: { unit: 'm' },
      keys: [{ key: { answers: [{ value: '3.14', tolerance: { by: '1.5', in: 'percent' }, share: 100 }] } }],
    })
    expect(two!.version).toMatchObject({
      spec: { lines: 3 },
      keys: [
        {
          key: {
            accepted: [{ text: 'colo*r', share: 100 }],
            caseSensitive: true,
            ignore: { accents: true, punctuation: false },
            otherwise: 'wrong',
          },
        },
      ],
    })
    const again = await get(`${path}/questions/${one!.id}`)
    expect(again.text).toMatch(/value="3\.14"/)
    await post(`${path}/questions/${one!.id}`, { ...fieldsIn(again), unit: 'km' }).expect(303)
    expect((await questions())[0]!.version).toMatchObject({
      spec: { unit: 'km' },
      keys: [{ key: { answers: [{ value: '3.14' }] } }],
    })
  })

  it("hides the answer key from members who can't edit the assessment", async () => {
    const { get, post, path, rowsIn, organization, questions } = await openAssessment()
    const form = await get(`${path}/questions/new?answer=short_text`)
    const [row] = rowsIn(form)
    await post(`${path}/questions`, { ...fieldsIn(form), script: 'Asked', row: row!, [`text-${row}`]: 'canarykey' }).expect(303)
    const [question] = await questions()
    expect((await get(`${path}/questions/${question!.id}`)).text).toContain('canarykey')
    for (const role of ['grader', 'client']) {
      const other = await signInAs(service, organization.id, [role])
      for (const address of [path, `${path}/questions/${question!.id}`]) {
        expect((await other.get(address)).text).not.toContain('canarykey')
        expect((await other.post(address, { responseType: 'short_text', rows: 'look' })).text).not.toContain('canarykey')
      }
    }
  })
})

describe('a form with thousands of rows', () => {
  const MANY = 2_400
  const rowIds = Array.from({ length: MANY }, (_, i) =>
    String.fromCharCode(...[...String(i).padStart(8, '0')].map((digit) => 97 + Number(digit))),
  )
  const formOf = (responseType: string): Fields => ({
    responseType,
    script: 'Which?',
    inputType: 'text',
    points: '1',
    row: rowIds,
    ...Object.fromEntries(rowIds.flatMap((id, i) => ['text', 'fits', 'value'].map((name) => [`${name}-${id}`, String(i)]))),
  })

  it.each([
    ['matching', 'At most 20 prompts, and choices that fit none, in all.'],
    ['single_choice', 'At most 20 options.'],
    ['multiple_choice', 'At most 20 options.'],
    ['number', 'At most 50 numbers.'],
    ['short_text', 'At most 50 texts.'],
  ])('rejects %s, and shows a hundred of them', async (responseType, mistake) => {
    const { post, path, rowsIn, questions } = await openAssessment()
    const refused = await post(`${path}/questions`, formOf(responseType))
    expect([refused.status, rowsIn(refused).length, mistakesIn(refused).includes(mistake)]).toEqual([422, 100, true])
    expect(refused.text.length).toBeLessThan(500_000)
    expect(await questions()).toEqual([])
  })

  it('previews no more prompts and choices than a question can have', async () => {
    const { post, organization, assessment } = await openAssessment()
    const at = `/i/preview/${organization.id}/${assessment.id}/question-1/question`
    const rows = rowIds.slice(0, 1_200)
    const fields = Object.fromEntries(rows.flatMap((id, i) => ['text', 'fits'].map((name) => [`${name}-${id}`, `${name}${i}`])))
    const typed = { responseType: 'matching', script: 'Which?', inputType: 'text', points: '1', row: rows, ...fields }
    const { status, text } = await post(at, typed)
    expect([status, text.match(/<select/g)?.length, text.match(/<option/g)?.length]).toEqual([200, 20, 20 * 21])
    expect(text.length).toBeLessThan(100_000)
    const long = { ...typed, row: rows.slice(0, 3), [`fits-${rows[0]}`]: 'x'.repeat(50_000) }
    expect((await post(at, long)).text.length).toBeLessThan(50_000)
  })

  it('limits the shown rows of a key to what a question can have', () => {
    const text = toText(
      matchingAuthor.fields('matching', {
        values: new URLSearchParams([
          ...rowIds.map((id): [string, string] => ['row', id]),
          ...rowIds.map((id): [string, string] => [`text-${id}`, `Prompt ${id}`]),
          ...rowIds.map((id): [string, string] => ['choice', `${id} ${'x'.repeat(100)}`]),
        ]),
        errorsOf: () => [],
        focus: undefined,
        isKeyOnly: true,
      }),
    )
    expect([text.match(/<select/g)?.length, text.match(/<option/g)?.length]).toEqual([20, 20 * 40])
  })

  it('rejects a body larger than any question', async () => {
    const { post, cookie, path, questions } = await openAssessment()
    const script = 'x'.repeat(256 * 1024)
    expect((await post(`${path}/questions`, { responseType: 'text', script })).status).toBe(413)
    const withFile = service.http().post(`${path}/questions`).set('cookie', cookie()!).set('sec-fetch-site', 'same-origin')
    expect((await withFile.field('script', script).attach('picture', Buffer.alloc(10), 'x.png')).status).toBe(413)
    expect(await questions()).toEqual([])
  })
})

it('explains the rejection if candidates use another player', async () => {
  const elsewhere = await startServiceForTest({ PLAYER_URL: 'https://player.example.org/run' })
  const organization = await elsewhere.make.organization()
  const { get, post, home } = await signInAs(elsewhere, organization.id, ['admin'])
  const { id } = await elsewhere.make.assessment(organization.id)
  const path = `${home}assessments/${id}`
  const reason = 'Your candidates use another player'
  expect((await get(path)).text).toContain(reason)
  const form = await get(`${path}/questions/new?answer=number`)
  expect(form.text).toContain(reason)
  expect(form.text).not.toContain('Add question')
  const sent = { responseType: 'number', script: 'Pi', row: 'abcdefgh', 'value-abcdefgh': '3' }
  const refused = await post(`${path}/questions`, sent)
  expect([refused.status, refused.text.includes(reason)]).toEqual([422, true])
})
