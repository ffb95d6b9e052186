import { describe, expect, it } from 'vitest'
import { continueImport } from '../../../../src/domain/library/continue-import.ts'
import { deleteExpiredImports } from '../../../../src/domain/library/delete-expired-imports.ts'
import { readFile } from '../../../../src/kinds/file-formats/read-file.ts'
import { readTable } from '../../../../src/kinds/file-formats/table.ts'
import type { ParsedQuestion } from '../../../../src/kinds/neutral.ts'
import { readXlsx } from '../../../../src/tables/read-xlsx.ts'
import { confirmColumns } from '../../../support/check-columns.ts'
import { DAY_MS } from '../../../support/factories.ts'
import { mistakesIn } from '../../../support/forms.ts'
import { signInAs } from '../../../support/portal.ts'
import { writeXlsx } from '../../../support/question-files.ts'
import { startServiceForFile } from '../../../support/service.ts'
import { itSlow } from '../../../support/slow.ts'
import { waitUntil } from '../../../support/wait-until.ts'

const service = await startServiceForFile()

const CSV =
  'kind,text,right,A,B,category\none choice,Capital of France?,A,Paris,Rome,Places\none choice,Broken?,C,x,y,\nshort text,Who?,Ann,,,\nshort text,Who?,Ann,,,'

async function setUp() {
  const organization = await service.make.organization()
  const admin = await signInAs(service, organization.id, ['admin'])
  const organizationId = organization.id
  const rows = () => service.db.libraryImportRow.findMany({ where: { organizationId }, orderBy: { number: 'asc' } })
  const kept = () => service.db.libraryQuestion.findMany({ where: { organizationId }, orderBy: { id: 'asc' } })
  /** Uploads a file, and confirms its columns unchanged. */
  const upload = async (name: string, content: string | Uint8Array) => {
    const { status, text, headers } = await service
      .http()
      .post(`${admin.home}questions/imports`)
      .set('cookie', admin.cookie()!)
      .set('sec-fetch-site', 'same-origin')
      .attach('file', Buffer.from(content), name)
    return { status, text, headers: { location: await confirmColumns(admin, headers.location ?? '') } }
  }
  return { organizationId, admin, rows, kept, upload }
}

describe('an import of questions', () => {
  it('previews each question, imports them in a job, and can be undone within a day', async () => {
    const { admin, rows, kept, upload } = await setUp()
    const { headers } = await upload('questions.csv', CSV)
    const path = headers.location!
    expect((await rows()).map(({ line, state, notes }) => [line, state, notes])).toEqual([
      [2, 'ready', []],
      [3, 'refused', ['The right answer “C” is not an option.']],
      [4, 'ready', []],
      [5, 'there', []],
    ])
    expect(await kept()).toEqual([])
    const report = await admin.post(`${path}/report`)
    expect(report.headers['content-disposition']).toContain('attachment; filename="import-')
    expect(report.text.trim().split('\r\n')).toEqual([
      'line,question,result,category,notes',
      '2,Capital of France?,will be imported,Places,',
      '3,Broken?,can’t import,,The right answer “C” is not an option.',
      '4,Who?,will be imported,,',
      '5,Who?,duplicate,,',
    ])
    const page = (await admin.get(path)).text
    for (const words of ['Import 2 questions', 'duplicate', 'is not an option']) expect(page).toContain(words)
    expect((await admin.post(`${path}/start`)).status).toBe(303)
    await waitUntil('the import', async () => (await admin.get(path)).text.includes('>Imported<') || undefined)
    expect(await kept()).toMatchObject([
      { name: 'Capital of France?', responseType: 'single_choice', uses: 0 },
      { name: 'Who?', responseType: 'short_text' },
    ])
    const again = await upload('again.csv', CSV)
    expect((await admin.get(again.headers.location!)).text).toContain('There is nothing to import.')
    const [first] = await kept()
    const assessment = await service.make.assessment(first!.organizationId)
    await admin.post(`${admin.home}questions/${first!.id}/add`, { assessmentId: assessment.id })
    expect((await admin.post(`${path}/undo`)).status).toBe(303)
    expect((await kept()).map(({ name }) => name)).toEqual(['Capital of France?'])
    expect((await rows()).map(({ state }) => state)).toContain('undone')
    expect((await admin.post(`${path}/undo`)).status).toBe(422)
  })

  it('leads from the page of an assessment to its questions, several at once', async () => {
    const { organizationId, admin, kept } = await setUp()
    const assessment = await service.make.assessment(organizationId)
    const page = `${admin.home}assessments/${assessment.id}`
    const { text } = await admin.get(page)
    expect(text).toContain(`href="${page}/library"`)
    const importing = `${admin.home}questions/imports/new?assessment=${assessment.id}`
    expect(text).toContain(`href="${importing}"`)
    expect((await admin.get(importing)).text).toContain(`name="assessment" value="${assessment.id}"`)
    const { headers } = await service
      .http()
      .post(`${admin.home}questions/imports`)
      .set('cookie', admin.cookie()!)
      .set('sec-fetch-site', 'same-origin')
      .field('assessment', assessment.id)
      .attach('file', Buffer.from(CSV), 'questions.csv')
    const shown = await confirmColumns(admin, headers.location!)
    await admin.post(shown.replace('?', '/start?'))
    const adding = `${page}/library?import=${/imports\/([^?]+)/.exec(shown)![1]}`
    await waitUntil('the import', async () => (await admin.get(shown)).text.includes(`href="${adding}"`) || undefined)
    const questions = (await kept()).map(({ id }) => id)
    const listed = await admin.get(adding)
    for (const id of questions) expect(listed.text).toContain(`name="questions" value="${id}"`)
    expect((await admin.get(`${page}/library?search=capital`)).text).not.toContain(`value="${questions[1]}"`)
    expect(mistakesIn(await admin.post(`${page}/library`))).toEqual(['Tick at least one question.'])
    expect((await admin.post(`${page}/library`, { questions })).status).toBe(303)
    const asked = await service.db.question.findMany({ where: { assessmentId: assessment.id }, orderBy: { order: 'asc' } })
    expect(asked.map(({ libraryQuestionId }) => libraryQuestionId)).toEqual(questions)
    expect((await admin.get(adding)).text).toContain('(in this assessment)')
    // Sent again, as after a failure, the form adds only the missing question.
    await service.db.question.deleteMany({ where: { id: asked.at(-1)!.id } })
    expect((await admin.post(`${page}/library`, { questions })).status).toBe(303)
    expect(await service.db.question.count({ where: { assessmentId: assessment.id } })).toBe(questions.length)
  })

  it('lists the unused columns of a file', async () => {
    const { admin, upload, rows } = await setUp()
    const sheet = 'Question,Option 1,Option 2,Correct Answer,Difficulty\nCapital of Peru?,Quito,Lima,2,easy\n1+1?,2,1,2,easy\n'
    const { headers } = await upload('quiz.csv', sheet)
    expect((await admin.get(headers.location!)).text).toContain('Unused columns: <bdi>Difficulty</bdi>.')
    expect((await rows()).map(({ state, notes }) => [state, notes])).toEqual([
      ['ready', []],
      ['refused', ['The right answer “2” fits more than one option. Write the letter of the right one.']],
    ])
  })

  it('is hidden until it is read completely, and deleted an hour later if that failed', async () => {
    const { organizationId, admin, upload, rows } = await setUp()
    const { headers } = await upload('q.txt', 'Who?{=Ann}')
    const createdAt = new Date(service.clock.now().getTime() - 3_600_000)
    await service.db.libraryImport.updateMany({ where: { organizationId }, data: { isLoading: true, createdAt } })
    expect((await admin.get(headers.location!)).status).toBe(404)
    expect((await admin.post(`${headers.location}/start`)).status).toBe(404)
    await deleteExpiredImports(service.system)
    expect(await rows()).toEqual([])
  })

  it('rejects a category that is too long with its parents, in the file and at a question', async () => {
    const { organizationId, admin, kept, rows, upload } = await setUp()
    const path = Array.from({ length: 5 }, (_, i) => `${i}${'漢'.repeat(199)}`).join('/')
    const { headers } = await upload(
      'q.csv',
      `kind,text,right,category\nshort text,Who?,Ann,${path}\nshort text,Where?,Rome,Places`,
    )
    const tooLong = 'The category is too long together with those above it. Use shorter names.'
    expect((await rows()).map(({ state, notes }) => [state, notes])).toEqual([
      ['refused', [tooLong]],
      ['ready', []],
    ])
    await admin.post(`${headers.location}/start`)
    await waitUntil('the import', async () => (await admin.get(headers.location!)).text.includes('>Imported<') || undefined)
    const [question] = await kept()
    const answer = await admin.post(`${admin.home}questions/${question!.id}`, { name: 'Where?', category: path })
    expect([answer.status, mistakesIn(answer)]).toEqual([422, [tooLong]])
    const long = Array.from({ length: 5 }, (_, i) => `${i}${'漢'.repeat(129)}`).join('/')
    expect((await admin.post(`${admin.home}questions/${question!.id}`, { name: 'Where?', category: long })).status).toBe(303)
    expect(await service.db.libraryCategory.count({ where: { organizationId } })).toBe(2)
  })

  it('continues after a question that fails for an unknown reason, logged once', async () => {
    const { organizationId, admin, kept, rows, upload } = await setUp()
    const { headers } = await upload('q.txt', 'Who?{=Ann}\n\nWhere?{=Rome}')
    await service.db.libraryImportRow.updateMany({ where: { organizationId, number: 1 }, data: { question: { input: {} } } })
    await admin.post(`${headers.location}/start`)
    await waitUntil('the import', async () => (await admin.get(headers.location!)).text.includes('>Imported<') || undefined)
    expect((await rows()).map(({ state }) => state)).toEqual(['refused', 'taken'])
    expect((await admin.get(headers.location!)).text).toContain('The service couldn’t save this question.')
    const isOfIt = (line: string) => line.includes('a question of an import was rejected') && line.includes(organizationId)
    const logged = service.logLines.filter(isOfIt)
    expect(logged).toHaveLength(1)
    expect((await admin.post(`${headers.location}/undo`)).status).toBe(303)
    expect(await kept()).toEqual([])
  })

  it("can't be undone after a day", async () => {
    const { organizationId, admin, kept, upload } = await setUp()
    const { headers } = await upload('q.txt', 'Who?{=Ann}')
    await admin.post(`${headers.location}/start`)
    await waitUntil('the import', async () => (await admin.get(headers.location!)).text.includes('>Imported<') || undefined)
    const finishedAt = new Date(service.clock.now().getTime() - DAY_MS)
    await service.db.libraryImport.updateMany({ where: { organizationId }, data: { finishedAt } })
    const late = await admin.post(`${headers.location}/undo`)
    expect([late.status, mistakesIn(late)]).toEqual([422, ['You can undo an import once, within a day.']])
    expect(await kept()).toHaveLength(1)
  })

  it('is deleted after 30 days or when it can no longer be undone; its questions stay', async () => {
    const { organizationId, admin, kept, rows, upload } = await setUp()
    const { headers } = await upload('q.txt', 'Who?{=Ann}')
    await admin.post(`${headers.location}/start`)
    await waitUntil('the import', async () => (await admin.get(headers.location!)).text.includes('>Imported<') || undefined)
    await upload('never-started.txt', 'Where?{=Rome}')
    const daysAgo = (days: number) => new Date(service.clock.now().getTime() - days * DAY_MS)
    const forget = async (data: { createdAt: Date; finishedAt?: Date }) => {
      await service.db.libraryImport.updateMany({
        where: { organizationId, ...(data.finishedAt && { finishedAt: { not: null } }) },
        data,
      })
      await deleteExpiredImports(service.system)
      return (await rows()).map(({ name }) => name)
    }
    expect(await forget({ createdAt: daysAgo(29) })).toHaveLength(2)
    expect(await forget({ createdAt: daysAgo(30), finishedAt: daysAgo(0) })).toHaveLength(2)
    expect(await forget({ createdAt: daysAgo(30) })).toEqual(['Who?'])
    expect(await forget({ createdAt: daysAgo(30), finishedAt: daysAgo(1) })).toEqual([])
    expect((await admin.get(headers.location!)).status).toBe(404)
    expect(await kept()).toMatchObject([{ name: 'Who?', importId: null }])
  })

  itSlow('imports each question once across concurrent jobs, and resumes where it stopped', async () => {
    const { organizationId, admin, kept, upload, rows } = await setUp()
    const text = Array.from({ length: 60 }, (_, i) => `Question ${i}?{=a${i} ~b}`).join('\n\n')
    const { headers } = await upload('many.gift', text)
    const importId = headers.location!.split('/').at(-1)!
    const where = { organizationId_id: { organizationId, id: importId } }
    await service.db.libraryImport.update({ where, data: { startedAt: service.clock.now() } })
    // Four jobs run at once, as if the queue had taken a running job for lost.
    await Promise.all(Array.from({ length: 4 }, () => continueImport(service.system, { organizationId, importId })))
    await continueImport(service.system, { organizationId, importId })
    expect(await kept()).toHaveLength(60)
    expect(new Set((await rows()).map(({ state }) => state))).toEqual(new Set(['taken']))
    expect(await service.db.questionVersion.count({ where: { organizationId } })).toBe(60)
    expect(await service.db.libraryImport.findUnique({ where })).toMatchObject({ finishedAt: expect.any(Date) })
    expect((await admin.get(headers.location!)).text).toContain('>Imported<')
  })

  it('imports the same questions in the opposite order at the same time', async () => {
    const { organizationId, kept, upload } = await setUp()
    const questions = Array.from({ length: 20 }, (_, i) => `Question ${i}?{=a${i} ~b}`)
    const importIds: string[] = []
    for (const list of [questions, questions.toReversed()]) {
      const { headers } = await upload('questions.gift', list.join('\n\n'))
      importIds.push(headers.location!.split('/').at(-1)!)
    }
    await service.db.libraryImport.updateMany({ where: { organizationId }, data: { startedAt: service.clock.now() } })
    await Promise.all(importIds.map((importId) => continueImport(service.system, { organizationId, importId })))
    expect(await kept()).toHaveLength(20)
    const states = await service.db.libraryImportRow.groupBy({ by: ['state'], where: { organizationId }, _count: true })
    expect(new Map(states.map(({ state, _count }) => [state, _count]))).toEqual(
      new Map([
        ['taken', 20],
        ['there', 20],
      ]),
    )
  })

  it.each([
    ['an empty file', '', 'The list is empty. Add at least one row.'],
    [
      'a file that only begins as a spreadsheet',
      new Uint8Array([0x50, 0x4b, 3, 4]),
      'The file can’t be read as a spreadsheet. Save it as .xlsx or .csv, and choose it again.',
    ],
    [
      'too many questions',
      Array.from({ length: 5_001 }, (_, i) => `Q${i}{T}`).join('\n\n'),
      'The list has more than 5,000 rows. Please split it.',
    ],
  ])('rejects %s', async (_, content, mistake) => {
    const { upload } = await setUp()
    const answer = await upload('x', content)
    expect([answer.status, mistakesIn(answer)]).toEqual([422, [mistake]])
    expect(answer.text).toMatch(/<input [^>]*id="file"[^>]*aria-describedby="file-hint file-mistake" aria-invalid="true">/)
    expect(answer.text).toContain(`<p class="mistake" id="file-mistake">${mistake}</p>`)
  })

  it('is exported with its keys in three formats, and its template can be imported', async () => {
    const { admin, kept, upload } = await setUp()
    const template = await admin.get(`${admin.home}questions/template.csv`)
    const { headers } = await upload('template.csv', template.text)
    await admin.post(`${headers.location}/start`)
    await waitUntil('the import', async () => (await kept()).length === 6 || undefined)
    const gift = await admin.post(`${admin.home}questions/export`, { format: 'gift' })
    expect(gift.headers['content-disposition']).toBe('attachment; filename="questions.gift.txt"')
    expect(gift.text).toContain('=Paris')
    for (const text of [gift.text, (await admin.post(`${admin.home}questions/export`, { format: 'csv' })).text]) {
      const again = await upload('again', text)
      expect((await admin.get(again.headers.location!)).text).toContain('There is nothing to import.')
    }
  })
})

const PNG = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=='
const moodleXml = (...questions: string[]) =>
  `<?xml version="1.0" encoding="UTF-8"?><quiz>${questions.map((text, i) => `<question type="essay"><name><text>Q${i}</text></name><questiontext format="html"><text>${text}</text><file name="dot.png" path="/" encoding="base64">${PNG}</file><file name="bad.png" path="/" encoding="base64">YmFk</file></questiontext></question>`).join('')}</quiz>`

describe('an import of Moodle XML', () => {
  it('stores pictures once, names files that are no pictures, and gets the same questions back from an export', async () => {
    const { organizationId, admin, rows, kept, upload } = await setUp()
    const picture = (name: string) => `&lt;img src="@@PLUGINFILE@@/${name}" alt="a dot"&gt;`
    const xml = moodleXml(`Which? ${picture('dot.png')}`, `Where? ${picture('dot.png')}`, `When? ${picture('bad.png')}`)
    const { headers } = await upload('moodle.xml', xml)
    expect((await rows()).map(({ state, notes }) => [state, notes])).toEqual([
      ['ready', []],
      ['ready', []],
      ['losses', ['The picture “bad.png” is left out. This file is not a whole picture. Choose a PNG, JPEG, WebP or GIF.']],
    ])
    const [asset, ...more] = await service.db.asset.findMany({ where: { organizationId } })
    expect(more).toEqual([])
    await admin.post(`${headers.location}/start`)
    await waitUntil('the import', async () => (await kept()).length === 3 || undefined)
    const versions = await service.db.libraryVersion.findMany({
      where: { organizationId },
      orderBy: { libraryQuestionId: 'asc' },
    })
    expect(versions.map(({ assetIds }) => assetIds)).toEqual([[asset!.id], [asset!.id], []])
    expect(versions.map(({ content }) => (content as { script: string }).script)).toEqual([
      `Which? ![a dot](asset:${asset!.id})`,
      `Where? ![a dot](asset:${asset!.id})`,
      'When? a dot',
    ])
    const exported = await admin.post(`${admin.home}questions/export`, { format: 'moodle' })
    expect(exported.headers['content-disposition']).toBe('attachment; filename="questions.moodle.xml"')
    expect(exported.text).toContain(`<file name="${asset!.id}.png" path="/" encoding="base64">`)
    const again = await upload('again.xml', exported.text)
    expect((await admin.get(again.headers.location!)).text).toContain('There is nothing to import.')
  })
})

/** Copies the library's only question. */
async function multiplyLibrary({ id }: { id: string }, times: number) {
  for (let i = 0; i < times; i += 1_000) {
    await service.db.$executeRaw`
      WITH copies AS (
        INSERT INTO library_questions
        SELECT (jsonb_populate_record(q, jsonb_build_object('id', gen_random_uuid(), 'name', q.name || n))).*
        FROM library_questions q, generate_series(${i}::int, least(${times}::int, ${i}::int + 1000) - 1) n
        WHERE q.id = ${id}::uuid
        RETURNING id
      )
      INSERT INTO library_versions
      SELECT (jsonb_populate_record(v, jsonb_build_object('library_question_id', copies.id, 'content_hash', '\\x' || md5(copies.id::text)))).*
      FROM library_versions v, copies WHERE v.library_question_id = ${id}::uuid`
  }
}

describe('an export of questions', () => {
  const text = (html: string) => html.replace(/<[^>]*>/g, ' ').replace(/\s+/g, ' ')

  it('reports before the download what each format omits, with counts', async () => {
    const { organizationId, admin, upload, kept } = await setUp()
    const sheet =
      'kind,text,right,format,points,A,B\nnumber,How far?,5,markdown,2,,\nshort text,Who?,Ann,,3,,\naudio,Tell us.,,,1,,\n'
    const { headers } = await upload('q.csv', sheet)
    await admin.post(`${headers.location}/start`)
    await waitUntil('the import', async () => (await kept()).length === 3 || undefined)
    const page = async (query = '') => text((await admin.get(`${admin.home}questions/export${query}`)).text)
    expect(await page()).toContain('3 questions, with their answer keys.')
    const [before, sheetPart, moodle, gift] = (await page()).split(
      /Spreadsheet|Moodle XML (?=Left out)|GIFT, for Moodle and others/,
    )
    expect(before).toBeDefined()
    expect(sheetPart).toContain('This format keeps everything about these questions.')
    expect(moodle).toContain('In Moodle, it needs the plugin “Record audio/video”. Audio 1')
    expect(gift).toContain('Points are not exported: they become 1. Short text, Number 2')
    expect(gift).toContain('The response type is not exported: it becomes a text. Audio 1')
    const version = { organizationId, responseType: 'number' }
    await service.db.questionVersion.updateMany({ where: version, data: { spec: { unit: 'km' } } })
    expect(await page('?kind=number')).toMatch(
      /1 question, with their answer keys\..*The unit is not exported\. Number 1.*The unit is not exported\. Number 1/,
    )
    const csv = await admin.post(`${admin.home}questions/export`, { format: 'csv', kind: 'number' })
    expect(csv.text).toMatch(/^\ufeffkind,name,[^\n]*\r\nnumber,How far\?,,How far\?,markdown,2,5,{20}\r\n$/)
  })

  itSlow("streams up to an import's limit, newest first", async () => {
    const { admin, kept, upload } = await setUp()
    const { headers } = await upload('one.txt', 'Question 0?{=a ~b}')
    await admin.post(`${headers.location}/start`)
    await waitUntil('the import', async () => (await kept()).length === 1 || undefined)
    const [first] = await kept()
    await multiplyLibrary(first!, 5_200)
    expect(text((await admin.get(`${admin.home}questions/export`)).text)).toContain(
      'The newest 5,000 questions: the most that fit in a file.',
    )
    const names = (found: ParsedQuestion[]) => found.map((read) => 'question' in read && read.question.name)
    const newest = (await kept()).toReversed().slice(0, 5_000)
    for (const format of ['csv', 'xlsx', 'gift']) {
      const { body } = await admin.post(`${admin.home}questions/export`, { format }).responseType('blob')
      expect(names(readFile(body as Buffer, 5_000).rows)).toEqual(newest.map(({ name }) => name))
    }
  })
})

it('reads the workbooks that it writes', () => {
  expect(readTable(readXlsx(writeXlsx([['text'], ['Who?']])).rows)!.rows).toHaveLength(1)
})
