import type { AddressInfo } from 'node:net'
import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createApiKey, revokeApiKey } from '../../../src/domain/api-keys/api-keys.ts'
import { candidateOf, prepare } from '../../support/candidate.ts'
import { converse } from '../../support/raw-http.ts'
import { scaled } from '../../support/scale.ts'
import { type Service, startService } from '../../support/service.ts'
import { findInTables } from '../../support/tables.ts'

const MUTATIONS = scaled(1_000, 10_000)
const AT_ONCE = 10

let service: Service
let port: number
let key: string
let organizationId: string
beforeAll(async () => {
  service = await startService()
  Object.assign(service.deps.log, { level: 'trace' })
  await service.app.listen({ port: 0, host: '127.0.0.1' })
  port = (service.app.server.address() as AddressInfo).port
  const made = await service.make.organization()
  key = made.key
  organizationId = made.id
})
afterAll(() => service.close())

/** Both interfaces: path, header of the key, and field of the error message. */
const interfaces = [
  ['/api/v1/tags', 'X-Api-Key', 'error'],
  ['/api/alternate/tags', 'X-Service-Docs-Api-Key', 'detail'],
] as const

/** Sends a request with these header lines unchanged. Each character is one byte. */
const ask = (path: string, lines: string[]) =>
  converse(port, `GET ${path} HTTP/1.1\r\nHost: a\r\nConnection: close\r\n${lines.map((line) => `${line}\r\n`).join('')}\r\n`)

/** Expects one 4xx response with an error in the interface's format, without data and without any part of the key. */
async function expectRefusal(path: string, member: string, lines: string[], statuses = [401]): Promise<void> {
  const { answers, closed } = await ask(path, lines)
  expect(closed).toBe(true)
  expect(
    answers.map(({ status }) => status),
    lines.join(' | ').slice(0, 300),
  ).toEqual([expect.toBeOneOf(statuses)])
  expect(Object.keys(JSON.parse(answers[0]!.body))).toEqual([member])
  expect(answers[0]!.body).not.toContain(key.slice(8, 24))
}

const position = fc.integer({ min: 0, max: 39 })
/** Any byte that a header value may contain. */
const byte = fc
  .integer({ min: 0x21, max: 0xff })
  .filter((code) => code !== 0x7f)
  .map((code) => String.fromCharCode(code))
const splice = (at: number, count: number, text: string) => (of: string) => of.slice(0, at) + text + of.slice(at + count)
type Mutation = (of: string) => string
const mutation: fc.Arbitrary<Mutation> = fc.oneof(
  fc.tuple(position, byte).map(([at, text]) => splice(at, 1, text)),
  fc.tuple(position, byte).map(([at, text]) => splice(at, 0, text)),
  position.map((at) => splice(at, 1, '')),
  position.map(
    (at): Mutation =>
      (of) =>
        of.slice(0, at),
  ),
  position.map(
    (at): Mutation =>
      (of) =>
        of.slice(at + 1),
  ),
  fc.tuple(position, fc.integer({ min: 0, max: 7 })).map(
    ([at, bit]): Mutation =>
      (of) =>
        splice(at, 1, flip(of, at, bit))(of),
  ),
  position.map(
    (at): Mutation =>
      (of) =>
        of.slice(0, at) + of.slice(at).toUpperCase(),
  ),
  position.map(
    (at): Mutation =>
      (of) =>
        of.slice(0, at) + of.slice(at).toLowerCase(),
  ),
  fc.string({ unit: byte, minLength: 32, maxLength: 32 }).map(
    (secret): Mutation =>
      (of) =>
        of.slice(0, 8) + secret,
  ),
  fc.tuple(fc.constantFrom('%', '_', '*', "'--", ',', ';', '=', '\\', '"'), position).map(([text, at]) => splice(at, 40, text)),
)
const flip = (of: string, at: number, bit: number) => String.fromCharCode(of.charCodeAt(at) ^ (1 << bit) || 0x21)
/** True if the text is a valid header value: no control character except the tab. */
const isValue = (text: string) => [...text].every((letter) => letter === '\t' || (letter >= ' ' && letter !== '\x7f'))

it(`rejects ${MUTATIONS} mutations of valid keys in both interfaces, and logs and stores none`, async () => {
  const mutated = fc
    .sample(fc.array(mutation, { minLength: 1, maxLength: 3 }), { numRuns: MUTATIONS * 2, seed: 9 })
    .map((changes) => changes.reduce((text, change) => change(text), key))
    .filter((text) => isValue(text) && text.trim() !== key && text.trim() !== '')
    .slice(0, MUTATIONS)
  expect(mutated.length).toBe(MUTATIONS)
  for (let i = 0; i < mutated.length; i += AT_ONCE) {
    const requests = mutated
      .slice(i, i + AT_ONCE)
      .flatMap((text) => interfaces.map(([path, header]) => `GET ${path} HTTP/1.1\r\nHost: a\r\n${header}: ${text}\r\n`))
    const { answers } = await converse(port, `${requests.join('\r\n')}Connection: close\r\n\r\n`)
    expect(answers.map(({ status }) => status)).toEqual(requests.map(() => 401))
  }
  for (const [path, header] of interfaces)
    expect((await ask(path, [`${header}: ${key}`])).answers.map(({ status }) => status)).toEqual([200])
  const long = mutated.filter((text) => text.length > 12)
  const log = service.logLines.join('')
  expect(long.filter((text) => log.includes(JSON.stringify(text).slice(1, -1)))).toEqual([])
  expect(await findInTables(service, long.slice(0, 200))).toEqual([])
})

describe.each(interfaces)('%s', (path, header, member) => {
  const forms: [what: string, lines: (key: string) => string[], statuses?: number[]][] = [
    ['no key', () => []],
    ['an empty key', () => [`${header}:`]],
    ['a blank key', () => [`${header}:  \t `]],
    ['the key twice', () => [`${header}: ${key}`, `${header}: ${key}`]],
    ['another key before it', () => [`${header}: x`, `${header}: ${key}`]],
    ['another key after it', () => [`${header}: ${key}`, `${header}: x`]],
    ['the key twice in one header line', () => [`${header}: ${key}${key}`]],
    ['the key in quotation marks', () => [`${header}: "${key}"`]],
    ['the key after a scheme', () => [`${header}: Bearer ${key}`]],
    ['the key padded with no-break spaces', () => [`${header}: \xa0${key}\xa0`]],
    ['the key padded with Unicode spaces in UTF-8', () => [`${header}: \xe2\x80\x83${key}`]],
    ['the key padded with NULs', () => [`${header}: ${key}\0\0`], [400]],
    ['the key split by a space', () => [`${header}: ${key.slice(0, 20)} ${key.slice(20)}`]],
    ['the key continued on a second line', () => [`${header}: ${key.slice(0, 20)}`, ` ${key.slice(20)}`], [400]],
    ['the key before a comma', () => [`${header}: ${key},`]],
    ['the key in full-width letters', () => [`${header}: ${Buffer.from(key.replace('a', '\uff41')).toString('latin1')}`]],
    ['the key with a byte order mark', () => [`${header}: \xef\xbb\xbf${key}`]],
    ['the key percent-encoded', () => [`${header}: ${key.replace('a', '%61')}`]],
    ['the key in base64', () => [`${header}: ${Buffer.from(key).toString('base64')}`]],
    ['the fingerprint instead of the key', () => [`${header}: ${Buffer.from(key).toString('hex')}`]],
    ['SQL', () => [`${header}: ' OR '1'='1`]],
    ['SQL after the key', () => [`${header}: ${key}' OR 1=1 --`]],
    ['a LIKE pattern', () => [`${header}: ak_live_%`]],
    ['JSON', () => [`${header}: {"$ne":null}`]],
    ['8 KB', () => [`${header}: ${key}${'x'.repeat(8_000)}`]],
    ['20 KB', () => [`${header}: ${key}${'x'.repeat(20_000)}`], [431]],
    ['the key with an underscore in the name', () => [`${header.replaceAll('-', '_')}: ${key}`]],
    ['the key with a space after the name', () => [`${header} : ${key}`], [400]],
    ['the key as Authorization', () => [`Authorization: Bearer ${key}`]],
    ['the key as a cookie', () => [`Cookie: ${header}=${key}`]],
    ["the key in the other interface's header", () => [`${interfaces.find(([other]) => other !== path)![1]}: ${key}`]],
  ]

  it.each(forms)('rejects %s', (_what, lines, statuses) => expectRefusal(path, member, lines(key), statuses))

  it('ignores the white space that HTTP allows around a header value', async () => {
    expect((await ask(path, [`${header}:  \t${key}\t `])).answers.map(({ status }) => status)).toEqual([200])
  })

  it('rejects revoked and expired keys, even together with a valid one', async () => {
    const make = (name: string, expiresAt: Date | null) =>
      createApiKey(service.system, { organizationId, name: `${path} ${name}`, mode: 'live', expiresAt })
    const [revoked, expired] = [await make('revoked', null), await make('expired', service.clock.now())]
    await revokeApiKey(service.system, revoked.apiKey.id)
    for (const bad of [revoked.key, expired.key]) {
      await expectRefusal(path, member, [`${header}: ${bad}`])
      await expectRefusal(path, member, [`${header}: ${bad}`, `${header}: ${key}`])
    }
  })
})

it('writes no key, link, proof, or session to a log line of any level or to a table', async () => {
  const assessment = await service.make.assessment(organizationId)
  const body = { assessmentId: assessment.id, recipientEmail: 'leaks@example.com' }
  const created = await service.v1(key).post('/invites').set('idempotency-key', 'once').send(body)
  const invite = await service.db.invite.findUniqueOrThrow({ where: { id: created.body.invite.id } })
  const candidate = candidateOf(service, invite)
  await prepare(service, invite)
  for (const button of ['accept', 'start', 'finish'] as const) await candidate.press(button)
  await service.v1(key).post(`/invites/${invite.id}/resend`)
  await service.http().get(`${candidate.path}/%zz?proof=${candidate.proof}`)
  await service.http().get(`/api/v1/tags?x-api-key=${key}`)
  await service.http().get(`/api/v1/${key}/%zz`).set('x-api-key', key)
  await service.http().get('/api/v1/tags').set('x-request-id', key).set('user-agent', key).set('referer', candidate.path)
  await service.v1(key).post('/tags').set('content-type', 'application/json').send('{"broken')

  const secrets = [key.slice('ak_live_'.length), candidate.token, candidate.proof]
  const log = service.logLines.join('')
  expect(log).toContain(organizationId)
  for (const secret of secrets) expect(log).not.toContain(secret)
  expect(await findInTables(service, secrets)).toEqual([])
})
