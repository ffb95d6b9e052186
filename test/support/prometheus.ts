import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { onTestFinished } from 'vitest'
import { findFreePort } from './free-port.ts'
import { waitUntil } from './wait-until.ts'

export const hasPrometheus = spawnSync('promtool', ['--version']).status === 0

export type Series = { metric: Record<string, string>; value: [number, string] }

/**
 * Starts Prometheus with the shipped rules and the job that they expect. It scrapes these ports every second, and stops with the test.
 *
 * @param alertmanager port of Alertmanager.
 */
export async function startPrometheus(ports: number[], alertmanager?: number) {
  const folder = await mkdtemp(path.join(tmpdir(), 'assessments-prometheus-'))
  const port = await findFreePort()
  const configuration = {
    global: { scrape_interval: '1s', evaluation_interval: '1s' },
    rule_files: [path.resolve('ops/prometheus/rules.yml')],
    ...(alertmanager && { alerting: { alertmanagers: [{ static_configs: [{ targets: [`127.0.0.1:${alertmanager}`] }] }] } }),
    scrape_configs: [{ job_name: 'assessments', static_configs: [{ targets: ports.map((one) => `127.0.0.1:${one}`) }] }],
  }
  const file = path.join(folder, 'prometheus.yml')
  await writeFile(file, JSON.stringify(configuration)) // JSON is valid YAML
  const at = [`--config.file=${file}`, `--storage.tsdb.path=${folder}/data`, `--web.listen-address=127.0.0.1:${port}`]
  const child = spawn('prometheus', at, { stdio: 'ignore' })
  const exited = once(child, 'close')
  onTestFinished(async () => {
    child.kill('SIGTERM')
    await exited
    await rm(folder, { recursive: true, force: true })
  })
  const read = async (where: string) => {
    const answer = await fetch(`http://127.0.0.1:${port}/api/v1/${where}`)
    const { status, data, error } = (await answer.json()) as { status: string; data: unknown; error?: string }
    if (status !== 'success') throw new Error(`${where}: ${error}`)
    return data
  }
  const query = async (expression: string): Promise<Series[]> =>
    ((await read(`query?query=${encodeURIComponent(expression)}`)) as { result: Series[] }).result
  await waitUntil('Prometheus', () => read('status/runtimeinfo').catch(() => undefined))
  return { query, rules: () => read('rules') }
}
