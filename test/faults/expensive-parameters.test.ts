import { existsSync, readFileSync } from 'node:fs'
import { Client } from 'pg'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { MAX_FILTER_LENGTH, MAX_FILTER_VALUES, MAX_SEARCH_WORDS } from '../../src/domain/limits.ts'
import { multiply } from '../support/multiply.ts'
import { type FieldSchema, KEY_HEADERS, type Operation, type Parameter, readOperations } from '../support/operations.ts'
import { type Query, recordQueries } from '../support/queries.ts'
import { createSampleOrganization, fillPath, ownIdFor, type SampleOrganization } from '../support/sample-organization.ts'
import { type Service, startService } from '../support/service.ts'
import { releaseRows, submitRows } from '../support/submissions.ts'

const ROWS = 3_000
/** The names and addresses of all rows contain this text, so a search for any part of it matches every row. */
const COMMON = 'abcdefghijklmnopqrstuvwxyz0123456789'
const LONGEST_OF_EIGHT = COMMON.length - MAX_SEARCH_WORDS + 1

// Limits of a request's cost. They allow a few times the usual cost, but not one join or SQL fragment for each word, value, or level.
const MOST_JOINS = 10
const MOST_SQL = 12_000
// Includes about 5 % for the sub-selects that scope tables to an organization; PostgreSQL flattens them.
const MOST_PLANNING_KIB = 2_560
const MOST_BACKEND_KIB = 64 * 1_024

let service: Service
let own: SampleOrganization
let tagIds: string[]
let operations: Operation[]
let observer: Client
beforeAll(async () => {
  service = await startService({ ROLE: 'api' })
  own = await createSampleOrganization(service, COMMON)
  await multiply(service, own, ROWS - 1)
  const of = { organizationId: own.id, inviteId: own.invite.id, assessmentId: own.assessment.id }
  const submissionId = await submitRows(service, of, COMMON)
  await releaseRows(service, { organizationId: own.id, submissionId }, own.member.id)
  tagIds = (await service.db.tag.findMany({ where: { organizationId: own.id } })).map(({ id }) => id)
  operations = (await readOperations(service)).filter(({ method, parameters }) => method === 'get' && parameters.length > 0)
  observer = new Client({ connectionString: service.databaseUrl })
  await observer.connect()
})
afterAll(async () => {
  await observer.end()
  await service.close()
})

const words = (count: number) => Array.from({ length: count }, (_, i) => COMMON.slice(i, i + LONGEST_OF_EIGHT)).join(' ')
const mediaFormats = ['text', 'audio', 'video', 'mixed']
const anyFormats = (count: number) => [...mediaFormats, ...Array.from({ length: count - 4 }, (_, i) => `format${i}`)].join()
const someTags = (count: number) => tagIds.slice(0, count).join()

/** Returns the most expensive values of a parameter that the OpenAPI document allows. */
function costliest({ name, schema }: Parameter): string[] {
  const only = { depth: '2', cursor: '0', recipientEmail: `${COMMON}@example.com` }[name]
  if (only !== undefined) return [only]
  const { type, format, enum: choices, maximum, maxLength = 0, items } = schema
  if (name === 'search' || name === 'recipient') return [words(MAX_SEARCH_WORDS), 'x'.repeat(maxLength)]
  if (name === 'page') return maximum === undefined ? ['last'] : [String(ROWS / 100), String(maximum)]
  if (name === 'page_size' || name === 'limit') return ['100']
  if (choices) return choices
  if (items) return [costliestItems(items)]
  if (format === 'uuid') return [ownIdFor(name, own)]
  if (format === 'date-time') return ['2000-01-01T00:00:00.000Z', '2100-01-01T00:00:00.000Z']
  if (maxLength > 0) return [COMMON, 'x'.repeat(maxLength)]
  if (type === 'boolean') return ['true', 'false']
  if (type === 'integer') return ['0']
  throw new Error(`What costs most of the parameter ${name}?`)
}

function costliestItems({ enum: choices, format }: FieldSchema): string {
  // Without the last choice, because a filter with all choices excludes nothing and costs less.
  if (choices) return Array.from({ length: MAX_FILTER_VALUES }, (_, i) => choices[i % (choices.length - 1)]).join()
  return format === 'uuid' ? someTags(MAX_FILTER_VALUES) : anyFormats(MAX_FILTER_VALUES)
}

type Pair = [name: string, value: string]

/** Returns queries with each parameter alone, with all parameters, and with only the parameters that exclude no rows. */
function costliestQueries({ parameters }: Operation): URLSearchParams[] {
  const values = parameters.filter((parameter) => parameter.in === 'query').map((one) => [one.name, costliest(one)] as const)
  const alone = values.flatMap(([name, all]) => all.map((value): Pair[] => [[name, value]]))
  const together = values.map(([name, [first]]): Pair => [name, first!])
  const passing = /^(page|page_size|limit|sort|order|depth|organization|tags|search)$/
  const wide = together.filter(([name]) => passing.test(name))
  return [...alone, together, wide].map((pairs) => new URLSearchParams(pairs))
}

async function ask({ interface: name, path }: Operation, query: URLSearchParams) {
  const request = { url: `${fillPath(path, own)}?${query}`, headers: { [KEY_HEADERS[name]]: own.key } }
  const { result, queries } = await recordQueries(async () => await service.app.inject(request))
  const reads = queries.filter(({ text }) => /^\s*select/i.test(text) && !text.includes('api_keys'))
  // v1 names the rejected field at the beginning of its error text. A successful response may be a page.
  const body = result.statusCode === 200 ? {} : result.json()
  const fields = name === 'v1' ? String(body.error).split(' ')[0] : Object.keys(body).join()
  return { status: result.statusCode, fields, queries: reads }
}

/** Returns the planner memory of a statement, in KiB. */
async function measurePlanning({ text, values }: Query): Promise<number> {
  const { rows } = await observer.query(`EXPLAIN (MEMORY, FORMAT JSON) ${text}`, values)
  return rows[0]['QUERY PLAN'][0].Planning['Memory Used']
}

/** Returns by how many KiB the peak size of the largest backend exceeds that of a new backend; 0 on systems without /proc. */
async function measureBackends(): Promise<number> {
  const beginner = new Client({ connectionString: service.databaseUrl })
  await beginner.connect()
  const { rows } = await beginner.query<{ pid: number; own: number }>(
    'SELECT pid, pg_backend_pid() AS own FROM pg_stat_activity WHERE datname = current_database()',
  )
  const peaks = rows.map(({ pid }) => readPeak(pid))
  const growth = Math.max(...peaks) - readPeak(rows[0]!.own)
  await beginner.end()
  return growth
}

/** Returns the peak address space of a process in KiB, with mapped files and shared memory; 0 for an ended process or on systems without /proc. */
function readPeak(pid: number): number {
  const file = `/proc/${pid}/status`
  return existsSync(file) ? Number(/^VmPeak:\s+(\d+)/m.exec(readFileSync(file, 'utf8'))?.[1]) : 0
}

/** Lists the costs of a request that exceed the limits. */
async function findFaults(queries: Query[]): Promise<string[]> {
  const costs: [what: string, cost: number, limit: number][] = [['KiB of a backend', await measureBackends(), MOST_BACKEND_KIB]]
  for (const query of queries) {
    costs.push(['joins', query.text.match(/\bjoin\b/gi)?.length ?? 0, MOST_JOINS])
    costs.push(['characters of SQL', query.text.length, MOST_SQL])
    costs.push(['KiB of planning', await measurePlanning(query), MOST_PLANNING_KIB])
  }
  return costs.filter(([, cost, limit]) => cost > limit).map(([what, cost]) => `${cost} ${what}`)
}

it('uses few joins and little memory for any documented parameters', async () => {
  const faults: object[] = []
  let asked = 0
  for (const operation of operations) {
    for (const query of costliestQueries(operation)) {
      const { status, queries } = await ask(operation, query)
      const found = await findFaults(queries)
      asked += queries.length
      if (status !== 200 || found.length > 0) faults.push({ path: operation.path, query: [...query.keys()], status, found })
    }
  }
  expect(faults).toEqual([])
  expect(asked).toBeGreaterThan(200)
})

it('rejects too many words, values, and characters before any query', async () => {
  const faults: object[] = []
  let refused = 0
  for (const operation of operations) {
    for (const { name, schema } of operation.parameters) {
      for (const value of beyond(name, schema)) {
        const { status, fields, queries } = await ask(operation, new URLSearchParams([[name, value]]))
        const found = await findFaults(queries)
        if (status === 400 && fields === name && queries.length === 0 && found.length === 0) refused++
        else faults.push({ path: operation.path, name, status, found })
      }
    }
  }
  expect(faults).toEqual([])
  expect(refused).toBeGreaterThan(20)
})

/** Returns values with one word, item, or character too many, and values as long as a URL may be. */
function beyond(name: string, { items, maxLength }: Parameter['schema']): string[] {
  const many = Array.from({ length: 3_000 }, (_, i) => i.toString(36)).join()
  if (name === 'search') return [`${words(MAX_SEARCH_WORDS)} ${COMMON}`, many]
  if (maxLength !== undefined) return ['x'.repeat(MAX_FILTER_LENGTH + 1), many]
  if (items?.format === 'uuid') return [someTags(MAX_FILTER_VALUES + 1), someTags(350)]
  if (items) return [anyFormats(MAX_FILTER_VALUES + 1), many]
  return []
}
