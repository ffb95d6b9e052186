import type { AddressInfo } from 'node:net'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { converse } from '../../support/raw-http.ts'
import { type Service, startService } from '../../support/service.ts'

let service: Service
let port: number
let key: string
let organizationId: string
beforeAll(async () => {
  service = await startService()
  await service.app.listen({ port: 0, host: '127.0.0.1' })
  port = (service.app.server.address() as AddressInfo).port
  const made = await service.make.organization()
  key = made.key
  organizationId = made.id
})
afterAll(() => service.close())
afterEach(() => service.db.tag.deleteMany({ where: { organizationId } }))

const head = (...lines: string[]) => `${lines.join('\r\n')}\r\n\r\n`
const post = (...lines: string[]) =>
  head('POST /api/v1/tags HTTP/1.1', 'Host: a', `X-Api-Key: ${key}`, 'Content-Type: application/json', ...lines)
const json = (name: string) => JSON.stringify({ name })
const whole = (name: string) => post(`Content-Length: ${json(name).length}`) + json(name)
const chunked = (text: string) => `${text.length.toString(16)}\r\n${text}\r\n0\r\n\r\n`
const tagNames = async () =>
  (await service.db.tag.findMany({ where: { organizationId }, orderBy: { createdAt: 'asc' } })).map(({ name }) => name)

/** Requests whose end two parsers may see in different places, so that one parser takes the rest as another request. */
const ambiguous: [what: string, lines: string[], body: string][] = [
  ['a length and chunks', ['Content-Length: 4', 'Transfer-Encoding: chunked'], chunked('{"name":"a"}')],
  ['chunks and a length', ['Transfer-Encoding: chunked', 'Content-Length: 4'], chunked('{"name":"a"}')],
  ['chunks and the length 0', ['Transfer-Encoding: chunked', 'Content-Length: 0'], chunked('{"name":"a"}')],
  ['two lengths', ['Content-Length: 12', 'Content-Length: 0'], '{"name":"a"}'],
  ['two lengths in one header', ['Content-Length: 12, 0'], '{"name":"a"}'],
  ['a hexadecimal length', ['Content-Length: 0xc'], '{"name":"a"}'],
  ['a length with a sign', ['Content-Length: +12'], '{"name":"a"}'],
  ['a length with spaces in it', ['Content-Length: 1 2'], '{"name":"a"}'],
  ['a space before the colon of the length', ['Content-Length : 12'], '{"name":"a"}'],
  ['a space before the colon of the encoding', ['Transfer-Encoding : chunked'], chunked('{"name":"a"}')],
  ['an encoding that is not chunked', ['Transfer-Encoding: identity'], chunked('{"name":"a"}')],
  ['an encoding after chunked', ['Transfer-Encoding: chunked, identity'], chunked('{"name":"a"}')],
  ['an unknown encoding', ['Transfer-Encoding: xchunked'], chunked('{"name":"a"}')],
  ['chunked in quotation marks', ['Transfer-Encoding: "chunked"'], chunked('{"name":"a"}')],
  ['chunked after a vertical tab', ['Transfer-Encoding: \x0bchunked'], chunked('{"name":"a"}')],
  ['chunked on a second line', ['Transfer-Encoding:', ' chunked'], chunked('{"name":"a"}')],
  ['chunked twice, once hidden', ['Transfer-Encoding: chunked', 'Transfer-Encoding: x'], chunked('{"name":"a"}')],
  ['an encoding after a line feed', ['X: y\nTransfer-Encoding: chunked'], chunked('{"name":"a"}')],
  ['a chunk size with a sign', ['Transfer-Encoding: chunked'], '+c\r\n{"name":"a"}\r\n0\r\n\r\n'],
  ['a chunk size in 0x', ['Transfer-Encoding: chunked'], '0xc\r\n{"name":"a"}\r\n0\r\n\r\n'],
  ['a chunk size beyond 64 bits', ['Transfer-Encoding: chunked'], '1000000000000000c\r\n{"name":"a"}\r\n0\r\n\r\n'],
  ['a chunk that is longer than its size', ['Transfer-Encoding: chunked'], '4\r\n{"name":"a"}\r\n0\r\n\r\n'],
  ['a chunk size with a line feed alone', ['Transfer-Encoding: chunked'], 'c\n{"name":"a"}\n0\n\n'],
  ['a line feed in a chunk extension', ['Transfer-Encoding: chunked'], 'c;x\ny\r\n{"name":"a"}\r\n0\r\n\r\n'],
]

describe.each(ambiguous)('a request with %s', (_what, lines, body) => {
  it('gets one 4xx response, and neither it nor what follows is executed', async () => {
    const { answers, closed } = await converse(port, post(...lines) + body + whole('smuggled'))
    expect([answers.map(({ status }) => status), closed]).toEqual([[400], true])
    expect(await tagNames()).toEqual([])
  })
})

describe('a pipelined request', () => {
  it('is answered before the malformed one after it', async () => {
    const { answers, closed } = await converse(port, `${whole('first')}${head('nonsense')}`)
    expect([answers.map(({ status }) => status), closed]).toEqual([[201, 400], true])
    expect(await tagNames()).toEqual(['first'])
  })

  it('is answered in order before a malformed one, and nothing is answered after that', async () => {
    const { answers, closed } = await converse(port, `${whole('1')}${whole('2')}${whole('3')}${head('nonsense')}${whole('4')}`)
    expect([answers.map(({ status }) => status), closed]).toEqual([[201, 201, 201, 400], true])
    expect((await tagNames()).sort()).toEqual(['1', '2', '3'])
  })

  it('is answered before a following one with an invalid body', async () => {
    const { answers, closed } = await converse(port, `${whole('first')}${post('Transfer-Encoding: chunked')}zz\r\n`)
    expect([answers.map(({ status }) => status), closed]).toEqual([[201, 400], true])
  })

  it('is answered only once if rejected before its broken body is read', async () => {
    const refused = head('POST /api/v1/tags HTTP/1.1', 'Host: a', 'X-Api-Key: wrong', 'Transfer-Encoding: chunked')
    const { answers, closed } = await converse(port, [refused, 'zz\r\n'])
    expect([answers.map(({ status }) => status), closed]).toEqual([[401], true])
  })
})

it('treats nothing inside a body as a request', async () => {
  const body = JSON.stringify({ name: 'a', description: whole('smuggled').slice(0, 900) })
  const { answers } = await converse(port, post(`Content-Length: ${body.length}`, 'Connection: close') + body)
  expect(answers.map(({ status }) => status)).toEqual([201])
  expect(await tagNames()).toEqual(['a'])
})

it('parses the next request correctly if a key is rejected before the body is read', async () => {
  const refused = head('POST /api/v1/tags HTTP/1.1', 'Host: a', 'X-Api-Key: wrong', `Content-Length: ${whole('smuggled').length}`)
  const { answers } = await converse(
    port,
    refused + whole('smuggled') + post('Content-Length: 12', 'Connection: close') + json('b').padEnd(12),
  )
  expect(answers.map(({ status }) => status)).toEqual([401, 201])
  expect(await tagNames()).toEqual(['b'])
})
