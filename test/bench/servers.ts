import { type ChildProcess, fork, spawn } from 'node:child_process'
import { once } from 'node:events'
import path from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { findFreePort } from '../support/free-port.ts'
import type { Cases } from './cases.ts'
import type { BenchDatabase } from './database.ts'
import { makeFolder, onRunEnd } from './endings.ts'

/** A server in a separate process. @property url without a trailing slash. */
export type Server = { url: string; pid: number; stop: () => Promise<void> }

/**
 * `service` is the service as in production. `floor` gives the same responses with hand-written SQL and node:http, about the fastest that
 * this database and Node allow. `plain` serves lists with ordinary Fastify and Prisma code.
 */
export type ServerName = 'service' | 'floor' | 'plain'
export type Servers = Record<ServerName, Server>
/** Addresses that receive mails and webhooks. */
export type Sink = { smtpUrl: string; hooksUrl: string }

const ROOT = path.join(import.meta.dirname, '../..')
export const BENCH_SECRET = 'the-secret-of-a-benchmark-which-guards-nothing'
/** Database connections of each server. */
const POOL_SIZE = '10'
const START_TIMEOUT_MS = 60_000
/** Stopping the service takes up to 9 s. */
const STOP_TIMEOUT_MS = 12_000

/** Starts the service as `npm start` does. */
export async function startService({ url, dataDir }: BenchDatabase, { smtpUrl }: Sink): Promise<Server> {
  const port = await findFreePort()
  return startServer('sh', ['src/start.sh'], port, {
    NODE_COMPILE_CACHE: 'node_modules/.cache/node-compile',
    DATABASE_URL: url,
    DATA_DIR: dataDir,
    DATABASE_POOL_SIZE: POOL_SIZE,
    PUBLIC_URL: `http://localhost:${port}`,
    SECRET_KEY: BENCH_SECRET,
    RATE_LIMIT_ENTERPRISE: '2000000000',
    RATE_LIMIT_CANDIDATE_LINK: '2000000000',
    RATE_LIMIT_CANDIDATE_NETWORK: '2000000000',
    SMTP_URL: smtpUrl,
    MAIL_FROM: 'Assessments <assessments@example.com>',
    WEBHOOK_ALLOW: '127.0.0.1',
    EVENTS_KEPT_DAYS: '3650', // the sweep would delete the generated events, which are old
  })
}

/** Starts one of the servers that the service is compared with. */
export const startComparedServer = async (name: 'floor' | 'plain', { url }: BenchDatabase): Promise<Server> =>
  startServer(process.execPath, [`test/bench/${name}.ts`], await findFreePort(), { DATABASE_URL: url, POOL_SIZE })

/** Measures the seconds from `npm start` to the first response. */
export const starts: Cases = () => {
  const start = async (dataDir: string) => {
    const begun = performance.now()
    const { stop } = await startServer('npm', ['start'], await findFreePort(), { HOME: process.env.HOME!, DATA_DIR: dataDir })
    const seconds = (performance.now() - begun) / 1000
    await stop()
    return [seconds]
  }
  const measure = async () => {
    const dataDir = await makeFolder()
    return { service: { 'new data folder, s': await start(dataDir), 'once more, s': await start(dataDir) } }
  }
  return [{ name: 'npm start', measure }]
}

async function startServer(program: string, args: string[], port: number, env: Record<string, string>): Promise<Server> {
  const what = args.at(-1)!
  const child = spawn(program, args, {
    cwd: ROOT,
    env: { PATH: process.env.PATH, PORT: String(port), ...env },
    // The servers write their logs as usual, but nobody reads them.
    stdio: ['ignore', 'ignore', 'inherit'],
  })
  const stop = () => stopProcess(child)
  onRunEnd(stop)
  const url = `http://127.0.0.1:${port}`
  const answer = () => fetch(`${url}/healthz`, { signal: AbortSignal.timeout(2_000) }).then((response) => response.arrayBuffer())
  const deadline = Date.now() + START_TIMEOUT_MS
  while (!(await answer().catch(() => undefined))) {
    if (child.exitCode !== null) throw new Error(`${what} ended with ${child.exitCode}`)
    if (Date.now() > deadline) throw new Error(`${what} does not answer after ${START_TIMEOUT_MS / 1000} s`)
    await sleep(10)
  }
  return { url, pid: child.pid!, stop }
}

/** Sends SIGTERM, and SIGKILL if the process does not end in time. */
async function stopProcess(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return
  const exited = once(child, 'exit')
  child.kill('SIGTERM')
  const killing = setTimeout(() => child.kill('SIGKILL'), STOP_TIMEOUT_MS)
  await exited
  clearTimeout(killing)
}

/** Starts the receiver of the run's mails and webhooks. */
export async function startSink(): Promise<Sink> {
  const child = fork(path.join(import.meta.dirname, 'sink.ts'), { execArgv: [] })
  onRunEnd(() => stopProcess(child))
  const [{ mails, hooks }] = (await once(child, 'message')) as [{ mails: number; hooks: number }]
  return { smtpUrl: `smtp://127.0.0.1:${mails}`, hooksUrl: `http://127.0.0.1:${hooks}/` }
}
