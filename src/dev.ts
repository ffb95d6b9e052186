// npm run dev: runs the service, and starts it anew on each change in src/, with its scripts and stylesheets bundled anew.
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { watch } from 'node:fs/promises'
import path from 'node:path'
import { context } from 'esbuild'
import { Client } from 'pg'
import { bundles } from './bundle.ts'
import { startEmbeddedDatabase } from './db/embedded.ts'
import { loadConfig } from './runtime/config.ts'

/** Milliseconds: an editor, or git, writes several files at once. */
const GATHER_MS = 50
/** What is made of the sources, not a source. */
const GENERATED = /^generated\b/

const stop = new AbortController()
process.once('SIGINT', () => stop.abort()).once('SIGTERM', () => stop.abort())

const { databaseUrl, dataDir } = loadConfig(process.env)
const database = databaseUrl === undefined ? await holdEmbeddedDatabase(dataDir) : undefined
const bundlers = await Promise.all(bundles.map((options) => context(options)))
await bundle()
let service = start()
let timer: NodeJS.Timeout | undefined
let restarting = Promise.resolve()
try {
  for await (const { filename } of watch(import.meta.dirname, { recursive: true, signal: stop.signal })) {
    if (filename === null || GENERATED.test(filename)) continue
    clearTimeout(timer)
    timer = setTimeout(() => {
      restarting = restarting.then(restart)
    }, GATHER_MS)
  }
} catch (error) {
  if (!stop.signal.aborted) throw error
} finally {
  clearTimeout(timer)
  await restarting
  await end(service)
  for (const bundler of bundlers) await bundler.dispose()
  await database?.release()
}

/** The embedded database stops when nobody is connected to it any more: somebody is, while the service is started anew. */
async function holdEmbeddedDatabase(dataDir: string) {
  const { url, release } = await startEmbeddedDatabase({ dataDir })
  const client = new Client({ connectionString: url })
  client.on('error', () => {}) // where the database was stopped by hand, the service starts it
  await client.connect()
  return { release: () => client.end().then(release) }
}

async function restart(): Promise<void> {
  await Promise.all([bundle(), end(service)])
  service = start()
}

/** What can't be bundled is told by esbuild, and the pages keep what they had. */
async function bundle(): Promise<void> {
  for (const bundler of bundlers) await bundler.rebuild().catch(() => {})
}

/** What does not compile ends at once, which is told by its own output; the next change starts it anew. */
function start(): ChildProcess {
  const memory = ['--max-old-space-size=384', '--max-semi-space-size=8']
  const given = process.argv.slice(2) // options of Node's, such as --inspect
  const env = { STOP_NOTICE: '0', ...process.env } // no load balancer has to notice that it stops
  return spawn(process.execPath, [...memory, ...given, path.join(import.meta.dirname, 'server.ts')], { stdio: 'inherit', env })
}

async function end(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return
  const exited = once(child, 'exit')
  child.kill('SIGTERM')
  await exited
}
