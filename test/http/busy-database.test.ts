import { Client } from 'pg'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { candidateOf } from '../support/candidate.ts'
import { type Service, startService } from '../support/service.ts'
import { waitUntil } from '../support/wait-until.ts'

// A table is locked for longer than a request waits, for example by a migration or by somebody's session.
let service: Service
let locker: Client
beforeAll(async () => {
  service = await startService()
  locker = new Client({ connectionString: service.databaseUrl })
  await locker.connect()
})
afterAll(async () => {
  await locker.end()
  await service.close()
})

it('answers 503 with Retry-After on each interface if the database is busy, and the same request succeeds later', async () => {
  const { make, v1, alternate, logLines } = service
  const { id, key } = await make.organization()
  const assessment = await make.assessment(id)
  const candidate = candidateOf(service, await make.invite(assessment))
  const invite = { assessmentId: assessment.id, recipientEmail: 'sam@example.com' }
  const create = () => v1(key).post('/invites').set('idempotency-key', 'once').send(invite)

  await locker.query('BEGIN; LOCK TABLE invites IN ACCESS EXCLUSIVE MODE')
  const [listed, listedAlternate, created, page] = await Promise.all([
    v1(key).get('/invites'),
    alternate(key).get('/assessment_invites'),
    create(),
    candidate.open(),
  ])
  await locker.query('COMMIT')
  const busy = { error: 'The service is busy. Please try again later.' }
  for (const answer of [listed, created]) expect([answer.status, answer.body]).toEqual([503, busy])
  expect([listedAlternate.status, listedAlternate.body]).toEqual([
    503,
    { detail: 'Service temporarily unavailable, try again later.' },
  ])
  expect([page.status, page.text]).toEqual([503, expect.stringContaining('Try again in a few minutes')])
  for (const { headers } of [listed, listedAlternate, created, page]) expect(headers['retry-after']).toBe('5')
  const warnings = logLines.filter((line) => line.includes('database busy: the client is told to retry'))
  expect(warnings).toHaveLength(4)
  expect(logLines.filter((line) => line.includes('request failed'))).toEqual([])

  const retried = await create()
  expect([retried.status, retried.headers['idempotent-replayed']]).toEqual([201, undefined])
})

it('answers 503 if a statement times out', async () => {
  const { key } = await service.make.organization()
  await locker.query('BEGIN; LOCK TABLE invites IN ACCESS EXCLUSIVE MODE')
  let status: number | undefined
  void service
    .v1(key)
    .get('/invites')
    .then((answer) => {
      status = answer.status
    })
  await waitUntil('an answer', async () => {
    // Cancels the statement like the statement timeout, before the lock timeout.
    await locker.query(`SELECT pg_cancel_backend(pid) FROM pg_locks WHERE NOT granted AND relation = 'invites'::regclass`)
    return status
  })
  await locker.query('COMMIT')
  expect(status).toBe(503)
})
