import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { createDb, openPool } from '../../src/db/client.ts'
import { hasAlertmanager, startAlertmanager } from '../support/alertmanager.ts'
import { factories, systemOn } from '../support/factories.ts'
import { findFreePort } from '../support/free-port.ts'
import { startPostgres } from '../support/postgres.ts'
import { ask, openTestDatabase, startProcess } from '../support/processes.ts'
import { hasPrometheus, startPrometheus } from '../support/prometheus.ts'
import { waitUntil } from '../support/wait-until.ts'

// Tests the shipped alert rules with a real fault, Prometheus, Alertmanager, and a receiver. The rules keep their real durations, so this
// takes minutes. The long windows are tested by promtool on generated series.

const MINUTES = 60_000
const PATIENCE_MS = 20 * MINUTES

/** Starts a process of the service with Prometheus and Alertmanager. @returns the notifications, and functions that wait for them. */
async function watch(env: Record<string, string>) {
  const METRICS_PORT = String(await findFreePort())
  const process = await startProcess({ METRICS_PORT, ...env })
  const alertmanager = await startAlertmanager()
  const prometheus = await startPrometheus([Number(METRICS_PORT)], alertmanager.port)
  const withStatus = (status: string) => alertmanager.notifications.filter((one) => one.status === status)
  return {
    process,
    prometheus,
    notifications: alertmanager.notifications,
    /** Repeats a request, as clients and load balancers do, until a notification with this status arrives. */
    async untilNotified(status: 'firing' | 'resolved', ask: () => Promise<unknown> = async () => {}) {
      const look = async () => {
        await ask().catch(() => {})
        return withStatus(status).length > 0 || undefined
      }
      await waitUntil(`a notification that it is ${status}`, look, PATIENCE_MS)
    },
    untilSuppressed: (alert: string) =>
      waitUntil(
        `${alert} to be suppressed`,
        async () => (await alertmanager.alerts()).some((one) => one.alert === alert && one.state === 'suppressed') || undefined,
        PATIENCE_MS,
      ),
  }
}

async function makeFolder(): Promise<string> {
  const folder = await mkdtemp(path.join(tmpdir(), 'assessments-alerts-'))
  onTestFinished(() => rm(folder, { recursive: true, force: true }))
  return folder
}

describe.skipIf(!hasPrometheus || !hasAlertmanager)('the person on call', () => {
  it('gets one page for an unresponsive database, none for the failing requests, and its resolution', async () => {
    const postgres = await startPostgres()
    onTestFinished(() => postgres.close())
    const service = await watch({ DATABASE_URL: postgres.url })
    const db = createDb(openPool(postgres.url, { max: 1 }))
    const { key } = await factories(systemOn(db)).organization()
    await db.$disconnect()
    const ask = () => fetch(`${service.process.url}/api/v1/invites`, { headers: { 'x-api-key': key } })
    const asked = 'increase(http_request_duration_seconds_count{route="/api/v1/invites"}[1m])'
    await waitUntil('Prometheus to count requests', async () => {
      await ask()
      const [found] = await service.prometheus.query(asked)
      return Number(found?.value[1] ?? 0) > 0 || undefined
    })
    await postgres.stopAtOnce()
    await service.untilNotified('firing', ask)
    await service.untilSuppressed('RequestsFail')
    await postgres.start()
    await service.untilNotified('resolved', ask)
    expect(service.notifications.filter(({ to }) => to === 'page')).toEqual([
      { to: 'page', status: 'firing', alert: 'DatabaseDoesNotAnswer' },
      { to: 'page', status: 'resolved', alert: 'DatabaseDoesNotAnswer' },
    ])
  })

  it('gets one page for a mail server that accepts no mails, and none for the waiting mails', async () => {
    const { url, db, make } = await openTestDatabase()
    onTestFinished(() => db.$disconnect())
    const nobody = `smtp://127.0.0.1:${await findFreePort()}`
    const service = await watch({ DATABASE_URL: url, SMTP_URL: nobody })
    const organization = await make.organization()
    const { id: assessmentId } = await make.assessment(organization.id)
    const body = JSON.stringify({ assessmentId, recipientEmail: 'a@example.com' })
    const headers = { 'x-api-key': organization.key, 'content-type': 'application/json' }
    const made = await fetch(`${service.process.url}/api/v1/invites`, { method: 'POST', headers, body })
    expect([made.status, await made.text()]).toEqual([201, expect.anything()])
    await waitUntil('the outage to be recorded', async () => (await db.mailOutage.count()) || undefined)
    // Move the start of the outage back by half an hour.
    const since = new Date(Date.now() - 30 * MINUTES)
    await db.mailOutage.updateMany({ data: { since } })
    await db.inviteEmail.updateMany({ data: { createdAt: since } })
    await service.untilNotified('firing')
    await service.untilSuppressed('MailsWait')
    expect(service.notifications).toEqual([{ to: 'page', status: 'firing', alert: 'MailServerTakesNoMails' }])
  })

  it('gets one page for a media store that stores no recordings', async () => {
    const { url, db } = await openTestDatabase()
    onTestFinished(() => db.$disconnect())
    const DATA_DIR = await makeFolder()
    const service = await watch({ DATABASE_URL: url, DATA_DIR })
    await rm(path.join(DATA_DIR, 'media'), { recursive: true, force: true })
    await writeFile(path.join(DATA_DIR, 'media'), 'not a folder')
    await service.untilNotified('firing', () => fetch(`${service.process.url}/readyz`))
    expect(service.notifications).toEqual([{ to: 'page', status: 'firing', alert: 'MediaStoreFails' }])
  })

  it('gets one page for a stalled sweep, even if several parts stall', async () => {
    const { url, db } = await openTestDatabase()
    onTestFinished(() => db.$disconnect())
    const service = await watch({ DATABASE_URL: url, ROLE: 'api' }) // no process runs sweeps
    const endedAt = new Date(Date.now() - 30 * MINUTES)
    const parts = ['expire_invites', 'delete_expired_media']
    await db.sweepPart.createMany({ data: parts.map((part) => ({ part, endedAt })) })
    await service.untilNotified('firing')
    expect(service.notifications).toEqual([{ to: 'page', status: 'firing', alert: 'SweepStandsStill' }])
  })

  it('gets no page for processes that are replaced one after another', async () => {
    const { url: DATABASE_URL, db, make } = await openTestDatabase()
    onTestFinished(() => db.$disconnect())
    const { id, key } = await make.organization()
    const { id: assessmentId } = await make.assessment(id)
    const ports = [String(await findFreePort()), String(await findFreePort())]
    const launch = (METRICS_PORT: string) => startProcess({ DATABASE_URL, METRICS_PORT, RATE_LIMIT_STANDARD: '1000000' })
    const running = await Promise.all(ports.map(launch))
    const alertmanager = await startAlertmanager()
    const prometheus = await startPrometheus(ports.map(Number), alertmanager.port)
    let nth = 0
    /** Sends to the processes in turn, and to the other one if a process accepts no connection, like a load balancer. */
    const invite = async () => {
      const body = { assessmentId, recipientEmail: `candidate${nth++}@example.com` }
      const [one, other] = nth % 2 ? running : running.toReversed()
      const { status } = await ask(one!, key, '/invites', body).catch(() => ask(other!, key, '/invites', body))
      expect(status).toBe(201)
    }
    const inviteFor = async (milliseconds: number) => {
      for (const end = Date.now() + milliseconds; Date.now() < end; ) await invite()
    }
    await inviteFor(MINUTES)
    for (const [i, port] of ports.entries()) {
      const inviting = inviteFor(MINUTES)
      running[i]!.kill('SIGTERM')
      await running[i]!.exited
      running[i] = await launch(port)
      await inviting
    }
    await inviteFor(5 * MINUTES)
    const [seen] = await prometheus.query('sum(increase(http_request_duration_seconds_count{route="/api/v1/invites"}[5m]))')
    expect(Number(seen!.value[1])).toBeGreaterThan(1_000)
    expect(alertmanager.notifications.filter(({ to }) => to === 'page')).toEqual([])
  })
})
