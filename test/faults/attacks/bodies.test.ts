import { afterAll, beforeAll, expect, it } from 'vitest'
import { MAX_IMPORT_BODY_BYTES, MAX_ROWS_BYTES } from '../../../src/domain/limits.ts'
import { candidateOf, expectPage } from '../../support/candidate.ts'
import { KEY_HEADERS, type Operation, readOperations } from '../../support/operations.ts'
import {
  createSampleOrganization,
  createSampleTestData,
  fillBody,
  fillPath,
  type SampleOrganization,
} from '../../support/sample-organization.ts'
import { type Service, startService } from '../../support/service.ts'

let service: Service
let address: string
let own: SampleOrganization
/** The organization's test data, with a test key. */
let trial: SampleOrganization
let operations: Operation[]
beforeAll(async () => {
  service = await startService()
  address = await service.app.listen({ port: 0, host: '127.0.0.1' })
  own = await createSampleOrganization(service, 'Bodies')
  trial = await createSampleTestData(service, own, 'Trial')
  operations = (await readOperations(service)).filter(({ body }) => body)
})
afterAll(() => service.close())

type Body = string | Uint8Array<ArrayBuffer>
const JSON_TYPE = 'application/json'
const bytes = (text: string) => new Uint8Array(Buffer.from(text, 'latin1'))

/** Sends the body to the operation, and expects one of the statuses with an error in the interface's format. */
async function expectRefusal(operation: Operation, what: string, body: Body, type = JSON_TYPE, statuses = [400]): Promise<void> {
  const { method, path, interface: of, findFault } = operation
  const by = operation.isForTests ? trial : own
  const headers = { [KEY_HEADERS[of]]: by.key, 'content-type': type }
  const response = await fetch(`${address}${fillPath(path, by)}`, { method: method.toUpperCase(), headers, body })
  const answer = await response.json()
  const said = `${method} ${path}: ${what}: ${JSON.stringify(answer)}`
  expect(response.status, said).toBeOneOf(statuses)
  expect(response.headers.get('content-type')).toBe('application/json; charset=utf-8')
  expect(findFault(response.status, answer), said).toBe(null)
  if (of === 'v1') expect(answer).toEqual({ error: expect.stringMatching(/\S/) })
  expect(response.headers.has('x-request-id')).toBe(true)
}

/** Returns a valid body with one more member, whose text is inserted unchanged. */
const withMember = (operation: Operation, member: string) =>
  `${JSON.stringify(fillBody(operation.body!, own)).slice(0, -1)},${member}}`
const nested = (open: string, close: string, depth: number) => `${open.repeat(depth)}1${close.repeat(depth)}`

const members: [what: string, member: string][] = [
  ['a prototype', '"__proto__":{"admin":true}'],
  ['a prototype in disguise', '"\\u005f_proto__":{"admin":true}'],
  ['a prototype further in', '"a":{"b":[{"__proto__":1}]}'],
  ["a constructor's prototype", '"constructor":{"prototype":{"admin":true}}'],
  ['10,000 arrays', `"a":${nested('[', ']', 10_000)}`],
  ['6,000 objects', `"a":${nested('{"a":', '}', 6_000)}`],
  ['33 arrays', `"a":${nested('[', ']', 33)}`],
  ['a NUL as it is', '"a":"\0"'],
  ['a line break in a text', '"a":"\n"'],
  ['a comment', '"a":1/* */'],
  ['a trailing comma', '"a":1,'],
  ['a number that is none', '"a":NaN'],
  ['an escape that is none', '"a":"\\x41"'],
  ['64 KiB of spaces too many', `"a":${' '.repeat(64 * 1024)}1`],
]

it('rejects prototype pollution, deep nesting, and invalid JSON in the body of every operation', async () => {
  const count = await service.db.invite.count()
  for (const operation of operations) {
    for (const [what, member] of members)
      await expectRefusal(operation, what, withMember(operation, member), JSON_TYPE, [400, 413])
    for (const [what, body] of Object.entries({
      'an array': '[]',
      'a text': '"x"',
      'a number': '1',
      'nothing but a brace': '{',
      'a byte order mark behind the brace': '{\ufeff}',
      'two documents': '{}{}',
      'a form': 'name=a',
      'invalid UTF-8': bytes('{"a":"\xff"}'),
      'overlong UTF-8': bytes('{"a":"\xc0\xaf"}'),
      'a surrogate in UTF-8': bytes('{"a":"\xed\xa0\x80"}'),
      'UTF-16': new Uint8Array(Buffer.from('\ufeff{"a":1}', 'utf16le')),
      compressed: bytes('\x1f\x8b\x08\x00\x00\x00\x00\x00\x00\x03'),
    }))
      await expectRefusal(operation, what, body)
  }
  expect(await service.db.invite.count()).toBe(count)
  expect(({} as Record<string, unknown>).admin).toBeUndefined()
})

/** Bodies longer than 64 KiB. */
const LONG_BODIES: Record<string, number> = {
  '/api/v1/invite-batches': MAX_ROWS_BYTES,
  '/api/v1/question-imports': MAX_IMPORT_BODY_BYTES,
}

it('rejects a body one byte over the limit, usually 64 KiB, with 413 at every operation', async () => {
  for (const operation of operations) {
    const start = withMember(operation, '"a":"')
    const body = start.slice(0, -1).padEnd((LONG_BODIES[operation.path] ?? 64 * 1024) - 1, 'x')
    await expectRefusal(operation, 'one byte too many', `${body}"}`, JSON_TYPE, [413])
  }
})

it('rejects field values that can be neither stored nor mailed', async () => {
  const values = [
    '1e400',
    '-1e400',
    '"\\u0000"',
    '"\\ud800"',
    '"\\udfff\\ud800"',
    '99999999999999999999',
    '[[]]',
    '{"a":{}}',
    '"\\uffff\\u0000"',
  ]
  for (const operation of operations) {
    for (const field of Object.keys(operation.body!)) {
      for (const value of values) {
        const good = Object.entries(fillBody(operation.body!, own)).filter(([name]) => name !== field)
        const rest = good.map(([name, it]) => `,${JSON.stringify(name)}:${JSON.stringify(it)}`).join('')
        const tolerates = field === 'proctoringSettings' && value.startsWith('{') // unknown members are ignored
        if (!tolerates) await expectRefusal(operation, `${field}: ${value}`, `{"${field}":${value}${rest}}`)
      }
    }
  }
})

const strangeTypes = [
  'text/plain',
  'application/x-www-form-urlencoded',
  'multipart/form-data; boundary=x',
  'application/xml',
  'application/jsonp',
  'application/json-patch+json',
  'text/json',
  'json',
  '*/*',
  'application/json, text/plain',
  `application/${'x'.repeat(4_000)}`,
]

it('rejects bodies of any other content type, whatever they contain', async () => {
  for (const operation of operations) {
    for (const type of strangeTypes)
      await expectRefusal(operation, type, JSON.stringify(fillBody(operation.body!, own)), type, [400, 415])
  }
})

it('rejects malformed forms with an error page, and leaves the invite unchanged', async () => {
  const candidate = candidateOf(service, own.invite)
  const forms = [
    '__proto__=1&constructor=1',
    'proof[]=x',
    `proof=${'x'.repeat(60_000)}`,
    'proof=%00',
    'proof=%zz',
    '&&&=',
    `${'a=1&'.repeat(10_000)}`,
  ]
  for (const form of forms) expectPage(await service.http().post(`${candidate.path}/accept`).type('form').send(form), 400)
  expectPage(
    await service
      .http()
      .post(`${candidate.path}/accept`)
      .type('form')
      .send(`a=${'x'.repeat(64 * 1024)}`),
    400,
  )
  for (const path of ['/i/%00', '/i/%2e%2e%2f', `/i/${'x'.repeat(5_000)}`, '/i/x/y/z', '/i/%zz', '/i/%ff/accept'])
    expectPage(await service.http().get(path), 404)
  expect((await service.db.invite.findUniqueOrThrow({ where: { id: own.invite.id } })).status).toBe('pending')
})
