import { get } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Readable } from 'node:stream'
import { describe, expect, it } from 'vitest'
import { signInAs, visit } from '../../../support/portal.ts'
import { startServiceForFile } from '../../../support/service.ts'
import { jpeg, takeAssessment, webmPart } from '../../../support/submissions.ts'
import { waitUntil } from '../../../support/wait-until.ts'

const service = await startServiceForFile({ ROLE: 'api' })

/** Stores a recording that is ready, by default with ten bytes. */
async function makeMedia({ content = Buffer.from('0123456789'), kind = 'screen' as const, contentType = 'video/webm' } = {}) {
  const candidate = await takeAssessment(service)
  const organizationId = candidate.organization.id
  const id = service.deps.newId()
  const key = `${organizationId}/${id}`
  await service.deps.media.put(`${key}/file`, content)
  const data = { id, key, organizationId, submissionId: candidate.submissionId, kind, contentType }
  await service.db.mediaFile.create({ data: { ...data, state: 'ready', bytes: content.length, createdAt: service.clock.now() } })
  const admin = await signInAs(service, organizationId, ['admin'])
  return { candidate, organizationId, id, admin, path: `/portal/${organizationId}/media/${id}` }
}

it('offers permitted members the parts of a recording that failed to join', async () => {
  const candidate = await takeAssessment(service)
  const { organization, submissionId, invite } = candidate
  const id = await candidate.beginAttempt()
  const parts: [segment: number, number: number, content: Buffer][] = [
    [1, 0, webmPart('third, ')],
    [0, 1, Buffer.from('second, ')],
    [0, 0, webmPart('first, ')],
  ]
  for (const part of parts) expect((await candidate.putPart(id, ...part)).status).toBe(204)
  await service.db.mediaFile.update({ where: { id }, data: { state: 'failed' } })
  const admin = await signInAs(service, organization.id, ['admin'])
  await service.db.submission.update({
    where: { id: submissionId },
    data: { state: 'submitted', submittedAt: service.clock.now() },
  })
  await service.db.answerAttempt.updateMany({
    where: { mediaId: id },
    data: { state: 'complete', completedAt: service.clock.now() },
  })
  const path = `${admin.home}media/${id}`
  for (const page of [`${admin.home}grading/${submissionId}`, `${admin.home}invites/${invite.id}/submission`]) {
    const { text } = await admin.get(page)
    expect(text).toContain('could not be processed')
    expect(text).toContain(`<a href="${path}" download>`)
  }
  const answer = await admin.get(path).buffer(true)
  expect(answer.headers).toMatchObject({
    'content-type': 'application/octet-stream',
    'content-disposition': 'attachment; filename="answer.webm"',
    'x-content-type-options': 'nosniff',
  })
  expect(answer.body.toString('latin1').replace(/[^a-z, ]+webm/g, '')).toBe('first, second, third, ')
  const stranger = await signInAs(service, (await service.make.organization()).id, ['admin'])
  expect((await stranger.get(`${stranger.home}media/${id}`)).status).toBe(404)
})

describe('a recording', () => {
  it('is served with its type, and never cached', async () => {
    const { admin, path } = await makeMedia()
    const answer = await admin.get(path)
    expect(answer.status).toBe(200)
    expect(answer.headers).toMatchObject({
      'content-type': 'video/webm',
      'content-length': '10',
      'content-disposition': 'inline; filename="screen.webm"',
      'accept-ranges': 'bytes',
      'cache-control': 'private, no-store',
      'x-content-type-options': 'nosniff',
      'content-security-policy': expect.stringContaining("default-src 'none'"),
    })
    expect(answer.body.toString()).toBe('0123456789')
  })

  it.each([
    ['bytes=0-3', 206, '0123', 'bytes 0-3/10'],
    ['bytes=4-', 206, '456789', 'bytes 4-9/10'],
    ['bytes=-3', 206, '789', 'bytes 7-9/10'],
    ['bytes=-99', 206, '0123456789', 'bytes 0-9/10'],
    ['bytes=8-99', 206, '89', 'bytes 8-9/10'],
    ['bytes=9-9', 206, '9', 'bytes 9-9/10'],
    ['bytes=10-', 416, '', 'bytes */10'],
    ['bytes=-0', 416, '', 'bytes */10'],
    ['bytes=99999999999999999999-', 416, '', 'bytes */10'],
    ['bytes=0-1,4-5', 200, '0123456789', undefined],
    ['bytes=5-2', 200, '0123456789', undefined],
    ['bytes=-', 200, '0123456789', undefined],
    ['lines=1-2', 200, '0123456789', undefined],
    ['nonsense', 200, '0123456789', undefined],
  ])('answers Range: %s with %i', async (range, status, content, contentRange) => {
    const { admin, path } = await makeMedia()
    const answer = await admin.get(path).set('range', range)
    expect([answer.status, answer.headers['content-range']]).toEqual([status, contentRange])
    if (status !== 416)
      expect([answer.body.toString(), answer.headers['content-length']]).toEqual([content, String(content.length)])
  })

  it('answers HEAD without content', async () => {
    const { admin, path } = await makeMedia()
    const answer = await service.http().head(path).set('cookie', admin.cookie()!)
    expect([answer.status, answer.headers['content-length'], answer.headers['content-type']]).toEqual([200, '10', 'video/webm'])
    expect(answer.text).toBeFalsy()
  })

  it('is served only to admins and its assigned grader', async () => {
    const { candidate, organizationId, path } = await makeMedia()
    const assigned = await signInAs(service, organizationId, ['grader'])
    const graders = { id: candidate.invite.id, assignedGraderId: assigned.member.id }
    await service.db.invite.update({ where: { id: graders.id }, data: { assignedGraderId: graders.assignedGraderId } })
    expect((await assigned.get(path)).status).toBe(200)
    for (const roles of [['grader'], ['client'], []]) {
      const other = await signInAs(service, organizationId, roles)
      expect((await other.get(path)).status, roles.join()).toBe(404)
    }
    const stranger = await makeMedia()
    expect((await stranger.admin.get(path)).status).toBe(404)
    const foreign = path.replace(organizationId, stranger.organizationId)
    expect((await stranger.admin.get(foreign)).status).toBe(404)
    expect((await visit(service).get(path)).status).toBe(303)
  })

  it('is not served before it is ready, nor after it is deleted', async () => {
    const { admin, id, path, organizationId } = await makeMedia()
    for (const state of ['uploading', 'joining', 'failed', 'deleted'] as const) {
      await service.db.mediaFile.update({ where: { id }, data: { state } })
      expect((await admin.get(path)).status, state).toBe(404)
    }
    for (const other of ['x', '..%2f..%2fsecret-key', service.deps.newId()])
      expect((await admin.get(`/portal/${organizationId}/media/${other}`)).status).toBe(404)
  })

  it('stops reading when the client disconnects', async () => {
    const { admin, path } = await makeMedia({ content: Buffer.alloc(30_000_000) })
    let stream: Readable | undefined
    const { media } = service.deps
    const { get: read } = media
    media.get = async (key, range) => {
      stream = (await read(key, range)) ?? undefined
      return stream ?? null
    }
    await service.app.listen({ port: 0, host: '127.0.0.1' })
    const { port } = service.app.server.address() as AddressInfo
    const request = get({ port, host: '127.0.0.1', path, headers: { cookie: admin.cookie()! } }, (answer) => {
      answer.once('data', () => request.destroy())
    })
    request.on('error', () => {})
    await waitUntil('the file to be closed', () => (stream?.destroyed ? true : undefined))
    media.get = read
    expect((stream as Readable & { bytesRead: number }).bytesRead).toBeLessThan(30_000_000)
  })
})

it('serves a photo with its own type', async () => {
  const { admin, path } = await makeMedia({ content: Buffer.from(jpeg('photo')), contentType: 'image/jpeg' })
  expect((await admin.get(path)).headers['content-type']).toBe('image/jpeg')
})
