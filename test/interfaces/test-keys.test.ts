import { afterAll, beforeAll, expect, it } from 'vitest'
import { TEST_KEY_ACCESS } from '../../src/domain/api-keys/test-keys.ts'
import { createRowsToCall } from '../support/callable.ts'
import { KEY_HEADERS, type Operation, readOperations } from '../support/operations.ts'
import { fillBody, fillPath, type SampleOrganization } from '../support/sample-organization.ts'
import { type Service, startService } from '../support/service.ts'

let service: Service
let writes: Operation[]
let liveRows: (operation: Operation) => SampleOrganization
let testRows: SampleOrganization
beforeAll(async () => {
  service = await startService({ ROLE: 'api' }) // without a worker, no job changes rows meanwhile
  const operations = await readOperations(service)
  writes = operations.filter(({ method }) => method !== 'get')
  const { rowsFor } = await createRowsToCall(service, 'Live')
  liveRows = (operation) => rowsFor({ ...operation, isForTests: false })
  const trial = rowsFor({ ...operations[0]!, isForTests: true })
  testRows = { ...trial, tag: await service.make.tag(trial.id, { mode: 'test' }) }
})
afterAll(() => service.close())

/** Columns that every request may change: the last use of its key, and the positions of events. */
const IGNORED = `- 'last_used_at' - 'last_used_from' - 'position'`

/** The organization's rows in all tables, without test data. */
async function readLiveRows(): Promise<string[]> {
  const tables = await service.db.$queryRaw<{ name: string; columns: string[] }[]>`
    SELECT table_name AS name, array_agg(column_name::text) AS columns FROM information_schema.columns
    JOIN information_schema.tables USING (table_schema, table_name)
    WHERE table_schema = 'public' AND table_type = 'BASE TABLE' GROUP BY table_name`
  const selects = tables.flatMap(({ name, columns }) => {
    const key = name === 'organizations' ? 'id' : columns.includes('organization_id') && 'organization_id'
    const isLive = columns.includes('mode') ? `AND t.mode::text <> 'test'` : ''
    const where = `t."${key}" = '${testRows.id}' ${isLive}`
    return key ? [`SELECT '${name} ' || (to_jsonb(t) ${IGNORED})::text AS row FROM "${name}" t WHERE ${where}`] : []
  })
  const found = await service.db.$queryRawUnsafe<{ row: string }[]>(`${selects.join(' UNION ALL ')} ORDER BY row`)
  const { invite, webhook, batch } = testRows
  return found.map(({ row }) => row).filter((row) => [invite, webhook, batch].every(({ id }) => !row.includes(id)))
}

/** Example body of the API description, with the ids of these rows. */
function bodyOf({ body, example }: Operation, rows: SampleOrganization) {
  const filled = fillBody(body ?? {}, rows)
  const isOwn = (field: string) => field in filled && /id|assessment|tag|grader|email/i.test(field)
  const fields = Object.entries(example ?? filled)
  return Object.fromEntries(fields.map(([field, value]) => [field, isOwn(field) ? filled[field] : value]))
}

const send = (operation: Operation, rows: SampleOrganization) =>
  service.app.inject({
    method: operation.method.toUpperCase() as 'POST',
    url: fillPath(operation.path, rows),
    headers: { [KEY_HEADERS[operation.interface]]: testRows.key },
    ...(operation.body && { payload: bodyOf(operation, rows) }),
  })

/** Operations on live rows that change only rows of the key's mode. */
const CHANGES_ONLY_OWN_MODE = new Set(['replaceOpenLinkSettings'])

/** Tables without a mode. Their new rows belong to new test rows. */
const OF_TEST_ROWS = /^(invite_emails|invite_batch_rows) /

it('changes no live row for a test key, by any write operation of both interfaces', async () => {
  expect(writes.length).toBeGreaterThan(35)
  const before = await readLiveRows()
  expect(before.length).toBeGreaterThan(40)
  const succeeded = new Set<string>()
  for (const operation of writes) {
    for (const rows of [liveRows(operation), testRows]) {
      const { headers, statusCode } = await send(operation, rows)
      const isRefused = headers['x-error-code'] === 'live_key_required'
      const needsLiveKey = TEST_KEY_ACCESS[operation.scope] === 'nothing' && !CHANGES_ONLY_OWN_MODE.has(operation.id)
      expect([operation.id, isRefused]).toEqual([operation.id, needsLiveKey])
      if (statusCode < 300) succeeded.add(operation.id)
    }
  }
  expect(succeeded.size).toBeGreaterThan(15)
  const after = await readLiveRows()
  expect(before.filter((row) => !after.includes(row))).toEqual([])
  expect(after.filter((row) => !before.includes(row) && !OF_TEST_ROWS.test(row))).toEqual([])
})
