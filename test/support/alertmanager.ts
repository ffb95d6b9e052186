import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { json } from 'node:stream/consumers'
import { onTestFinished } from 'vitest'
import { findFreePort } from './free-port.ts'
import { waitUntil } from './wait-until.ts'

export const hasAlertmanager = spawnSync('prometheus-alertmanager', ['--version']).status === 0

/** A notification: receiver, status, and alert. */
export type AlertNotification = { to: string; status: string; alert: string }

/** Starts Alertmanager with the shipped file, changed only to notify the test's own receiver. It stops with the test. */
export async function startAlertmanager() {
  const notifications: AlertNotification[] = []
  const receiver = createServer(async (request, response) => {
    const { status, groupLabels } = (await json(request)) as { status: string; groupLabels: { alertname: string } }
    notifications.push({ to: request.url!.slice(1), status, alert: groupLabels.alertname })
    response.end()
  }).listen(0, '127.0.0.1')
  await once(receiver, 'listening')
  const folder = await mkdtemp(path.join(tmpdir(), 'assessments-alertmanager-'))
  const shipped = await readFile('ops/prometheus/alertmanager.yml', 'utf8')
  const { port: receiverPort } = receiver.address() as AddressInfo
  await writeFile(path.join(folder, 'alertmanager.yml'), shipped.replaceAll('127.0.0.1:9095', `127.0.0.1:${receiverPort}`))
  const port = await findFreePort()
  const at = [`--config.file=${folder}/alertmanager.yml`, `--storage.path=${folder}/data`, '--cluster.listen-address=']
  const child = spawn('prometheus-alertmanager', [...at, `--web.listen-address=127.0.0.1:${port}`], { stdio: 'ignore' })
  const exited = once(child, 'close')
  onTestFinished(async () => {
    child.kill('SIGTERM')
    await exited
    receiver.close()
    await rm(folder, { recursive: true, force: true })
  })
  const ready = () =>
    fetch(`http://127.0.0.1:${port}/-/ready`).then(
      ({ ok }) => ok || undefined,
      () => undefined,
    )
  await waitUntil('Alertmanager', ready)
  /** Returns all alerts, including suppressed ones. */
  const alerts = async () => {
    const answer = await fetch(`http://127.0.0.1:${port}/api/v2/alerts`)
    const all = (await answer.json()) as { labels: { alertname: string }; status: { state: string } }[]
    return all.map(({ labels, status }) => ({ alert: labels.alertname, state: status.state }))
  }
  return { port, notifications, alerts }
}
