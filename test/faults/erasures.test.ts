import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { Client } from 'pg'
import S3rver from 's3rver'
import { expect, it, onTestFinished, vi } from 'vitest'
import { createDb, openPool } from '../../src/db/client.ts'
import { createApiKey } from '../../src/domain/api-keys/api-keys.ts'
import type { ErasedCounts } from '../../src/domain/erasure/erasures.ts'
import { runCliProcess } from '../cli/run-cli.ts'
import { ADDRESS, dumpRows, hitsIn, idsOf, listStore, makeErasable } from '../support/erasing.ts'
import { type LogLine, startProcess } from '../support/processes.ts'
import { scaled } from '../support/scale.ts'
import { SECRET_KEY, startService } from '../support/service.ts'
import { startSmtpListener } from '../support/smtp.ts'
import { startTcpProxy } from '../support/tcp-proxy.ts'
import { waitUntil } from '../support/wait-until.ts'
import { TO_LOOPBACK } from '../support/webhooks.ts'

const OTHERS = scaled(3, 999)
const KILLS = scaled(3, 20)
/** Kills while the media store is unreachable. */
const KILLS_WITHOUT_STORE = Math.floor(KILLS / 2)
/** Minimum duration of a step, so that a kill interrupts it. */
const STEP_SECONDS = 0.2
const SLOW_MS = 900_000

/** Tables that change independently of the erasure, such as counters. */
const MOVING =
  /^(pgboss|public\.(event_sequence|audit_sequence|webhook_fanout|ats_fanout|sweep_parts|\w+_invite_counts|organization_media_bytes|webhook_endpoints|api_keys|erasures|erased_\w+|deleted_media_files|used_tokens|audit_entries|sign_in_attempts))/

const report = (what: object) => process.stdout.write(`${JSON.stringify(what)}\n`)

/** Creates a folder, and removes it when the test ends. */
async function makeFolder(): Promise<string> {
  const folder = await mkdtemp(path.join(tmpdir(), 'erasures-'))
  onTestFinished(() => rm(folder, { recursive: true, force: true }))
  return folder
}

/** Starts an S3 store behind a proxy that can cut off all connections. */
async function startStore() {
  const key = { AWS_ACCESS_KEY_ID: 'S3RVER', AWS_SECRET_ACCESS_KEY: 'S3RVER' }
  for (const [name, value] of Object.entries(key)) vi.stubEnv(name, value)
  onTestFinished(() => void vi.unstubAllEnvs())
  const server = new S3rver({
    ...{ address: '127.0.0.1', port: 0, silent: true, directory: await makeFolder() },
    configureBuckets: [{ name: 'recordings', configs: [] }],
  })
  const { port } = await server.run()
  onTestFinished(() => server.close())
  const proxy = await startTcpProxy({ port })
  onTestFinished(() => proxy.cut())
  const endpoint = encodeURIComponent(`http://127.0.0.1:${proxy.port}`)
  return { proxy, env: { ...key, MEDIA_URL: `s3://recordings/below?endpoint=${endpoint}&region=us-east-1` } }
}

/** Copies a database without connections, in place of a backup. @returns the URL of the copy. */
async function copyOf(databaseUrl: string): Promise<string> {
  const [from, to] = [new URL(databaseUrl), new URL(databaseUrl)]
  to.pathname = `${from.pathname}_backup`
  const admin = new URL(databaseUrl)
  admin.pathname = '/postgres'
  const client = new Client({ connectionString: admin.href })
  await client.connect()
  try {
    await client.query(`CREATE DATABASE ${to.pathname.slice(1)} TEMPLATE ${from.pathname.slice(1)}`)
  } finally {
    await client.end()
  }
  return to.href
}

const openDb = (url: string) => {
  const db = createDb(openPool(url, { max: 3 }))
  onTestFinished(() => db.$disconnect())
  return db
}

it(
  `erases one of ${OTHERS + 1} candidates despite ${KILLS} kills and a failing store, and again after a restore`,
  async () => {
    const store = await startStore()
    const smtp = await startSmtpListener({
      // Like many mail servers, it repeats the address in its error.
      onRcptTo: ({ address }, _session, callback) =>
        callback(
          address.toLowerCase() === ADDRESS.toLowerCase()
            ? Object.assign(new Error(`5.1.1 <${address}>: unknown`), { responseCode: 550 })
            : null,
        ),
    })
    onTestFinished(smtp.close)
    const ERASURE_LOG = path.join(await makeFolder(), 'erasures.jsonl')
    const env = { ...TO_LOOPBACK, ...store.env, SMTP_URL: smtp.url, ERASURE_LOG, DATA_DIR: await makeFolder() }
    const service = await startService({ ...env, MAIL_FROM: 'Assessments <assessments@example.com>' })
    const { organization, ids, media, receiver } = await makeErasable(service, { others: OTHERS })
    const scopes = ['candidates:erase'] as const
    const { key } = await createApiKey(service.system, { organizationId: organization.id, name: 'Eraser', mode: 'live', scopes })
    const erasedIds = await idsOf(service, ids)
    const before = await dumpRows(service)
    const stored = await listStore(service)
    expect([...before.values()].flat().filter((row) => hitsIn(row).length > 0).length).toBeGreaterThan(30)
    const { databaseUrl: url, deps } = service
    const { media: files } = deps
    await service.close()
    const backup = await copyOf(url)

    const db = openDb(url)
    await db.$executeRawUnsafe(`CREATE FUNCTION slow_down() RETURNS trigger LANGUAGE plpgsql AS
      $$ BEGIN PERFORM pg_sleep(${STEP_SECONDS}); RETURN NEW; END $$`)
    await db.$executeRawUnsafe('CREATE TRIGGER slow_down BEFORE UPDATE ON erasures FOR EACH ROW EXECUTE FUNCTION slow_down()')
    const launch = () => startProcess({ ...env, DATABASE_URL: url, PUBLIC_URL: 'http://localhost' })
    let running = await launch()
    const logged: LogLine[] = []
    await store.proxy.cut()
    const asked = await fetch(`${running.url}/api/v1/candidates`, {
      method: 'DELETE',
      headers: { 'x-api-key': key, 'content-type': 'application/json' },
      body: JSON.stringify({ email: ADDRESS }),
    })
    expect(asked.status).toBe(202)
    const { id } = ((await asked.json()) as { erasure: { id: string } }).erasure
    const find = () => db.erasure.findFirstOrThrow({ where: { id } })
    /** Makes killed and failed jobs due now, instead of after a minute. */
    const takeUp = (state: string) =>
      db.$executeRaw`UPDATE pgboss.job SET state = 'retry', start_after = now(), heartbeat_on = NULL
        WHERE name = 'erasure' AND state::text = ${state}`
    const steps: string[] = []
    for (let kill = 1; kill <= KILLS; kill++) {
      if (kill === KILLS_WITHOUT_STORE + 1) await store.proxy.mend()
      await waitUntil('the erasure to be in progress', async () => {
        await takeUp('retry')
        const [{ count }] = await db.$queryRaw<[{ count: number }]>`
          SELECT count(*)::int AS count FROM pgboss.job WHERE name = 'erasure' AND state = 'active'`
        return count > 0 || undefined
      })
      await sleep(Math.random() * 1_200)
      const { step, finishedAt } = await find()
      expect(finishedAt).toBe(null)
      steps.push(step)
      running.kill('SIGKILL')
      await running.exited
      logged.push(...running.log())
      await takeUp('active')
      running = await launch()
    }
    const erasure = await waitUntil(
      'the receipt',
      async () => {
        await takeUp('retry')
        const row = await find()
        return row.finishedAt ? row : undefined
      },
      SLOW_MS,
    )
    await waitUntil(
      'the last events to be delivered',
      async () => (await db.webhookDelivery.count({ where: { state: 'waiting' } })) === 0 || undefined,
    )
    running.kill('SIGTERM')
    await running.exited
    logged.push(...running.log())
    report({ killedAt: steps, counts: erasure.counts, others: OTHERS })

    // There is exactly one receipt, with the right counts.
    const lines = (await readFile(ERASURE_LOG, 'utf8')).trimEnd().split('\n')
    expect(lines).toHaveLength(1)
    expect(JSON.parse(lines[0]!)).toMatchObject({ id, counts: erasure.counts as ErasedCounts, subject: 'candidate' })
    expect(erasure.counts).toMatchObject({ invites: 4, submissions: 2, listRows: 2, suppressions: 2 })
    expect(await db.event.count({ where: { inviteId: { in: ids }, type: 'invite.erased' } })).toBe(4)

    // Nothing of the candidate remains, and all data of the other candidates does.
    const after = await dumpRows({ db } as never)
    const rows = [...after].flatMap(([name, all]) => all.map((row) => `${name} ${row}`))
    expect(rows.filter((row) => hitsIn(row).length > 0)).toEqual([])
    expect(logged.filter((line) => hitsIn(JSON.stringify(line)).length > 0)).toEqual([])
    const keys = media.filter(({ submissionId }) => erasedIds.includes(submissionId)).map((medium) => medium.key)
    const left = await listStore({ deps: { media: files } } as never)
    expect(left).toEqual(stored.filter((file) => !keys.some((one) => file.startsWith(one))))
    let compared = 0
    for (const [name, all] of before) {
      if (MOVING.test(name)) continue
      const kept = new Set(after.get(name))
      const ofOthers = all.filter((row) => hitsIn(row).length === 0 && !erasedIds.some((one) => row.includes(one)))
      compared += ofOthers.length
      expect([name, ofOthers.filter((row) => !kept.has(row))]).toEqual([name, []])
    }
    report({ rows: rows.length, compared, logLines: logged.length, webhooks: receiver.received.length })

    // Restoring the older backup brings the candidate's data back.
    const restored = { ...env, DATABASE_URL: backup, PUBLIC_URL: 'https://assessments.example.com', SECRET_KEY }
    const doctor = async () => {
      const { stdout } = await runCliProcess(['doctor', '--json'], restored)
      const { checks } = JSON.parse(stdout) as { checks: { name: string; problem: boolean; message: string }[] }
      return checks.find(({ name }) => name === 'erasures')
    }
    const copy = openDb(backup)
    const hits = async () =>
      [...(await dumpRows({ db: copy } as never))].flatMap(([name, all]) =>
        all.flatMap((row) => (hitsIn(row).length > 0 ? [`${name} ${row}`] : [])),
      )
    const cameBack = (await hits()).length
    expect(cameBack).toBeGreaterThan(30)
    expect(await doctor()).toMatchObject({ problem: true, message: expect.stringMatching(/^1 that ERASURE_LOG.*erase --again/) })
    const again = await runCliProcess(['erase', '--again', '--json'], restored)
    expect([again.code, JSON.parse(again.stdout)]).toEqual([0, [{ id, organizationId: organization.id, found: true }]])
    expect(await hits()).toEqual([])
    expect(await doctor()).toMatchObject({ problem: false })
    expect((await readFile(ERASURE_LOG, 'utf8')).trimEnd().split('\n')).toHaveLength(1)
    report({ cameBack, hitsAfterwards: 0 })
  },
  SLOW_MS,
)
