import { spawn } from 'node:child_process'
import { once } from 'node:events'
import path from 'node:path'
import { createDb, type Db, openPool } from '../../src/db/client.ts'
import type { Deps, ServiceContext } from '../../src/domain/context.ts'
import { copyDatabase } from './copy-database.ts'
import { endWithTest } from './endings.ts'
import { type Factories, factories, systemOn } from './factories.ts'
import { searchLogLine } from './logged-secrets.ts'
import { SECRET_KEY } from './service.ts'
import { PATIENT, waitUntil } from './wait-until.ts'

const ROOT = path.join(import.meta.dirname, '../..')
/** Compile cache, which saves half of the processor time of a start. */
export const NODE_COMPILE_CACHE = path.join(ROOT, 'node_modules/.cache/node-compile')

/** A parsed line of the log. */
export type LogLine = { time: string; level: string; msg: string } & Record<string, unknown>
export type Exit = { code: number | null; signal: NodeJS.Signals | null }

/** The service in a separate process, as in production. */
export type ServiceProcess = {
  /** URL; empty before it listens. */
  url: string
  /** Returns its output so far, from both standard output and standard error. */
  output: () => string
  log: () => LogLine[]
  /** Waits for a log line with this message. */
  waitForLog: (msg: string) => Promise<LogLine>
  pid: number
  kill: (signal: NodeJS.Signals) => void
  exited: Promise<Exit>
}

/** Returns mail settings that complete the given ones, because the service requires them to start. */
export const mailOf = ({ SMTP_URL }: Record<string, string>): Record<string, string> =>
  SMTP_URL === undefined ? { MAIL: 'capture' } : { MAIL_FROM: 'Assessments <assessments@example.com>' }

/** Starts the service and returns at once. The process is killed at the end of the test, or at the end of the file if started outside a test. */
export function launchService(
  env: Record<string, string>,
  args = ['src/server.ts'],
  program: string = process.execPath,
): ServiceProcess {
  const settings = {
    PORT: '0',
    NODE_COMPILE_CACHE,
    SECRET_KEY,
    MAX_REQUEST_WAIT: '60000',
    DATABASE_POOL_SIZE: '5',
    RATE_LIMIT_CANDIDATE_LINK: '1000000',
    RATE_LIMIT_CANDIDATE_NETWORK: '1000000',
    ...mailOf(env),
    ...env,
  }
  const child = spawn(program, args, { cwd: ROOT, env: { PATH: process.env.PATH, ...settings } })
  let output = ''
  const exited = once(child, 'close').then(([code, signal]) => {
    for (const line of output.split('\n')) searchLogLine(line)
    return { code, signal } as Exit
  })
  endWithTest(child, exited)
  for (const stream of [child.stdout, child.stderr]) stream.setEncoding('utf8').on('data', (text: string) => (output += text))
  const log = () => readLog(output)
  return {
    get url() {
      return /Server listening at (http:[^"]+)/.exec(output)?.[1] ?? ''
    },
    output: () => output,
    log,
    waitForLog: (msg) =>
      waitUntil(`a line "${msg}" in the log`, () => log().find((line) => line.msg === msg)).catch((error) => {
        throw new Error(`${error.message}:\n${output.slice(-2_000)}`)
      }),
    pid: child.pid!,
    kill: (signal) => void child.kill(signal),
    exited,
  }
}

/** Starts the service, and waits until it listens and its background work has started. */
export async function startProcess(env: Record<string, string>, args?: string[], program?: string): Promise<ServiceProcess> {
  const service = launchService(env, args, program)
  const ended = service.exited.then(({ code }) => {
    throw new Error(`The service ended with ${code}:\n${service.output()}`)
  })
  ended.catch(() => {}) // the service may end later
  await Promise.race([waitUntil('the service to listen', () => service.url || undefined), ended])
  await Promise.race([waitUntil('the service to start its work', () => hasStarted(service.url)), ended])
  return service
}

async function hasStarted(url: string): Promise<true | undefined> {
  const answer = await fetch(`${url.replace('//0.0.0.0:', '//127.0.0.1:')}/readyz`)
  const { problems } = (await answer.json()) as { problems: string[] }
  return problems.includes('starting') ? undefined : true
}

/** Parses the complete JSON lines. Other output, such as the key that a first start prints, is meant for people. */
const readLog = (output: string): LogLine[] =>
  output
    .split('\n')
    .filter((line) => line.startsWith('{') && line.endsWith('}'))
    .map((line) => JSON.parse(line))

export type TestDatabase = { url: string; db: Db; deps: Deps; system: ServiceContext; make: Factories }

/** Creates a database for processes of the service, and connects to it to fill and inspect it. The caller disconnects. */
export async function openTestDatabase(): Promise<TestDatabase> {
  const url = await copyDatabase()
  const db = createDb(openPool(url, { max: 3 }))
  const system = systemOn(db)
  return { url, db, deps: system.deps, system, make: factories(system) }
}

/** Sends a request to v1 with an API key. It fails if no response arrives within the maximum wait of tests. */
export const ask = (service: ServiceProcess, key: string, resource: string, body?: unknown): Promise<Response> =>
  fetch(`${service.url}/api/v1${resource}`, {
    signal: AbortSignal.timeout(PATIENT.timeout),
    headers: { 'x-api-key': key, ...(body !== undefined && { 'content-type': 'application/json' }) },
    ...(body !== undefined && { method: 'POST', body: JSON.stringify(body) }),
  })
