// npm run dev: runs the service, and rebuilds and restarts it after each change in src/.
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { watch } from 'node:fs/promises'
import path from 'node:path'
import { context } from 'esbuild'
import { Client } from 'pg'
import { bundles } from './bundle.ts'
import { startEmbeddedDatabase } from './db/embedded.ts'
import { loadConfig } from './runtime/config.ts'

/** Milliseconds to collect changes: editors and git write several files at once. */
const DEBOUNCE_MS = 50
/** Output of the build. */
const GENERATED = /^generated\b/

const stop = new AbortController()
process.once('SIGINT', () => stop.abort()).once('SIGTERM', () => stop.abort())

const { databaseUrl, dataDir } = loadConfig(process.env)
const database = databaseUrl === undefined ? await keepEmbeddedDatabase(dataDir) : undefined
const bundlers = await Promise.all(bundles.map((options) => context(options)))
await bundle()
let service = startService()
let timer: NodeJS.Timeout | undefined
let restarting = Promise.resolve()
try {
  for await (const { filename } of watch(import.meta.dirname, { recursive: true, signal: stop.signal })) {
    if (filename === null || GENERATED.test(filename)) continue
    clearTimeout(timer)
    timer = setTimeout(() => {
      restarting = restarting.then(rebuildAndRestart)
    }, DEBOUNCE_MS)
  }
} catch (error) {
  if (!stop.signal.aborted) throw error
} finally {
  clearTimeout(timer)
  await restarting
  await stopService(service)
  for (const bundler of bundlers) await bundler.dispose()
  await database?.release()
}

/** Keeps a connection, because the embedded database stops without one, as during a restart. */
async function keepEmbeddedDatabase(dataDir: string) {
  const { url, release } = await startEmbeddedDatabase({ dataDir })
  const client = new Client({ connectionString: url })
  client.on('error', () => {}) // the service restarts a database that was stopped by hand
  await client.connect()
  return { release: () => client.end().then(release) }
}

async function rebuildAndRestart(): Promise<void> {
  await Promise.all([bundle(), stopService(service)])
  service = startService()
}

/** esbuild prints its errors, and the pages keep the previous bundle. */
async function bundle(): Promise<void> {
  for (const bundler of bundlers) await bundler.rebuild().catch(() => {})
}

/** A service that fails to start prints its error; the next change starts it again. */
function startService(): ChildProcess {
  const nodeOptions = process.argv.slice(2) // such as --inspect
  const env = { STOP_NOTICE: '0', ...process.env } // no load balancer to wait for
  return spawn('sh', [path.join(import.meta.dirname, 'start.sh'), ...nodeOptions], { stdio: 'inherit', env })
}

async function stopService(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return
  const exited = once(child, 'exit')
  child.kill('SIGTERM')
  await exited
}
