// npm run dev: runs the service, and starts it anew on each change in src/, with its scripts and stylesheets bundled anew.
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { watch } from 'node:fs/promises'
import { startEmbeddedDatabase } from './db/embedded.ts'
import { loadConfig } from './runtime/config.ts'

/** Milliseconds: an editor, or git, writes several files at once. */
const GATHER_MS = 50
/** What is made of the sources, not a source. */
const GENERATED = 'generated'

const stop = new AbortController()
process.once('SIGINT', () => stop.abort()).once('SIGTERM', () => stop.abort())

const { databaseUrl, dataDir } = loadConfig(process.env)
// Held here, it stays up while the service is started anew.
const database = databaseUrl === undefined ? await startEmbeddedDatabase({ dataDir }) : undefined
let service = start()
let timer: NodeJS.Timeout | undefined
let restarting = Promise.resolve()
try {
  for await (const { filename } of watch(import.meta.dirname, { recursive: true, signal: stop.signal })) {
    if (filename?.split('/')[0] === GENERATED) continue
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
  await database?.release()
}

async function restart(): Promise<void> {
  await end(service)
  service = start()
}

/** What does not compile ends at once, which is told by its own output; the next change starts it anew. */
function start(): ChildProcess {
  const memory = ['--max-old-space-size=384', '--max-semi-space-size=8']
  const given = process.argv.slice(2) // options of Node's, such as --inspect
  return spawn(process.execPath, [...memory, ...given, '--import', './src/bundle.ts', 'src/server.ts'], { stdio: 'inherit' })
}

async function end(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return
  const exited = once(child, 'exit')
  child.kill('SIGTERM')
  await exited
}
