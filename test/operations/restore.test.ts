import { randomBytes, randomUUID } from 'node:crypto'
import { chmod, mkdir, rm, truncate, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { Client } from 'pg'
import { describe, expect, it } from 'vitest'
import { runCliProcess } from '../cli/run-cli.ts'
import { hasBackrest, startBackedUpPostgres } from '../support/backrest.ts'
import { startProcess } from '../support/processes.ts'
import { SECRET_KEY } from '../support/service.ts'
import { waitUntil } from '../support/wait-until.ts'

async function query<Row>(connectionString: string, sql: string, values: unknown[] = []): Promise<Row[]> {
  const client = new Client({ connectionString })
  await client.connect()
  try {
    return (await client.query(sql, values)).rows
  } finally {
    await client.end()
  }
}

describe.skipIf(!hasBackrest)('a pgBackRest backup with the files of ops/pgbackrest', () => {
  it('passes the drill, which finds missing or truncated media, and restores a deleted table', async () => {
    const postgres = await startBackedUpPostgres()
    const { url } = postgres
    const DATA_DIR = path.join(postgres.folder, 'files')
    const one = async <Row>(sql: string, values?: unknown[]) => (await query<Row>(url, sql, values))[0]!
    expect((await runCliProcess(['demo'], { DATABASE_URL: url, DATA_DIR })).code).toBe(0)
    const files: string[] = []
    for (const bytes of [1_000, 2_000]) {
      const { key } = await one<{ key: string }>(
        `INSERT INTO media_files (id, organization_id, submission_id, kind, state, key, bytes, created_at)
         SELECT $1, organization_id, id, 'answer', 'ready', organization_id || '/' || $2, $3, now() FROM submissions LIMIT 1 RETURNING key`,
        [randomUUID(), randomBytes(16).toString('hex'), bytes],
      )
      await mkdir(path.join(DATA_DIR, 'media', key), { recursive: true })
      files.push(path.join(DATA_DIR, 'media', key, 'file'))
      await writeFile(files.at(-1)!, Buffer.alloc(bytes))
    }
    await chmod(DATA_DIR, 0o777)
    const service = await startProcess({ DATABASE_URL: url, DATA_DIR })
    await waitUntil('the events to be sequenced', async () => {
      const { waiting } = await one<{ waiting: number }>(`SELECT count(*)::int AS waiting FROM events WHERE position IS NULL`)
      return waiting === 0 || undefined
    })
    const counted = () =>
      one(`SELECT (SELECT count(*) FROM invites) AS invites, (SELECT max(position) FROM events) AS position,
                  (SELECT count(*) FROM missing_event_positions) AS gaps`)
    const before = await counted()

    /** Returns a time with a commit after it, because recovery to a time stops at the first later commit. */
    const note = async () => {
      const { at } = await one<{ at: Date }>(`SELECT clock_timestamp() AS at`)
      await waitUntil('the next second', () => Date.now() >= at.getTime() + 2_000 || undefined)
      await query(url, `UPDATE organizations SET updated_at = updated_at`)
      await query(url, 'SELECT pg_switch_wal()')
      return new Date(at.getTime() + 1_000)
    }
    const moment = await note()
    const drill = () =>
      postgres.run(path.resolve('ops/restore-drill'), {
        DATABASE_URL: url,
        SECRET_KEY,
        DATA_DIR,
        SCRATCH: path.join(postgres.folder, 'scratch'),
        METRICS_FILE: path.join(postgres.folder, 'drill.prom'),
        SECONDS_AGO: String(Math.floor((Date.now() - moment.getTime()) / 1_000)),
        MARGIN: '1',
      })

    const proven = await drill()
    expect(proven).toEqual({ code: 0, output: expect.stringMatching(/^Proven in \d+ s\.$/m) })
    expect(proven.output.match(/^ok /gm)).toHaveLength(6)

    await rm(files[0]!)
    await truncate(files[1]!, 1_999)
    const refuted = await drill()
    expect(refuted.code).toBe(1)
    for (const file of files) expect(refuted.output).toContain(path.relative(path.join(DATA_DIR, 'media'), file))
    expect(refuted.output.match(/^problem /gm)).toHaveLength(1)

    // Drop a table by mistake, and restore the time before it.
    await query(url, 'DROP TABLE invites CASCADE')
    service.kill('SIGTERM')
    await service.exited
    await postgres.stop()
    const target = moment.toISOString().replace('T', ' ').replace('Z', '+00')
    await postgres.mustRun(
      `pgbackrest --stanza=assessments --log-level-console=error --delta --type=time --target='${target}' --target-action=promote restore`,
    )
    await postgres.start()
    await waitUntil('the end of the recovery', async () => {
      const [found] = await query<{ recovers: boolean }>(url, 'SELECT pg_is_in_recovery() AS recovers').catch(() => [])
      return found?.recovers === false || undefined
    })
    expect(await counted()).toEqual(before)
    await startProcess({ DATABASE_URL: url, DATA_DIR })
    await waitUntil(
      'the gap in the feed',
      async () => (await one<{ gaps: string }>('SELECT count(*) AS gaps FROM missing_event_positions')).gaps === '1' || undefined,
    )
  })
})
