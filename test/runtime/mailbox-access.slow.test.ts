import { type IncomingMessage, request } from 'node:http'
import { networkInterfaces } from 'node:os'
import { text } from 'node:stream/consumers'
import { beforeAll, describe, expect, it } from 'vitest'
import { loadConfig } from '../../src/runtime/config.ts'
import { copyDatabase } from '../support/copy-database.ts'
import { makeDataDir } from '../support/data-dir.ts'
import { hasHaproxy, startHaproxy } from '../support/haproxy.ts'
import { launchService, type ServiceProcess, startProcess } from '../support/processes.ts'
import { LONG } from '../support/scale.ts'
import { SECRET_KEY } from '../support/service.ts'
import { waitUntil } from '../support/wait-until.ts'

const PUBLIC_URL = { local: 'http://localhost:3000', public: 'https://assess.example.com' }
const MAIL = {
  SMTP_URL: { SMTP_URL: 'smtp://127.0.0.1:1', MAIL_FROM: 'a@example.com', MAIL: '' },
  'MAIL=capture': { MAIL: 'capture' },
  'MAIL=mailbox': { MAIL: 'mailbox' },
  none: { MAIL: '' },
}
const REFUSED = 'refuses to start'
const HIDDEN = 'no mailbox'
const LOOPBACK = 'mailbox for loopback'
const PRIVATE = 'mailbox for loopback and private addresses'

/** Expected access by environment, as in the table of docs/security.md. */
const EXPECTED = {
  embedded: {
    local: { SMTP_URL: HIDDEN, 'MAIL=capture': HIDDEN, 'MAIL=mailbox': PRIVATE, none: LOOPBACK },
    public: { SMTP_URL: HIDDEN, 'MAIL=capture': HIDDEN, 'MAIL=mailbox': REFUSED, none: REFUSED },
  },
  own: {
    local: { SMTP_URL: HIDDEN, 'MAIL=capture': HIDDEN, 'MAIL=mailbox': PRIVATE, none: REFUSED },
    public: { SMTP_URL: HIDDEN, 'MAIL=capture': HIDDEN, 'MAIL=mailbox': REFUSED, none: REFUSED },
  },
} as const
type Case = { database: 'embedded' | 'own'; address: 'local' | 'public'; mail: keyof typeof MAIL; expected: string }
const CASES: Case[] = Object.entries(EXPECTED).flatMap(([database, addresses]) =>
  Object.entries(addresses).flatMap(([address, mails]) =>
    Object.entries(mails).map(([mail, expected]) => ({ database, address, mail, expected }) as Case),
  ),
)
/** Cases to start as processes: all 16 in the long run, otherwise three of different kinds. */
const STARTED = CASES.filter(
  ({ database, address, mail }) =>
    LONG || (database === 'embedded' && (mail === 'none' || (mail === 'MAIL=capture' && address === 'public'))),
)
const settingsOf = ({ address, mail }: Case) => ({ PUBLIC_URL: PUBLIC_URL[address], ...MAIL[mail] })

/** An address of this machine that is not loopback. Connections to it also come from it. */
const OUTSIDE = Object.values(networkInterfaces())
  .flatMap((all) => all ?? [])
  .find(({ internal, family }) => !internal && family === 'IPv4')?.address

type Asked = { host?: string; headers?: Record<string, string>; to?: string; port?: number; path?: string }

/** Sends a request with any Host to any address of this machine. */
async function ask(service: ServiceProcess, { host, headers, to = '127.0.0.1', port, path = '/dev/mailbox' }: Asked = {}) {
  const listening = Number(new URL(service.url).port)
  const options = { host: to, port: port ?? listening, path, headers: { host: host ?? `localhost:${listening}`, ...headers } }
  const answer = await new Promise<IncomingMessage>((resolve, reject) => {
    request(options, resolve).on('error', reject).end()
  })
  return { status: answer.statusCode, headers: answer.headers, body: await text(answer) }
}

const printedToken = (service: ServiceProcess) => /\/dev\/mailbox\?token=(\S+)/.exec(service.output())?.[1]
const findToken = (service: ServiceProcess) => waitUntil('the link to the mailbox', () => printedToken(service))

async function resultOf(env: Record<string, string>, { expected }: Case) {
  const service = launchService({ ...env, HOST: '0.0.0.0' })
  const ended = service.exited.then(({ code, signal }) => {
    const isRefused = code === 78 && /SMTP_URL.*MAIL=capture/.test(service.output())
    return isRefused ? REFUSED : `ends with ${code ?? signal}: ${service.output()}`
  })
  const result = await Promise.race([ended, waitUntil('the start', () => service.url || undefined)])
  if (result !== service.url) return result
  const token = expected === HIDDEN ? printedToken(service) : await findToken(service)
  const headers = { cookie: `mailbox=${token}` }
  const statusOf = async (asked: Asked) => (await ask(service, asked)).status
  const [locked, opened] = [await statusOf({}), await statusOf({ headers })]
  const outside = OUTSIDE === undefined ? undefined : await statusOf({ headers, to: OUTSIDE })
  const foreign = await statusOf({ headers, host: 'assess.example.com' })
  service.kill('SIGKILL')
  await service.exited
  if (token === undefined && [locked, opened].join() === '404,404') return HIDDEN
  const isPrivate = outside === 200 || (outside === undefined && expected === PRIVATE)
  if ([locked, opened, foreign].join() === '403,200,404') return isPrivate ? PRIVATE : LOOPBACK
  return `token ${token}, ${[locked, opened, foreign]}`
}

describe('a combination of DATABASE_URL, PUBLIC_URL, and mail settings', () => {
  it.each(CASES)('decides on start and mailbox: $database database, $address PUBLIC_URL, $mail', (one) => {
    const database = { embedded: {}, own: { DATABASE_URL: 'postgresql://db/assessments', SECRET_KEY } }[one.database]
    const read = () => {
      try {
        const { mailbox } = loadConfig({ ...database, ...settingsOf(one) }, { serves: true })
        return mailbox ? (mailbox.allowsPrivatePeers ? PRIVATE : LOOPBACK) : HIDDEN
      } catch (error) {
        expect((error as Error).message).toMatch(/SMTP_URL: is required with .* MAIL_FROM, or MAIL=capture/)
        return REFUSED
      }
    }
    expect(read()).toBe(one.expected)
  })

  it('lets a process that sends no mail start, without a mailbox', () => {
    const database = { DATABASE_URL: 'postgresql://db/assessments', SECRET_KEY }
    expect(loadConfig({ ...database, PUBLIC_URL: PUBLIC_URL.public, ROLE: 'api' }, { serves: true }).mailbox).toBeUndefined()
  })

  it('has the same effect in real processes', async () => {
    const DATA_DIR = await makeDataDir()
    const DATABASE_URL = await copyDatabase()
    const results: Case[] = []
    for (const one of STARTED) {
      const env = { ...(one.database === 'own' ? { DATABASE_URL } : { DATA_DIR }), ...settingsOf(one) }
      results.push({ ...one, expected: await resultOf(env, one) })
    }
    expect(results).toEqual(STARTED)
  })
})

describe('the mailbox of captured mails', () => {
  let service: ServiceProcess
  let token: string
  beforeAll(async () => {
    service = await startProcess({ DATABASE_URL: await copyDatabase(), MAIL: 'mailbox' })
    token = await findToken(service)
  })
  const statusOf = async (asked: Asked) =>
    (await ask(service, { ...asked, headers: { cookie: `mailbox=${token}`, ...asked.headers } })).status
  /** By default, nginx sends the address of proxy_pass as Host, and no header about the client. */
  const nginxDefaults = { headers: { connection: 'close', cookie: '' } }

  it('moves the token from the URL to a cookie, and out of the log', async () => {
    const { status, headers } = await ask(service, { path: `/dev/mailbox?search=kim&token=${token}` })
    expect([status, headers.location]).toEqual([303, '/dev/mailbox?search=kim'])
    expect(headers['set-cookie']).toEqual([`mailbox=${token}; Path=/dev/mailbox; HttpOnly; SameSite=Lax`])
    expect(JSON.stringify(service.log())).not.toContain(token)
  })

  it.each(['localhost', 'LOCALHOST:80', '127.0.0.1:9', '127.8.8.8', '[::1]:3000'])('answers for the Host %s', async (host) => {
    expect(await statusOf({ host })).toBe(200)
  })

  it.each(['assess.example.com', 'localhost.example.com', '127.0.0.1.example.com', '0.0.0.0', '10.0.0.5', '[::ffff:10.0.0.5]'])(
    'returns 404 for the Host %s',
    async (host) => {
      expect(await statusOf({ host })).toBe(404)
    },
  )

  it.each(['forwarded', 'via', 'x-real-ip', 'x-forwarded-host', 'x-forwarded-proto', 'true-client-ip', 'cf-connecting-ip'])(
    'returns 404 for a request with %s',
    async (name) => {
      expect(await statusOf({ headers: { [name]: 'localhost' } })).toBe(404)
    },
  )

  it("shows nothing without the token behind nginx's defaults", async () => {
    const locked = await ask(service, nginxDefaults)
    expect([locked.status, locked.body]).toEqual([403, expect.stringContaining('Open the mailbox by its link')])
    for (const wrong of ['', 'A'.repeat(22), `${token}A`, token.slice(1)])
      expect((await ask(service, { ...nginxDefaults, path: `/dev/mailbox?token=${wrong}` })).status).toBe(403)
  })

  it.runIf(hasHaproxy)("shows nothing without the token behind haproxy's defaults", async () => {
    const haproxy = await startHaproxy({ service: Number(new URL(service.url).port) })
    const port = Number(new URL(haproxy.url).port)
    expect(await statusOf({ port, host: 'assess.example.com' })).toBe(404)
    expect((await ask(service, { port })).status).toBe(403)
  })
})
