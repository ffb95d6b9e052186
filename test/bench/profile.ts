import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { pathToFileURL } from 'node:url'
import type { Case } from './cases.ts'
import type { BenchDatabase } from './database.ts'
import { atTheEnd } from './endings.ts'
import { drive } from './load.ts'
import type { Options } from './options.ts'
import { startService } from './rivals.ts'

type Node = { id: number; callFrame: { functionName: string; url: string }; children?: number[] }
/** What V8 writes. Times are in microseconds of the machine's monotonic clock. */
type Profile = { nodes: Node[]; startTime: number; samples: number[]; timeDeltas: number[] }
type Span = { name: string; from: number; to: number }

const SOURCES = pathToFileURL(path.join(import.meta.dirname, '../../src')).href
const IDLE = '(idle)'
const CATEGORIES: [category: string, url: RegExp][] = [
  ['Prisma', /^wasm:|\/node_modules\/(@prisma|prisma)\/|\/src\/generated\//],
  ['pg', /\/node_modules\/(pg|pg-[a-z-]+|postgres-[a-z]+)\//],
  [
    'fastify and plugins',
    /\/node_modules\/(fastify|@fastify|avvio|find-my-way|light-my-request|fast-json-stringify|secure-json-parse)\//,
  ],
  ['pino', /\/node_modules\/(pino|sonic-boom|pino-[a-z-]+|quick-format-unescaped|safe-stable-stringify)\//],
  ['other packages', /\/node_modules\//],
  ['our src', new RegExp(`^${SOURCES}/`)],
  ['node: http and net', /^node:(_http|http|net|stream|internal\/(http|net|streams?|stream_base))/],
  ['node: files, as the log', /^node:(fs|internal\/fs)/],
  ['node: the rest', /^node:/],
]

/** Prints what the service spends its processor time on, for each of the cases. */
export async function profile(cases: Case[], database: BenchDatabase, smtpUrl: string, options: Options): Promise<void> {
  const folder = await mkdtemp(path.join(tmpdir(), 'assessments-profile-'))
  atTheEnd('the profile', () => rm(folder, { recursive: true, force: true }))
  const service = await startService(database, { smtpUrl, flags: ['--cpu-prof', `--cpu-prof-dir=${folder}`] })
  const spans: Span[] = []
  for (const { name, connections, variants } of cases)
    for (const variant of variants.filter(({ rival }) => rival === 'service')) {
      const load = { url: service.url, key: variant.organization.key, requests: variant.requests, connections }
      await drive(load, options.warmUp)
      const from = now()
      const { throughput } = await drive(load, options.seconds * options.rounds)
      spans.push({ name: `${name}: ${variant.name}, ${throughput.toFixed(0)} req/s while profiled`, from, to: now() })
    }
  await service.stop()
  const [file] = await readdir(folder)
  if (!file) throw new Error('The service has left no profile')
  const written: Profile = JSON.parse(await readFile(path.join(folder, file), 'utf8'))
  for (const span of spans) process.stdout.write(`\n${span.name}\n${toLines(written, span).join('\n')}\n`)
}

const now = () => Number(process.hrtime.bigint() / 1000n)

/** Self time of each category within the span, in percent of what was not idle, the largest first. */
function toLines({ nodes, startTime, samples, timeDeltas }: Profile, { from, to }: Span): string[] {
  const categories = categorize(nodes)
  const times = new Map<string, number>()
  let at = startTime
  samples.forEach((id, i) => {
    // A sample stands for the time until the next one.
    at += timeDeltas[i] ?? 0
    if (at < from || at > to) return
    const category = categories.get(id) ?? '(program)'
    times.set(category, (times.get(category) ?? 0) + (timeDeltas[i + 1] ?? 0))
  })
  const idle = times.get(IDLE) ?? 0
  times.delete(IDLE)
  const busy = [...times.values()].reduce((sum, time) => sum + time, 0)
  const percent = (time: number, whole: number) => `${((time / whole) * 100).toFixed(1).padStart(6)} %`
  const lines = [...times].sort(([, a], [, b]) => b - a).map(([name, time]) => `  ${name.padEnd(24)}${percent(time, busy)}`)
  return [...lines, `  ${'(idle), of all'.padEnd(24)}${percent(idle, idle + busy)}`]
}

/** What has no source of its own, as JSON.parse has none, counts for who calls it. */
function categorize(nodes: Node[]): Map<number, string> {
  const byId = new Map(nodes.map((node) => [node.id, node]))
  const categories = new Map<number, string>()
  const visit = (node: Node, ofCaller: string) => {
    const { functionName, url } = node.callFrame
    const own = /^\((idle|program|garbage collector)\)$/.test(functionName) ? functionName : undefined
    const category = own ?? CATEGORIES.find(([, pattern]) => pattern.test(url))?.[0] ?? ofCaller
    categories.set(node.id, category)
    for (const id of node.children ?? []) visit(byId.get(id)!, category)
  }
  if (nodes[0]) visit(nodes[0], '(program)')
  return categories
}
