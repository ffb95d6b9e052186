import { spawnSync } from 'node:child_process'
import { readFile } from 'node:fs/promises'
import { beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { parse } from 'yaml'
import { findFreePort } from '../support/free-port.ts'
import { openTestDatabase, startProcess } from '../support/processes.ts'
import { hasPrometheus, startPrometheus } from '../support/prometheus.ts'
import { startServiceForFile } from '../support/service.ts'
import { waitUntil } from '../support/wait-until.ts'

type Alert = { alert: string; expr: string; labels: { severity: string }; annotations: { summary: string; runbook: string } }
type Rule = Alert | { record: string; expr: string }
type Panel = { title: string; targets: { expr: string }[] }

const service = await startServiceForFile()
let rules: Rule[]
let alerts: Alert[]
let panels: Panel[]
beforeAll(async () => {
  const { groups } = parse(await readFile('ops/prometheus/rules.yml', 'utf8')) as { groups: { rules: Rule[] }[] }
  rules = groups.flatMap((group) => group.rules)
  alerts = rules.filter((rule) => 'alert' in rule)
  panels = JSON.parse(await readFile('ops/grafana/dashboard.json', 'utf8')).panels
})

/** Metrics of Prometheus, of the restore drill, and of a service with a replica. */
const ELSEWHERE = ['up', 'restore_drill_success_timestamp_seconds', 'replica_lateness_seconds']

/** Metrics in a PromQL expression: words that are neither labels nor functions nor keywords. */
function metricsIn(expression: string): string[] {
  const bare = expression
    .replaceAll(/\{[^}]*\}|\[[^\]]*\]|"[^"]*"/g, ' ')
    .replaceAll(/\b(by|on|without|ignoring)\s*\([^)]*\)/g, ' ')
    .replaceAll(/\b[a-z_]+\s*\(/g, ' (')
  const words = bare.match(/[a-z][a-z0-9_:]*/g) ?? []
  return words.filter((word) => !['and', 'or', 'unless', 'bool', 'offset', 'by', 'sum', 'h', 'e9'].includes(word))
}

it('queries only metrics that a running service exposes', async () => {
  await service.http().get('/healthz')
  const shown = await service.metrics.registry.metrics()
  const names = new Set(shown.match(/^[a-z][a-z0-9_]*/gm))
  const recorded = rules.flatMap((rule) => ('record' in rule ? [rule.record] : []))
  const asked = [...rules.map(({ expr }) => expr), ...panels.flatMap(({ targets }) => targets.map(({ expr }) => expr))]
  expect(asked.length).toBeGreaterThan(50)
  for (const expression of asked) {
    const metrics = metricsIn(expression)
    expect(metrics.length, expression).toBeGreaterThan(0)
    expect(metrics.filter((name) => ![...names, ...recorded, ...ELSEWHERE].includes(name))).toEqual([])
  }
})

it('has a row for each alert in the section its runbook leads to, with its meaning and what to do, and for no others', async () => {
  const page = await readFile('docs/operating/troubleshooting.md', 'utf8')
  const sections = page.slice(page.indexOf('\n## Alerts'), page.indexOf('\n## Check')).split(/^### /m).slice(1)
  const rows = sections.flatMap((section) =>
    [...section.matchAll(/^\| ([A-Z][A-Za-z, ]+) \| .{20,} \| .{10,} \|$/gm)].flatMap(([, names]) =>
      names!.split(', ').map((alert) => ({ alert, runbook: section.split('\n')[0]!.toLowerCase() })),
    ),
  )
  const expected = alerts.map(({ alert, annotations }) => ({ alert, runbook: annotations.runbook }))
  expect(rows.map(({ alert, runbook }) => ({ alert, runbook: `docs/operating/troubleshooting.md#${runbook}` }))).toEqual(expected)
  for (const { labels } of alerts) expect(['page', 'ticket']).toContain(labels.severity)
})

describe.skipIf(!hasPrometheus)("Prometheus' tooling", () => {
  const run = (tool: string, ...given: string[]) => {
    const { status, stdout, stderr } = spawnSync(tool, given, { encoding: 'utf8' })
    expect({ status, output: status === 0 ? '' : stdout + stderr }).toEqual({ status: 0, output: '' })
  }

  it('accepts the rules, their tests, and the configuration', () => {
    run('promtool', 'check', 'config', 'ops/prometheus/prometheus.yml')
    run('promtool', 'test', 'rules', 'ops/prometheus/rules.test.yml')
  })

  it.skipIf(spawnSync('amtool', ['--version']).status !== 0)('accepts the Alertmanager configuration', () => {
    run('amtool', 'check-config', 'ops/prometheus/alertmanager.yml')
  })

  it('has a test in which each alert fires', async () => {
    type Tried = { tests: { alert_rule_test: { alertname: string; exp_alerts: unknown[] }[] }[] }
    const { tests } = parse(await readFile('ops/prometheus/rules.test.yml', 'utf8')) as Tried
    const fired = tests.flatMap((one) => one.alert_rule_test.filter(({ exp_alerts }) => exp_alerts.length > 0))
    const names = new Set(fired.map(({ alertname }) => alertname))
    expect(alerts.map(({ alert }) => alert).filter((alert) => !names.has(alert))).toEqual([])
  })
})

it.skipIf(!hasPrometheus)('fills each dashboard panel and rule in a real Prometheus, except for missing components', async () => {
  const { url: DATABASE_URL, db } = await openTestDatabase()
  onTestFinished(() => db.$disconnect())
  const METRICS_PORT = String(await findFreePort())
  const process = await startProcess({ DATABASE_URL, METRICS_PORT })
  const prometheus = await startPrometheus([Number(METRICS_PORT)])
  await waitUntil('two samples of requests', async () => {
    await fetch(`${process.url}/api/v1/invites`)
    const [found] = await prometheus.query('count_over_time(http_request_duration_seconds_count{route="/api/v1/invites"}[1m])')
    return Number(found?.value[1] ?? 0) >= 2 || undefined
  })
  const empty: string[] = []
  for (const { title, targets } of panels)
    for (const { expr } of targets)
      if ((await prometheus.query(expr.replaceAll('$__rate_interval', '1m'))).length === 0) empty.push(title)
  expect(empty).toEqual(['How late the replica is'])

  for (const { expr } of rules) await prometheus.query(expr)
  await waitUntil('the shares to be recorded', async () => {
    const [failed] = await prometheus.query('service:requests_failed:ratio_rate5m')
    return failed && Number(failed.value[1]) === 0 ? true : undefined
  })
  const firing = await prometheus.query('ALERTS{alertstate="firing"}')
  expect(firing).toEqual([])
})
