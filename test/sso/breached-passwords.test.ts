import { hash } from 'node:crypto'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, expect, it } from 'vitest'
import { createBreachedPasswords } from '../../src/sso/breached-passwords.ts'
import { mistakesIn } from '../support/forms.ts'
import { joinPath, visit } from '../support/portal.ts'
import { startServiceForFile } from '../support/service.ts'

const LEAKED = 'seventeen green umbrellas'
const LONGER = 'seventeen grey umbrellas'
const digest = hash('sha1', LEAKED, 'hex').toUpperCase()

const servers: Server[] = []
afterAll(() => {
  for (const server of servers) {
    server.closeAllConnections()
    server.close()
  }
})

/** Starts a fake breach service. `drips` sends its response too slowly. */
async function listen(answer: 'lists' | 'fails' | 'redirects' | 'drips') {
  const asked: (string | undefined)[][] = []
  const server = createServer(({ url, headers }, response) => {
    asked.push([url, headers['add-padding']?.toString()])
    if (answer === 'fails') return response.writeHead(500).end()
    if (answer === 'redirects') return response.writeHead(302, { location: '/elsewhere' }).end()
    if (answer === 'drips') return response.write('0')
    const others = ['0018A45C4D1DEF81644B54AB7F969B88D65:10', `${'F'.repeat(35)}:0`]
    response.end([...others, url?.endsWith(digest.slice(0, 5)) ? `${digest.slice(5)}:42` : ''].join('\r\n'))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  servers.push(server)
  return { asked, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/range/` }
}

const leaks = await listen('lists')
const service = await startServiceForFile({ HIBP_URL: leaks.url })

function watch(url: string | undefined) {
  const [outcomes, warnings] = [[] as string[], [] as string[]]
  const log = { info() {}, error() {}, warn: (_: object, message: string) => void warnings.push(message) }
  const look = createBreachedPasswords(url, { log, metrics: { breachLookedUp: (outcome) => void outcomes.push(outcome) } })
  return { look, outcomes, warnings }
}

it('finds a breached password by its hash prefix, and sends nothing else', async () => {
  const { url, asked } = await listen('lists')
  const { look, outcomes } = watch(url)
  expect([await look(LEAKED), await look(LONGER)]).toEqual([true, false])
  expect(asked[0]).toEqual([`/range/${digest.slice(0, 5)}`, 'true'])
  expect(outcomes).toEqual(['found', 'not_found'])
})

it.each(['fails', 'redirects', 'drips'] as const)(
  'accepts the password if the breach service %s, and counts that',
  async (answer) => {
    const { url, asked } = await listen(answer)
    const { look, outcomes, warnings } = watch(url)
    expect(await look(LEAKED)).toBe(false)
    expect([outcomes, warnings.length, asked.length]).toEqual([['failed'], 1, 1])
  },
)

it('sends no lookup unless the operator configures a URL', async () => {
  const { look, outcomes } = watch(undefined)
  expect([await look(LEAKED), outcomes]).toEqual([false, []])
})

it('rejects a breached password when one is chosen', async () => {
  const person = visit(service)
  const path = await joinPath(service, await service.make.organization(), 'leaked@example.com')
  const choose = (password: string) => person.post(path, { firstName: 'Ada', lastName: 'Lovelace', password })
  expect(mistakesIn(await choose(LEAKED))).toEqual([
    'This password is among those that have leaked from other services. Choose another one.',
  ])
  expect((await choose(LONGER)).status).toBe(303)
})
