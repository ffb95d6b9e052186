import iconv from 'iconv-lite'
import { describe, expect, it } from 'vitest'
import { createApiKey } from '../../../src/domain/api-keys/api-keys.ts'
import { deleteExpiredImports } from '../../../src/domain/library/delete-expired-imports.ts'
import { DAY_MS } from '../../support/factories.ts'
import { writeXlsx } from '../../support/question-files.ts'
import { startServiceForFile } from '../../support/service.ts'
import { waitUntil } from '../../support/wait-until.ts'

const service = await startServiceForFile()

async function open() {
  const { id: organizationId, apiKeyId, key } = await service.make.organization()
  await service.db.apiKey.update({ where: { id: apiKeyId }, data: { rights: ['manage'] } })
  const v1 = service.v1(key)
  const send = (content: string | Uint8Array, more: object = {}, headers: Record<string, string> = {}) =>
    v1
      .post('/question-imports')
      .set(headers)
      .send({ file: Buffer.from(content).toString('base64'), ...more })
  const listed = () => service.db.libraryQuestion.findMany({ where: { organizationId }, orderBy: { id: 'asc' } })
  const imports = () => service.db.libraryImport.count({ where: { organizationId } })
  const finished = (id: string) =>
    waitUntil('the import', async () => {
      const { body } = await v1.get(`/question-imports/${id}`)
      return body.import.state === 'finished' ? body.import : undefined
    })
  return { organizationId, apiKeyId, key, v1, send, listed, imports, finished }
}

const CSV =
  'kind,text,right,A,B,Level\none choice,Capital of France?,A,Paris,Rome,easy\none choice,Broken?,C,x,y,easy\nshort text,Who?,Ann,,,\nshort text,Who?,Ann,,,'

describe('POST /question-imports', () => {
  it('answers with the outcome of each question, and imports them into the library', async () => {
    const { organizationId, apiKeyId, v1, send, listed, finished } = await open()
    const { status, body } = await send(CSV, { fileName: 'geography.csv' })
    expect(status).toBe(202)
    const counts = { ready: 0, partial: 0, duplicate: 1, refused: 1, imported: 0, undone: 0 }
    expect(body).toEqual({
      import: {
        id: expect.any(String),
        fileName: 'geography.csv',
        format: 'csv',
        state: 'running',
        unusedColumns: ['Level'],
        counts: expect.objectContaining({ duplicate: 1, refused: 1 }),
        createdAt: expect.any(String),
        finishedAt: null,
      },
      rows: [
        {
          line: 3,
          name: 'Broken?',
          category: '',
          state: 'refused',
          notes: ['The right answer “C” is not an option.'],
          libraryQuestionId: null,
        },
      ],
    })
    expect((await finished(body.import.id)).counts).toEqual({ ...counts, imported: 2 })
    const questions = await listed()
    expect(questions.map(({ name, createdById }) => [name, createdById])).toEqual([
      ['Capital of France?', null],
      ['Who?', null],
    ])
    const { body: rows } = await v1.get(`/question-imports/${body.import.id}/rows?state=imported`)
    expect(rows.rows.map((row: { libraryQuestionId: string }) => row.libraryQuestionId)).toEqual(questions.map(({ id }) => id))
    expect(rows.pagination).toMatchObject({ total: 2 })
    const entry = await service.db.auditEntry.findFirstOrThrow({ where: { organizationId, action: 'imported_questions' } })
    expect(entry).toMatchObject({ actorKind: 'apiKey', actorId: apiKeyId, targetId: body.import.id })
  })

  it('imports nothing if the request only checks', async () => {
    const { v1, send, listed } = await open()
    const { status, body } = await send('::Q::Pi?{#3.14:0.01}\n\nA blank {=one} and {=two}', { check: true })
    expect([status, body.import.state, body.import.format]).toEqual([200, 'checked', 'gift'])
    expect(body.import.counts).toMatchObject({ ready: 1, partial: 1, imported: 0 })
    expect(body.rows).toMatchObject([{ state: 'partial', line: 3 }])
    expect((await v1.get(`/question-imports/${body.import.id}`)).body.import.state).toBe('checked')
    expect(await listed()).toEqual([])
  })

  it('accepts the encoding, the sheet, the line of the headings, and the meanings of columns', async () => {
    const { send } = await open()
    const letters = iconv.encode('Question,Answer\nGyõr?,x', 'windows-1252')
    const hungarian = await send(letters, { encoding: 'windows-1250', check: true })
    expect(hungarian.body.import.counts.ready).toBe(1)
    const columns = ['text', 'option:1', 'option:2', 'option:3', 'rightByText']
    const byText = await send('Question,Option 1,Option 2,Option 3,Correct\n1+1?,2,3,4,2', { columns, check: true })
    expect(byText.body.import.counts).toMatchObject({ ready: 1, refused: 0 })
    const below = await send('Our exam;\nQuestion;Right\nWho?;Ann', { delimiter: ';', headings: 2, check: true })
    expect(below.body.import.counts.ready).toBe(1)
    const sheet = await send(writeXlsx([['text'], ['Who?']]), { sheet: 'Sheet7', check: true })
    expect(sheet.body.error).toMatch(/^The file has no visible sheet “Sheet7”, but “.+”\. Choose one: sheet\.$/)
  })

  it.each<[what: string, content: string | Uint8Array, error: string | RegExp]>([
    [
      'letters of several encodings',
      iconv.encode('Question,Answer\nGyõr?,x', 'windows-1252'),
      'The letters fit more than one encoding. Choose one: encoding.',
    ],
    [
      'right answers with two readings',
      'Question,Option 1,Option 2,Option 3,Correct\n1+1?,2,3,4,2',
      'The right answers of 1 questions can be read in two ways. Use rightByLabel or rightByText: columns.',
    ],
    ['a sheet without questions', 'Name,Email\nAnn,ann@example.com', /No column holds the questions|doubtful/],
    ['a PDF', '%PDF-1.7', /^This is a PDF\./],
    ['an empty file', '', 'file must have at least one item'],
  ])('rejects %s, and imports nothing', async (_what, content, error) => {
    const { send, imports } = await open()
    const { status, body } = await send(content)
    expect([status, body]).toEqual([400, { error: typeof error === 'string' ? error : expect.stringMatching(error) }])
    expect(await imports()).toBe(0)
  })

  it('rejects a file that is not Base64, and unknown words', async () => {
    const { v1, send } = await open()
    const refused = 'file must be the content of the file in Base64, without line breaks'
    for (const file of ['Question,Answer', 'UXVl\nc3Rp', 'UXV!']) {
      const { status, body } = await v1.post('/question-imports').send({ file })
      expect([status, body.error]).toEqual([400, refused])
    }
    expect((await v1.post('/question-imports').send({})).body.error).toBe('file is required')
    expect((await send('Question\nWho?', { columns: ['question'] })).body.error).toMatch(/^columns\.0 must be one of /)
    expect((await send('Question\nWho?', { encoding: 'latin1' })).body.error).toMatch(/^encoding must be one of utf-8, /)
  })

  it('imports a repeated file once', async () => {
    const { send, listed, imports, finished } = await open()
    const headers = { 'idempotency-key': 'import-1' }
    const first = await send('Question\nWho?', {}, headers)
    const again = await send('Question\nWho?', {}, headers)
    expect(again.headers['idempotent-replayed']).toBe('true')
    expect(again.text).toBe(first.text)
    expect(await imports()).toBe(1)
    expect((await send('Question\nWhy?', {}, headers)).status).toBe(422)
    await finished(first.body.import.id)
    const third = await send('Question\nWho?')
    expect(third.body.import.counts).toMatchObject({ ready: 0, duplicate: 1 })
    expect(await listed()).toHaveLength(1)
  })

  it('requires a live key with the right to manage', async () => {
    const { organizationId, imports } = await open()
    const { key } = await createApiKey(service.system, { organizationId, name: service.make.unique('key'), mode: 'test' })
    const file = Buffer.from('Question\nWho?').toString('base64')
    const byTestKey = await service.v1(key).post('/question-imports').send({ file })
    expect([byTestKey.status, byTestKey.headers['x-error-code']]).toEqual([403, 'live_key_required'])
    const other = await createApiKey(service.system, { organizationId, name: service.make.unique('key'), mode: 'live' })
    const byReader = await service.v1(other.key).post('/question-imports').send({ file })
    expect([byReader.status, byReader.headers['x-error-code']]).toEqual([403, 'manage_required'])
    expect(await imports()).toBe(0)
  })
})

describe('GET /question-imports/{importId}', () => {
  it('does not find imports of another organization, or any after 30 days', async () => {
    const { v1, send, finished } = await open()
    const { body } = await send('Question\nWho?')
    await finished(body.import.id)
    const other = await open()
    for (const path of [`/question-imports/${body.import.id}`, `/question-imports/${body.import.id}/rows`]) {
      const { status, body: refusal } = await other.v1.get(path)
      expect([status, refusal]).toEqual([404, { error: 'Import not found' }])
    }
    service.clock.advance(31 * DAY_MS)
    await deleteExpiredImports(service.system)
    expect((await v1.get(`/question-imports/${body.import.id}`)).status).toBe(404)
  })
})
