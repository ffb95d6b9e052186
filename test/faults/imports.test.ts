import { readFile } from 'node:fs/promises'
import { setTimeout as sleep } from 'node:timers/promises'
import { strToU8 } from 'fflate'
import { expect, it, onTestFinished } from 'vitest'
import { signInAs } from '../support/portal.ts'
import { openTestDatabase, type ServiceProcess, startProcess } from '../support/processes.ts'
import { writeXlsx } from '../support/question-files.ts'
import { startServiceForTest } from '../support/service.ts'
import { waitUntil } from '../support/wait-until.ts'
import { scaled } from './scale.ts'

const QUESTIONS = scaled(500, 5_000)
/** As `npm start` has it. */
const AS_IN_PRODUCTION = ['--max-old-space-size=384', '--max-semi-space-size=8', 'src/server.ts']
const LETTERS = [...'ABCDEFGHIJKLMNOPQRST']

/** The most that a question can have: twenty options, each of them long. */
const sheet = writeXlsx([
  ['kind', 'text', 'category', 'right', ...LETTERS],
  ...Array.from({ length: QUESTIONS }, (_, i) => [
    'several choices',
    `Question ${i} ${'x'.repeat(800)}`,
    `Maths / ${i % 20}`,
    'A; B',
    ...LETTERS.map((letter) => `${letter} of ${i} ${'y'.repeat(100)}`),
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
      await (await fetch(`${url}/livez`)).text()
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

it(`reads files of ${QUESTIONS} questions beside other requests, and takes them all`, async () => {
  const database = await openTestDatabase()
  onTestFinished(() => database.db.$disconnect())
  const { id: organizationId } = await database.make.organization()
  const gate = await startServiceForTest({ DATABASE_URL: database.url, ROLE: 'api' })
  const admin = await signInAs(gate, organizationId, ['admin'])
  const service = await startProcess({ DATABASE_URL: database.url }, AS_IN_PRODUCTION)
  const upload = ({ url }: ServiceProcess, name: string, bytes: Uint8Array) => {
    const body = new FormData()
    body.append('file', new File([Buffer.from(bytes)], name))
    return fetch(`${url}${admin.home}questions/imports`, { method: 'POST', headers, body, redirect: 'manual' })
  }
  const headers = { cookie: admin.cookie()!, 'sec-fetch-site': 'same-origin' }
  // The first file of a process also loads what reads it.
  await upload(service, 'one.txt', strToU8('Who?{=Ann}'))
  for (const [name, bytes] of [
    ['questions.xlsx', sheet],
    ['questions.gift', gift],
  ] as const) {
    const end = watch(service)
    const since = performance.now()
    const answer = await upload(service, name, bytes)
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
      `${name}, ${megabytes} MB: read after ${readAfter} ms, another request waited ${longest} ms at most, taken after ${takenAfter} ms, ${await peakOf(service)}\n`,
    )
  }
})

it('goes on within seconds after its process was killed for the fifth time', async () => {
  const database = await openTestDatabase()
  onTestFinished(() => database.db.$disconnect())
  const { id: organizationId } = await database.make.organization()
  const gate = await startServiceForTest({ DATABASE_URL: database.url, ROLE: 'api' })
  const admin = await signInAs(gate, organizationId, ['admin'])
  const upload = gate.http().post(`${admin.home}questions/imports`).set('cookie', admin.cookie()!)
  const answer = await upload.set('sec-fetch-site', 'same-origin').attach('file', Buffer.from('Who?{=Ann}'), 'one.txt')
  await admin.post(`${answer.headers.location}/start`)
  const lost = await database.db.$executeRaw`
    UPDATE pgboss.job SET state = 'active', started_on = now(), heartbeat_on = now() - interval '7 seconds', retry_count = 4
    WHERE name = 'library-import'`
  expect(lost).toBe(1)
  await startProcess({ DATABASE_URL: database.url })
  // A job that has failed five times waits for 80 to 160 s.
  const isDone = () => database.db.libraryImport.findFirst({ where: { organizationId, finishedAt: { not: null } } })
  await waitUntil('the import', async () => (await isDone()) ?? undefined, 60_000)
})

const peakOf = async ({ pid }: ServiceProcess): Promise<string> =>
  (await readFile(`/proc/${pid}/status`, 'utf8').catch(() => '')).match(/VmHWM:\s+(.*)/)?.[1] ?? 'memory unknown'
