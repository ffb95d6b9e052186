import { request } from 'node:http'
import { networkInterfaces } from 'node:os'
import { text } from 'node:stream/consumers'
import { expect, it } from 'vitest'
import { copyDatabase } from '../support/copy-database.ts'
import { makeDataDir } from '../support/data-dir.ts'
import { hasHaproxy, startHaproxy } from '../support/haproxy.ts'
import { launchService, type ServiceProcess } from '../support/processes.ts'
import { waitUntil } from '../support/wait-until.ts'

const PUBLIC_URL = { local: 'http://localhost:3000', public: 'https://assess.example.com' }
const MAIL = {
  SMTP_URL: { MAIL: '', SMTP_URL: 'smtp://127.0.0.1:1', MAIL_FROM: 'a@example.com' },
  'MAIL=capture': { MAIL: 'capture' },
  'MAIL=mailbox': { MAIL: 'mailbox' },
  none: { MAIL: '' },
}
const REFUSED = 'refuses to start, names SMTP_URL and MAIL=capture'
const HIDDEN = 'no mailbox'
const SHOWN = 'mailbox with the printed token'

/** What each start leads to; docs/security.md has the same table. */
const EXPECTED = {
  embedded: {
    local: { SMTP_URL: HIDDEN, 'MAIL=capture': HIDDEN, 'MAIL=mailbox': SHOWN, none: SHOWN },
    public: { SMTP_URL: HIDDEN, 'MAIL=capture': HIDDEN, 'MAIL=mailbox': REFUSED, none: REFUSED },
  },
  own: {
    local: { SMTP_URL: HIDDEN, 'MAIL=capture': HIDDEN, 'MAIL=mailbox': SHOWN, none: REFUSED },
    public: { SMTP_URL: HIDDEN, 'MAIL=capture': HIDDEN, 'MAIL=mailbox': REFUSED, none: REFUSED },
  },
}

type Asked = { host?: string; headers?: Record<string, string>; to?: string; port?: number; path?: string }

/** A request with any Host, by a connection to any address of this machine. */
async function ask(service: ServiceProcess, { host, headers, to = '127.0.0.1', port, path = '/dev/mailbox' }: Asked = {}) {
  const listening = Number(new URL(service.url).port)
  const options = { host: to, port: port ?? listening, path, headers: { host: host ?? `localhost:${listening}`, ...headers } }
  const answer = await new Promise<import('node:http').IncomingMessage>((resolve, reject) => {
    request(options, resolve).on('error', reject).end()
  })
  return { status: answer.statusCode, headers: answer.headers, body: await text(answer) }
}

/** Waits until the service has started, with all that it prints, or has ended. */
async function start(env: Record<string, string>) {
  const service = launchService(env)
  const ended = await Promise.race([
    service.exited.then(({ code, signal }) => signal ?? code),
    waitUntil('the start', async () => {
      if (!service.url) return undefined
      return (await fetch(`${service.url.replace('0.0.0.0', '127.0.0.1')}/readyz`)).status === 200 || undefined
    }).then(() => undefined),
  ])
  return { service, ended }
}

const printedToken = (service: ServiceProcess) => /\/dev\/mailbox\?token=(\S+)/.exec(service.output())?.[1]
const findToken = (service: ServiceProcess) => waitUntil('the link to the mailbox', () => printedToken(service))

async function resultOf(env: Record<string, string>, isShown: boolean) {
  const { service, ended } = await start(env)
  if (ended !== undefined)
    return ended === 78 && /SMTP_URL.*MAIL=capture/.test(service.output()) ? REFUSED : `ends with ${ended}: ${service.output()}`
  const token = isShown ? await findToken(service) : printedToken(service)
  const cookie = { cookie: `mailbox=${token}` }
  const statuses = [
    await ask(service),
    await ask(service, { headers: cookie }),
    await ask(service, { host: 'assess.example.com', headers: cookie }),
    await ask(service, { headers: { ...cookie, 'x-forwarded-for': '203.0.113.7' } }),
  ].map(({ status }) => status)
  service.kill('SIGKILL')
  await service.exited
  if (token === undefined && statuses.every((status) => status === 404)) return HIDDEN
  return statuses.join() === '403,200,404,404' ? SHOWN : `token ${token}, ${statuses}`
}

it.each(['embedded', 'own'] as const)(
  'starts and shows captured mails by database, PUBLIC_URL and mail settings alone: %s database',
  async (database) => {
    const db: Record<string, string> =
      database === 'embedded' ? { DATA_DIR: await makeDataDir() } : { DATABASE_URL: await copyDatabase() }
    // Goes on meanwhile, so that the others need not start a server each.
    if (database === 'embedded') await start({ ...db, MAIL: 'capture' })
    const results: Record<string, Record<string, string>> = {}
    for (const [address, expected] of Object.entries(EXPECTED[database])) {
      results[address] = {}
      for (const [mail, outcome] of Object.entries(expected)) {
        const env = { ...db, PUBLIC_URL: PUBLIC_URL[address as 'local'], ...MAIL[mail as 'none'] }
        results[address][mail] = await resultOf(env, outcome === SHOWN)
      }
    }
    expect(results).toEqual(EXPECTED[database])
  },
)

it('starts without a mail server on a public address if it sends no mail', async () => {
  const env = { DATABASE_URL: await copyDatabase(), PUBLIC_URL: PUBLIC_URL.public, MAIL: '', ROLE: 'api' }
  const { service, ended } = await start(env)
  expect([ended, (await ask(service)).status]).toEqual([undefined, 404])
})

it('keeps captured mails from whoever comes through a proxy, from another machine or by another name, and from who lacks the token', async () => {
  const database = { DATABASE_URL: await copyDatabase(), MAIL: 'mailbox', HOST: '0.0.0.0' }
  const { service } = await start(database)
  const token = await findToken(service)
  const cookie = `mailbox=${token}`
  const statusOf = async (asked: Asked) => (await ask(service, { ...asked, headers: { cookie, ...asked.headers } })).status

  for (const host of ['localhost', 'LOCALHOST:80', '127.0.0.1:9', '127.8.8.8', '[::1]:3000'])
    expect([host, await statusOf({ host })]).toEqual([host, 200])
  for (const host of ['assess.example.com', 'localhost.example.com', '127.0.0.1.example.com', '0.0.0.0', '10.0.0.5', ''])
    expect([host, await statusOf({ host })]).toEqual([host, 404])
  for (const name of ['forwarded', 'via', 'x-real-ip', 'x-forwarded-host', 'x-forwarded-proto', 'true-client-ip', 'cf-connecting-ip'])
    expect([name, await statusOf({ headers: { [name]: 'localhost' } })]).toEqual([name, 404])

  // What nginx sends by default of anybody's request: Host is the address of proxy_pass, and no header tells of the client.
  const asNginx = { headers: { connection: 'close', cookie: '' } }
  const locked = await ask(service, asNginx)
  expect([locked.status, locked.body]).toEqual([403, expect.stringContaining('Open the mailbox by its link')])
  expect(locked.body).not.toContain('@')
  const wrong = ['', 'A'.repeat(22), `${token}A`, token.slice(1)]
  for (const path of wrong.map((one) => `/dev/mailbox?token=${one}`))
    expect((await ask(service, { ...asNginx, path })).status).toBe(403)

  if (hasHaproxy) {
    const port = Number(new URL(service.url).port)
    const proxied = Number(new URL((await startHaproxy({ service: port })).url).port)
    expect(await statusOf({ port: proxied, host: 'assess.example.com' })).toBe(404)
    expect((await ask(service, { port: proxied })).status).toBe(403)
  }
  const outside = Object.values(networkInterfaces()).flatMap((all) => all ?? [])
  const to = outside.find(({ internal, family }) => !internal && family === 'IPv4')?.address
  if (to) {
    expect(await statusOf({ to })).toBe(200) // as from the bridge of a container
    const embedded = await start({ DATA_DIR: await makeDataDir(), MAIL: '', HOST: '0.0.0.0' })
    const headers = { cookie: `mailbox=${await findToken(embedded.service)}` }
    expect((await ask(embedded.service, { headers })).status).toBe(200)
    expect((await ask(embedded.service, { headers, to })).status).toBe(404)
  }
})

it('keeps the token of the printed link in a cookie, out of the address and of the log, over restarts', async () => {
  const env = { DATABASE_URL: await copyDatabase(), MAIL: 'mailbox' }
  const { service } = await start(env)
  const token = await findToken(service)
  const { status, headers } = await ask(service, { path: `/dev/mailbox?search=kim&token=${token}` })
  expect([status, headers.location]).toEqual([303, '/dev/mailbox?search=kim'])
  expect(headers['set-cookie']).toEqual([`mailbox=${token}; Path=/dev/mailbox; HttpOnly; SameSite=Lax`])
  expect(JSON.stringify(service.log())).not.toContain(token)
  service.kill('SIGTERM')
  await service.exited
  expect(await findToken((await start(env)).service)).toBe(token)
})
