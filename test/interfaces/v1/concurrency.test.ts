import { afterAll, beforeAll, expect, it } from 'vitest'
import { repeatWhileBusy } from '../../support/repeat-while-busy.ts'
import { type Service, startService } from '../../support/service.ts'
import { type SmtpListener, startSmtpListener } from '../../support/smtp.ts'

let service: Service
let smtp: SmtpListener
beforeAll(async () => {
  smtp = await startSmtpListener()
  service = await startService({ SMTP_URL: smtp.url })
})
afterAll(async () => {
  await service.close()
  await smtp.close()
})

const AT_ONCE = 20
type Answer = { status: number; body: Record<string, unknown>; headers: Record<string, string> }
const atOnce = (send: (nth: number) => PromiseLike<{ status: number }>) =>
  Promise.all(Array.from({ length: AT_ONCE }, (_, nth) => repeatWhileBusy(() => send(nth)))) as Promise<Answer[]>
const split = (answers: Answer[], status: number) => ({
  done: answers.filter((answer) => answer.status === status),
  others: answers.filter((answer) => answer.status !== status),
})

it('creates one invite and one mail for 20 simultaneous requests, and links the other 19 to it', async () => {
  const { id: organizationId, key } = await service.make.organization()
  const { id: assessmentId } = await service.make.assessment(organizationId)
  // Addresses that differ only in case are the same.
  const answers = await atOnce((nth) =>
    service
      .v1(key)
      .post('/invites')
      .send({ assessmentId, recipientEmail: nth % 2 ? 'same@example.com' : 'SAME@example.com' }),
  )
  const { done, others } = split(answers, 201)
  expect([done.length, others.length]).toEqual([1, 19])
  const { id } = done[0]!.body.invite as { id: string }
  for (const { status, body, headers } of others) {
    expect([status, body]).toEqual([409, { error: 'An invite for this email and assessment already exists' }])
    expect(headers.link).toMatch(new RegExp(`^<[^<>]*/api/v1/invites/${id}>; rel="existing", `))
  }
  const where = { organizationId }
  expect(await service.db.invite.findMany({ where, select: { id: true } })).toEqual([{ id }])

  // There is one row and one job for the mail, so no second mail can be sent.
  const emails = await service.db.inviteEmail.findMany({ where })
  expect(emails).toHaveLength(1)
  const jobs = await service.db.$queryRaw`SELECT 1 FROM pgboss.job WHERE data->>'emailId' = ${emails[0]!.id}`
  expect(jobs).toHaveLength(1)
  const [mail] = await smtp.waitFor(1)
  expect(mail!.envelope.to[0]!.toLowerCase()).toBe('same@example.com')
})

it('creates one tag for 20 simultaneous requests with the same name', async () => {
  const { id: organizationId, key } = await service.make.organization()
  const { done, others } = split(
    await atOnce((nth) =>
      service
        .v1(key)
        .post('/tags')
        .send({ name: nth % 2 ? 'same' : 'Same' }),
    ),
    201,
  )
  expect([done.length, others.length]).toEqual([1, 19])
  for (const { status, body } of others) expect([status, body]).toEqual([409, { error: 'A tag with this name already exists' }])
  expect(await service.db.tag.count({ where: { organizationId } })).toBe(1)
})

it('creates 20 invites for 20 simultaneous requests for different candidates', async () => {
  const { id: organizationId, key } = await service.make.organization()
  const { id: assessmentId } = await service.make.assessment(organizationId)
  const answers = await atOnce((nth) =>
    service
      .v1(key)
      .post('/invites')
      .send({ assessmentId, recipientEmail: `candidate-${nth}@example.com` }),
  )
  expect(answers.map(({ status }) => status)).toEqual(Array(AT_ONCE).fill(201))
  const { body } = await service.v1(key).get(`/assessments/${assessmentId}`)
  expect(body.inviteCount).toBe(AT_ONCE)
})

it('accepts one of two simultaneous changes to the same name', async () => {
  const { id: organizationId, key } = await service.make.organization()
  const tags = [await service.make.tag(organizationId), await service.make.tag(organizationId)]
  const answers = (await Promise.all(
    tags.map(({ id }) => service.v1(key).patch(`/tags/${id}`).send({ name: 'Wanted' })),
  )) as Answer[]
  const { done, others } = split(answers, 200)
  expect([done.length, others.length]).toEqual([1, 1])
  expect([others[0]!.status, others[0]!.body]).toEqual([409, { error: 'A tag with this name already exists' }])
  expect(await service.db.tag.count({ where: { organizationId, name: 'Wanted' } })).toBe(1)
})

it('keeps simultaneous changes to different fields of a tag', async () => {
  const { id: organizationId, key } = await service.make.organization()
  const { id } = await service.make.tag(organizationId)
  const changes = [{ name: 'Renamed' }, { color: '#ABCDEF' }, { description: 'Described' }]
  await Promise.all(changes.map((change) => service.v1(key).patch(`/tags/${id}`).send(change)))
  expect((await service.v1(key).get(`/tags/${id}`)).body.tag).toMatchObject({
    name: 'Renamed',
    color: '#ABCDEF',
    description: 'Described',
  })
})

it('deletes a tag once for 20 simultaneous requests', async () => {
  const { id: organizationId, key } = await service.make.organization()
  const { id } = await service.make.tag(organizationId)
  const { done, others } = split(await atOnce(() => service.v1(key).delete(`/tags/${id}`)), 200)
  expect([done.length, others.length]).toEqual([1, 19])
  for (const { status, body } of others) expect([status, body]).toEqual([404, { error: 'Tag not found' }])
})

it('never answers 500 while the tags of new invites are deleted', async () => {
  const { id: organizationId, key } = await service.make.organization()
  const { id: assessmentId } = await service.make.assessment(organizationId)
  const tags = await Promise.all(Array.from({ length: AT_ONCE }, () => service.make.tag(organizationId)))
  const answers = (await Promise.all(
    tags.flatMap(({ id }, nth) => [
      service.v1(key).delete(`/tags/${id}`),
      service
        .v1(key)
        .post('/invites')
        .send({ assessmentId, recipientEmail: `candidate-${nth}@example.com`, tagIds: [id] }),
    ]),
  )) as Answer[]
  const [deletions, invites] = [answers.filter((_, i) => i % 2 === 0), answers.filter((_, i) => i % 2 === 1)]
  expect(deletions.map(({ status }) => status)).toEqual(Array(AT_ONCE).fill(200))
  for (const { status, body } of invites) {
    if (status !== 201)
      expect([status, body]).toEqual([400, { error: expect.stringMatching(/^tagIds must be of this organization: \S+ is not$/) }])
  }
  expect(await service.db.inviteTag.count({ where: { organizationId } })).toBe(0)
})
