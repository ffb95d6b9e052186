import { once } from 'node:events'
import net, { type AddressInfo, type Socket } from 'node:net'
import { beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { MAX_PART_BYTES } from '../../../src/domain/limits.ts'
import { candidateOf, NO_REQUIREMENTS } from '../../support/candidate.ts'
import { startServiceForFile } from '../../support/service.ts'
import { itSlow } from '../../support/slow.ts'
import { takeAssessment, webmPart } from '../../support/submissions.ts'

const service = await startServiceForFile({ ROLE: 'api' })
let port: number
beforeAll(async () => {
  await service.app.listen({ port: 0, host: '127.0.0.1' })
  port = (service.app.server.address() as AddressInfo).port
})

type Sent = { path: string; tab?: string; length: number; method?: string; type?: string }

/** Sends the headers of a request and `bytes` of its body. @returns the socket, and the status as soon as a response arrives. */
async function begin({ path, tab = '', length, method = 'PUT', type = 'application/octet-stream' }: Sent, bytes = 0) {
  const socket: Socket = net.connect(port, '127.0.0.1')
  onTestFinished(() => void socket.destroy())
  socket.on('error', () => {})
  await once(socket, 'connect')
  const answered = once(socket, 'data').then(([data]) => {
    const text = String(data)
    return { status: Number(text.slice(9, 12)), text }
  })
  socket.write(
    `${method} ${path} HTTP/1.1\r\nHost: a\r\nX-Tab: ${tab}\r\nContent-Type: ${type}\r\nContent-Length: ${length}\r\n\r\n`,
  )
  if (bytes > 0) socket.write(Buffer.alloc(bytes))
  return { socket, answered }
}

const statusOf = async (sent: Sent) => (await (await begin(sent)).answered).status
const part = (session: string, mediaId: string, number: number) => `${session}/media/${mediaId}/parts/0/${number}`

describe('the service', () => {
  it('rejects uploads for an invite that was not accepted, before reading them', async () => {
    const organization = await service.make.organization()
    const invite = await service.make.invite(await service.make.assessment(organization.id), NO_REQUIREMENTS)
    const { path } = candidateOf(service, invite)
    const session = `${path}/session`
    const id = service.deps.newId()
    expect(await statusOf({ path: part(session, id, 0), length: MAX_PART_BYTES })).toBe(404)
    expect(await statusOf({ path: `${session}/photos/id_photo`, length: 3_000_000, type: 'image/jpeg' })).toBe(409)
    expect(await statusOf({ path: `${session}/speed`, length: MAX_PART_BYTES, method: 'POST' })).toBe(409)
    const json = { length: 60_000, type: 'application/json' }
    expect(await statusOf({ path: `${session}/questions/1/text`, ...json })).toBe(409)
    expect(await statusOf({ path: `${session}/notes`, method: 'POST', ...json })).toBe(409)
    const form = { length: 250_000, type: 'application/x-www-form-urlencoded', method: 'POST' }
    expect(await statusOf({ path: `${path}/answer`, ...form })).toBe(303)
    expect(await statusOf({ path: `${path}/accept`, ...form })).toBe(400)
  })

  it('rejects uploads with an unsigned link, before reading them', async () => {
    const form = { length: 100, type: 'application/x-www-form-urlencoded', method: 'POST' }
    expect(await statusOf({ path: '/i/nonsense/answer', ...form })).toBe(404)
    expect(await statusOf({ path: '/i/nonsense/accept', ...form })).toBe(404)
    expect(await statusOf({ path: '/i/nonsense/session/speed', length: 100, method: 'POST' })).toBe(404)
  })

  it('rejects uploads from a second tab, above the limit, or too large, before reading them', async () => {
    const { session, tab, beginAttempt } = await takeAssessment(service)
    const mediaId = await beginAttempt()
    const path = part(session, mediaId, 0)
    expect(await statusOf({ path, tab: service.deps.newId(), length: 100 })).toBe(409)
    expect(await statusOf({ path, tab, length: MAX_PART_BYTES + 1 })).toBe(413)
    await service.db.mediaFile.update({ where: { id: mediaId }, data: { bytes: 199_999_950 } })
    expect(await statusOf({ path, tab, length: 100 })).toBe(507)
    await service.db.mediaFile.update({ where: { id: mediaId }, data: { state: 'joining' } })
    expect(await statusOf({ path, tab, length: 10 })).toBe(409)
  })
})

it('accepts four uploads of a link at once, rejects the fifth for now, and accepts it when one has ended', async () => {
  const candidate = await takeAssessment(service)
  const other = await takeAssessment(service)
  const mediaId = await candidate.beginAttempt()
  const stalled = await Promise.all(
    [0, 1, 2, 3].map((number) =>
      begin({ path: part(candidate.session, mediaId, number), tab: candidate.tab, length: 100_000 }, 50),
    ),
  )
  const refused = await candidate.putPart(mediaId, 0, 4, webmPart()).retry(0)
  expect([refused.status, refused.headers['retry-after'], refused.body.code]).toEqual([429, '1', 'too_many_uploads'])
  expect((await candidate.post('notes', { notes: [] })).status).toBe(204)
  expect((await other.putPart(await other.beginAttempt(), 0, 0, webmPart())).status).toBe(204)
  stalled[0]!.socket.destroy()
  await expect.poll(async () => (await candidate.putPart(mediaId, 0, 4, webmPart())).status).toBe(204)
})

itSlow('ends an upload that stalls', { timeout: 30_000 }, async () => {
  const { session, tab, beginAttempt } = await takeAssessment(service)
  const mediaId = await beginAttempt()
  const { answered } = await begin({ path: part(session, mediaId, 0), tab, length: 100_000 }, 50_000)
  const { status, text } = await answered
  expect(status).toBe(408)
  expect(text).toMatch(/^connection: close\r$/im)
})

it('saves a limited number of texts per link and minute, and rejects the next unread', async () => {
  const candidate = await takeAssessment(service)
  const save = (revision: number) =>
    service
      .http()
      .put(`${candidate.session}/questions/1/text`)
      .set('x-tab', candidate.tab)
      .send({ text: `Text ${revision}`, revision })
  for (let i = 1; i <= 120; i++) expect((await save(i)).status).toBe(200)
  const refused = await save(121)
  expect([refused.status, refused.body.code]).toEqual([429, 'rate_limited'])
  expect(Number(refused.headers['retry-after'])).toBeGreaterThan(0)
  const path = `${candidate.session}/questions/1/text`
  expect(await statusOf({ path, tab: candidate.tab, length: 60_000, type: 'application/json' })).toBe(429)
  expect((await candidate.post('notes', { notes: [] })).status).toBe(204)
})
