import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { cp, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { endWithTest } from '../support/endings.ts'
import { findFreePort } from '../support/free-port.ts'
import { hasHaproxy } from '../support/haproxy.ts'
import { waitUntil } from '../support/wait-until.ts'

it.runIf(hasHaproxy)("answers with the service's own errors while no process is ready, with the files of ops/ha", async () => {
  let isReady = true
  const server = createServer((request, response) => {
    response.writeHead(request.url !== '/readyz' || isReady ? 200 : 503).end(request.url)
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(() => void server.close())
  const { port } = server.address() as AddressInfo

  const folder = await mkdtemp(path.join(tmpdir(), 'assessments-haproxy-'))
  onTestFinished(() => rm(folder, { recursive: true }))
  await cp('ops/ha', folder, { recursive: true })
  const listensOn = await findFreePort()
  const file = path.join(folder, 'haproxy-service.cfg')
  const shipped = await readFile(file, 'utf8')
  await writeFile(
    file,
    shipped.replace('0.0.0.0:8080', `127.0.0.1:${listensOn}`).replaceAll(/10\.0\.0\.\d+:3000/g, `127.0.0.1:${port}`),
  )
  const haproxy = spawn('haproxy', ['-db', '-f', file], { stdio: 'ignore' })
  endWithTest(haproxy, once(haproxy, 'close'))
  const ask = (resource: string) => fetch(`http://127.0.0.1:${listensOn}${resource}`).catch(() => undefined)
  for (const resource of ['/api/v1/tags', '/api/alternate/tags'])
    await waitUntil('the service', async () => ((await ask(resource))?.status === 200 ? true : undefined))

  isReady = false
  const refused = async (resource: string) => {
    const answer = await waitUntil('a refusal', async () => {
      const answer = await ask(resource)
      return answer?.status === 503 ? answer : undefined
    })
    expect(answer.headers.get('retry-after')).toBe('5')
    expect(answer.headers.get('content-type')).toBe('application/json; charset=utf-8')
    return answer.json()
  }
  expect(await refused('/api/v1/tags')).toEqual({ error: 'The service is busy. Please try again later.' })
  expect(await refused('/api/alternate/tags')).toEqual({ detail: 'Service temporarily unavailable, try again later.' })
})
