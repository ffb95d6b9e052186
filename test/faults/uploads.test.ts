import { execFile } from 'node:child_process'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { promisify } from 'node:util'
import { decodeHTML } from 'entities'
import { strToU8 } from 'fflate'
import { afterAll, describe, expect, it, onTestFinished } from 'vitest'
import { MAX_BATCH_ROWS } from '../../src/domain/limits.ts'
import { signInAs } from '../support/portal.ts'
import { openTestDatabase, type ServiceProcess, startProcess } from '../support/processes.ts'
import { sharedText, writeXlsx } from '../support/question-files.ts'
import { scaled } from '../support/scale.ts'
import { startServiceForFile } from '../support/service.ts'
import { waitUntil } from '../support/wait-until.ts'

const QUESTIONS = scaled(500, 5_000)
const LETTERS = [...'ABCDEFGHIJKLMNOPQRST']

/** The most that a question can have: twenty options, each of them long. */
const sheet = writeXlsx([
  ['kind', 'text', 'category', 'right', ...LETTERS],
  ...Array.from({ length: QUESTIONS }, (_, i) => [
    'several choices',
    `Question ${i} ${'x'.repeat(400)}`,
    `Maths / ${i % 20}`,
    'A; B',
    ...LETTERS.map((letter) => `${letter} of ${i} ${'y'.repeat(50)}`),
  ]),
])
/** GIFT with texts as long as they may be or, in the long form, of five megabytes, the longest file there may be. */
const LENGTH = Math.min(4_900, Math.floor(4_900_000 / QUESTIONS) - 40)
const gift = strToU8(Array.from({ length: QUESTIONS }, (_, i) => `::${i}::${'z'.repeat(LENGTH)} ${i}{=Ann ~Ben}`).join('\n\n'))

/** Asks the whole time whether a process lives. @returns the longest that an answer took, in milliseconds. */
function watch({ url }: ServiceProcess): () => Promise<number> {
  let isOver = false
  const watching = (async () => {
    let longest = 0
    while (!isOver) {
      const since = performance.now()
      await (await fetch(`${url}/livez`, { headers: { connection: 'close' } })).text()
      longest = Math.max(longest, performance.now() - since)
      await sleep(2)
    }
    return Math.round(longest)
  })()
  return () => {
    isOver = true
    return watching
  }
}

const database = await openTestDatabase()
afterAll(() => database.db.$disconnect())
const { id: organizationId } = await database.make.organization()
const { id: assessmentId } = await database.make.assessment(organizationId)
const gate = await startServiceForFile({ DATABASE_URL: database.url, ROLE: 'api' })
const admin = await signInAs(gate, organizationId, ['admin'])
// A kept connection may be closed by a service that is slow to read from it.
const headers = { cookie: admin.cookie()!, 'sec-fetch-site': 'same-origin', connection: 'close' }
const service = await startProcess({ DATABASE_URL: database.url }, ['src/start.sh'], 'sh')

const send = (path: string, body: FormData | URLSearchParams | string, type?: string) =>
  fetch(`${service.url}${admin.home}${path}`, {
    method: 'POST',
    headers: { ...headers, ...(type && { 'content-type': type }) },
    body,
    redirect: 'manual',
  })

function formOf(fields: Record<string, string>, name: string, bytes: Uint8Array | string): FormData {
  const form = new FormData()
  for (const field of Object.entries(fields)) form.append(...field)
  form.append(name, new File([Buffer.from(bytes)], 'upload'))
  return form
}
/** Confirms the columns that the portal took a table for. @returns the answer itself, if there are none to check. */
async function confirmColumns(answer: Response): Promise<Response> {
  const location = answer.headers.get('location') ?? ''
  if (!location.startsWith(`${admin.home}imports/`)) return answer
  const url = `${service.url}${location}`
  const [, shown] = /name="shown" value="([^"]*)"/.exec(await (await fetch(url, { headers })).text())!
  const body = new URLSearchParams({ action: 'continue', shown: decodeHTML(shown!) })
  return fetch(url, { method: 'POST', headers, body, redirect: 'manual' })
}
const upload = async (bytes: Uint8Array | string) => confirmColumns(await send('questions/imports', formOf({}, 'file', bytes)))
const uploadList = async (bytes: Uint8Array | string) =>
  confirmColumns(await send('invites/batches', formOf({ assessmentId }, 'file', bytes)))
const QUESTION = { inputType: 'text', responseType: 'text', scriptFormat: 'markdown', script: 'What is this?' }
const uploadPicture = (bytes: Uint8Array) =>
  send(`assessments/${assessmentId}/questions`, formOf({ ...QUESTION, decorative: 'yes' }, 'picture', bytes))

// The first file of a process also loads what reads it.
await upload('Who?{=Ann}')
await uploadList('ann@example.com')
const memoryAtFirst = await memoryOf(service, 'VmRSS')

it(`reads files of ${QUESTIONS} questions without delaying other requests, and imports them all`, async () => {
  for (const [name, bytes] of [
    ['questions.xlsx', sheet],
    ['questions.gift', gift],
  ] as const) {
    const end = watch(service)
    const since = performance.now()
    const answer = await upload(bytes)
    const readAfter = Math.round(performance.now() - since)
    const longest = await end()
    expect(answer.status).toBe(303)
    const importId = answer.headers.get('location')!.split('/').at(-1)!
    const of = { organizationId, importId }
    expect(await database.db.libraryImportRow.count({ where: { ...of, state: 'ready' } })).toBe(QUESTIONS)
    const startedAt = performance.now()
    await fetch(`${service.url}${answer.headers.get('location')}/start`, { method: 'POST', headers, redirect: 'manual' })
    const isDone = () => database.db.libraryImport.findFirst({ where: { id: importId, finishedAt: { not: null } } })
    await waitUntil('the import', async () => (await isDone()) ?? undefined, 300_000)
    const takenAfter = Math.round(performance.now() - startedAt)
    expect(await database.db.libraryQuestion.count({ where: of })).toBe(QUESTIONS)
    const megabytes = (bytes.length / 1e6).toFixed(1)
    process.stdout.write(
      `${name}, ${megabytes} MB: read after ${readAfter} ms, another request waited ${longest} ms at most, taken after ${takenAfter} ms\n`,
    )
  }
})

/** Megabytes by which uploads may let the service grow: two imports of all questions before, copies of the body, and garbage. */
const MAX_GROWTH = 250
/** Megabytes by which thirty simultaneous uploads may let the service grow. */
const MAX_FLOOD_GROWTH = 500

const rowsOf = (count: number, row: (i: number) => string) => Array.from({ length: count }, (_, i) => row(i)).join('')
/** Two bytes each in memory and in UTF-8. */
const wide = (length: number, i: number) => `${i} `.padEnd(length, '\u0100')
const manyTags = Array.from({ length: 600_000 }, (_, i) => i.toString(36)).join(';')

describe("the service's memory", () => {
  it.each<[what: string, status: number, send: () => Promise<Response>]>([
    [
      'the largest workbook',
      303,
      () => upload(writeXlsx([['text'], ...Array.from({ length: 5_000 }, (_, i) => [wide(990, i)])])),
    ],
    ['a workbook of 790 bytes with 152 MB of text', 422, () => upload(sharedText(190_000, 800))],
    ['a workbook with a little more text than 10 MB', 422, () => upload(sharedText(4_900, 2_050))],
    ['the largest CSV', 303, () => upload(`text,points\n${rowsOf(5_000, (i) => `${wide(515, i)},1\n`)}`)],
    ['a CSV of one row too many', 422, () => upload(`text,points\n${rowsOf(5_001, (i) => `${i},1\n`)}`)],
    ['the largest GIFT file', 303, () => upload(rowsOf(5_000, (i) => `${wide(510, i)}{}\n\n`))],
    [
      'a GIFT file whose category 5,000 questions repeat',
      303,
      () => upload(`$CATEGORY: ${'字'.repeat(2_000)}\n\n${'Q{}\n\n'.repeat(5_000)}`),
    ],
    [
      'the largest list of candidates',
      303,
      () => uploadList(rowsOf(MAX_BATCH_ROWS, (i) => `${wide(150, i)},c${i}@example.com\n`).replace(/^/, 'message,email\n')),
    ],
    ['a list of one row too many', 422, () => uploadList(rowsOf(MAX_BATCH_ROWS + 1, (i) => `c${i}@example.com\n`))],
    ['a list whose only row has 600,000 tags', 303, () => uploadList(`email,tags\nann@example.com,"${manyTags}"`)],
    ['a list of 4 million columns', 422, () => uploadList(`email\n${','.repeat(4_000_000)}`)],
    ['the largest picture', 303, () => uploadPicture(pngOf(4_800_000, 9_990))],
    ['a picture of too many chunks', 422, () => uploadPicture(pngOf(0, 10_001))],
    [
      'a form of a million fields',
      413,
      () => send('questions/imports', '&a'.repeat(1_000_000), 'application/x-www-form-urlencoded'),
    ],
    ['a form with files of 10,001 parts', 413, () => send('invites/batches', partsOf(10_001))],
  ])('stays near its initial size, with %s', async (what, status, attack) => {
    await writeFile(`/proc/${service.pid}/clear_refs`, '5') // the peak counts from here
    const end = watch(service)
    const answer = await attack()
    const longest = await end()
    const growth = (await memoryOf(service, 'VmHWM')) - memoryAtFirst
    process.stdout.write(
      `${what}: ${answer.status}, the peak was ${growth} MB above the ${memoryAtFirst} MB at first, another request waited ${longest} ms at most\n`,
    )
    expect(answer.status).toBe(status)
    expect(growth).toBeLessThan(MAX_GROWTH)
  })
})

it('takes some of thirty simultaneous large lists, rejects the others with 429, and answers other requests', async () => {
  const folder = await mkdtemp(path.join(tmpdir(), 'assessments-uploads-'))
  onTestFinished(() => rm(folder, { recursive: true }))
  const list = path.join(folder, 'list.csv')
  await writeFile(list, `email,message\n${rowsOf(MAX_BATCH_ROWS, (i) => `c${i}@example.com,${wide(140, i)}\n`)}`)
  await writeFile(`/proc/${service.pid}/clear_refs`, '5')
  const end = watch(service)
  const uploads = Array.from({ length: 30 }, () => uploadByCurl(`${admin.home}invites/batches`, { assessmentId }, list))
  const statuses = Object.groupBy(await Promise.all(uploads), (status) => status)
  const longest = await end()
  const growth = (await memoryOf(service, 'VmHWM')) - memoryAtFirst
  const counts = Object.entries(statuses).map(([status, sent]) => `${sent!.length} times ${status}`)
  process.stdout.write(
    `${counts.join(', ')}; the peak was ${growth} MB above the ${memoryAtFirst} MB at first, another request waited ${longest} ms at most\n`,
  )
  expect(Object.keys(statuses)).toEqual(['303', '429'])
  expect(growth).toBeLessThan(MAX_FLOOD_GROWTH)
})

/** Uploads a file with curl, so that this process stays free to measure the service. @returns the status of the answer. */
async function uploadByCurl(at: string, fields: Record<string, string>, file: string): Promise<string> {
  const form = [...Object.entries(fields).map(([name, value]) => `${name}=${value}`), `file=@${file}`].flatMap((field) => [
    '-F',
    field,
  ])
  const sent = ['-H', `cookie: ${headers.cookie}`, '-H', 'sec-fetch-site: same-origin', ...form]
  const { stdout } = await promisify(execFile)('curl', [
    '-s',
    '-o',
    '/dev/null',
    '-w',
    '%{http_code}',
    ...sent,
    `${service.url}${at}`,
  ])
  return stdout
}

function partsOf(count: number): FormData {
  const form = new FormData()
  for (let i = 0; i < count; i++) form.append('a', 'b')
  return form
}

function pngOf(bytes: number, chunks: number): Buffer {
  const chunk = (type: string, data: Buffer) => {
    const head = Buffer.alloc(8)
    head.writeUInt32BE(data.length)
    head.write(type, 4, 'latin1')
    return Buffer.concat([head, data, Buffer.alloc(4)])
  }
  const sides = Buffer.from([0, 0, 0, 8, 0, 0, 0, 8, 8, 2, 0, 0, 0])
  const texts = Array.from({ length: chunks }, () => chunk('tEXt', Buffer.alloc(0)))
  const signature = Buffer.from('\x89PNG\r\n\x1a\n', 'latin1')
  return Buffer.concat([
    signature,
    chunk('IHDR', sides),
    ...texts,
    chunk('IDAT', Buffer.alloc(bytes)),
    chunk('IEND', Buffer.alloc(0)),
  ])
}

/** Megabytes. */
async function memoryOf({ pid }: ServiceProcess, figure: 'VmRSS' | 'VmHWM'): Promise<number> {
  const [, kilobytes] = new RegExp(`${figure}:\\s+(\\d+)`).exec(await readFile(`/proc/${pid}/status`, 'utf8'))!
  return Math.round(Number(kilobytes) / 1_024)
}
