import type { IncomingMessage, ServerResponse } from 'node:http'
import { describe, expect, it } from 'vitest'
import { createFetch } from '../../src/sso/fetch.ts'
import { NOT_PUBLIC } from '../../src/webhooks/resolve.ts'
import { mistakesIn } from '../support/forms.ts'
import { startServiceForFile } from '../support/service.ts'
import { browse, goThrough, IDP_ON_LOOPBACK, providerFields, setUpSso, wayBack } from '../support/sso.ts'

const service = await startServiceForFile(IDP_ON_LOOPBACK)

const titleOf = (text: string) => /<h1[^>]*>([^<]*)/.exec(text)?.[1]

/** Bytes of a gigabyte that were read before the connection was closed. */
const taken: number[] = []

type Behave = (request: IncomingMessage, response: ServerResponse) => boolean
/** Misbehavior of an issuer, and the error code shown for its provider. */
const behaviors: Record<string, [code: RegExp, behave: Behave]> = {
  'redirects elsewhere': [
    /OAUTH_RESPONSE_IS_NOT_CONFORM/,
    (_request, response) => !!response.writeHead(302, { location: 'http://169.254.169.254/latest/meta-data/' }).end(),
  ],
  'sends a gigabyte': [
    /too_large/,
    ({ socket }, response) => {
      const more = () => {
        while (!response.destroyed && response.write(Buffer.alloc(64 * 1024, ' ')));
      }
      response.on('close', () => taken.push(socket.bytesWritten))
      response.writeHead(200, { 'content-type': 'application/json', 'content-length': 2 ** 30 }).on('drain', more)
      more()
      return true
    },
  ],
  drips: [
    /timeout/,
    (_request, response) => {
      response.writeHead(200, { 'content-type': 'application/json' })
      const timer = setInterval(() => response.write(' '), 200)
      response.on('close', () => clearInterval(timer))
      return true
    },
  ],
  'sends nothing': [/timeout/, () => true],
  'hangs up': [/ECONNRESET|closed/, (request) => !!request.socket.destroy()],
  'names another issuer': [
    /OAUTH_JSON_ATTRIBUTE_COMPARISON_FAILED/,
    (_request, response) =>
      !!response
        .writeHead(200, { 'content-type': 'application/json' })
        .end(JSON.stringify({ issuer: 'https://evil.example', token_endpoint: 'http://169.254.169.254/' })),
  ],
  'sends no JSON': [
    /OAUTH_/,
    (_request, response) => !!response.writeHead(200, { 'content-type': 'text/html' }).end('<h1>secret of the network</h1>'),
  ],
}

describe('an issuer entered by an owner', () => {
  it.each([
    'https://169.254.169.254/',
    'https://localhost/',
    'https://10.0.0.1/',
    'https://[::1]/',
    'http://login.example.com/',
    'https://127.0.0.1.nip.io:25/',
  ])('is rejected if it is internal or not HTTPS: %s', async (issuer) => {
    const { admin, page, idp } = await setUpSso(service)
    const answer = await admin.post(page, providerFields({ issuer }, { clientSecret: '' }))
    expect([answer.status, mistakesIn(answer).length]).toEqual([422, 1])
    expect((await admin.get(page)).text).toContain(idp.issuer)
  })

  it('is rejected whenever its name resolves to an internal address', async () => {
    const inside = ['169.254.169.254', '127.0.0.1', '10.1.2.3', '::1', 'fd00::1', '::ffff:169.254.169.254']
    for (const address of inside) {
      const fetch = createFetch({ hosts: new Set(), networks: [] }, async () => [address])
      await expect(fetch('https://login.evil.example/')).rejects.toMatchObject({ name: 'Unreachable', message: NOT_PUBLIC })
    }
  })

  it.each(Object.entries(behaviors))('signs nobody in, and shows only an error code, if it %s', async (_what, [code, behave]) => {
    const { admin, idp, begin, page } = await setUpSso(service)
    idp.behave = behave
    const browser = browse(service)
    const { status, text, headers } = await browser.get(begin)
    expect([status, headers.location]).toEqual([422, undefined])
    expect(titleOf(text)).toMatch(/can’t be (reached|trusted)/)
    const shown = (await admin.get(page)).text
    expect(shown).toMatch(code)
    expect(shown).not.toMatch(/meta-data|secret of the network/)
  })

  it.each(Object.entries(behaviors).filter(([what]) => what !== 'names another issuer'))(
    'signs nobody in if it %s only at the callback',
    async (_what, [code, behave]) => {
      const { admin, idp, begin, page, person, organization } = await setUpSso(service, { provisionsMembers: 'yes' })
      idp.person = person('grace')
      const browser = browse(service)
      const back = await wayBack(browser, idp, begin)
      idp.behave = behave
      const { status } = await browser.get(back)
      expect(status).toBe(403)
      expect((await admin.get(page)).text).toMatch(code)
      expect(await service.db.identity.count({ where: { organizationId: organization.id } })).toBe(0)
      idp.behave = undefined
      expect((await goThrough(browse(service), idp, begin)).status).toBe(303)
    },
  )

  it('is never read further than a few network buffers', () => {
    expect(taken.length).toBeGreaterThan(1)
    expect(Math.max(...taken)).toBeLessThan(16 * 2 ** 20)
  })
})
