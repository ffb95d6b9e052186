import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { request } from 'node:https'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { text } from 'node:stream/consumers'
import { onTestFinished } from 'vitest'
import { findFreePort } from './free-port.ts'
import { waitUntil } from './wait-until.ts'

export const hasCaddy = spawnSync('caddy', ['version']).status === 0

export type CaddyRequest = { method?: string; headers?: Record<string, string>; body?: string | Buffer }
export type CaddyResponse = {
  status: number
  headers: Record<string, string | string[] | undefined>
  raw: string[]
  body: string
}

/**
 * Starts Caddy with ops/caddy/Caddyfile, like docker-compose.yml, but on free ports and for localhost, for which it creates its own
 * certificate. It waits two minutes instead of 15 s for a service, because test machines may be busy. It stops with the test.
 */
export async function startCaddy(upstream: string) {
  const folder = await mkdtemp(path.join(tmpdir(), 'assessments-caddy-'))
  const [httpPort, httpsPort] = [await findFreePort(), await findFreePort()]
  const config = path.join(folder, 'Caddyfile')
  await writeFile(config, (await readFile('ops/caddy/Caddyfile', 'utf8')).replace('lb_try_duration 15s', 'lb_try_duration 120s'))
  const child = spawn('caddy', ['run', '--config', config, '--adapter', 'caddyfile'], {
    env: {
      PATH: process.env.PATH,
      HOME: folder,
      XDG_DATA_HOME: folder,
      XDG_CONFIG_HOME: folder,
      SITE: 'localhost',
      HTTP_PORT: String(httpPort),
      HTTPS_PORT: String(httpsPort),
      UPSTREAM: upstream,
    },
    stdio: 'ignore',
  })
  const exited = once(child, 'close')
  onTestFinished(async () => {
    child.kill('SIGTERM')
    await exited
    await rm(folder, { recursive: true, force: true })
  })
  const authority = path.join(folder, 'caddy/pki/authorities/local/root.crt')
  const ca = await waitUntil("Caddy's certificate authority", () => readFile(authority, 'utf8').catch(() => undefined))
  const ask = (where: string, asked: CaddyRequest = {}) => sendRequest({ ca, port: httpsPort }, where, asked)
  await waitUntil('Caddy', () => ask('/healthz').catch(() => undefined))
  return { httpPort, ask }
}

async function sendRequest(
  by: { ca: string; port: number },
  where: string,
  { method = 'GET', headers = {}, body }: CaddyRequest,
): Promise<CaddyResponse> {
  const asking = request({
    host: '127.0.0.1',
    servername: 'localhost',
    path: where,
    method,
    ...by,
    headers: { host: 'localhost', ...headers },
  })
  const answered = once(asking, 'response')
  asking.end(body)
  const [answer] = await answered
  return { status: answer.statusCode, headers: answer.headers, raw: answer.rawHeaders, body: await text(answer) }
}
