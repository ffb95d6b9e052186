import { v7 as newId } from 'uuid'
import { describe, expect, test } from 'vitest'
import { type ImportOptions, importDocument } from '../../src/import/import-document.ts'
import { readDocument } from '../../src/import/read-document.ts'
import { candidateOf, prepare } from '../support/candidate.ts'
import { DAY_MS } from '../support/factories.ts'
import { startServiceForFile, startServiceForTest } from '../support/service.ts'
import { dumpDatabase, fullDocument, uniqueName } from './document.ts'

const service = await startServiceForFile()

const load = (document: unknown, options: ImportOptions = {}) => importDocument(service.system, readDocument(document), options)
const find = (id: string, of = service) => of.db.invite.findUniqueOrThrow({ where: { id } })

const findAll = (ids: string[]) => Promise.all(ids.map((id) => find(id)))

/** A document with the given invites, and the key of its organization. */
function documentWith(invites: object[]) {
  const key = `ak_live_${newId().replaceAll('-', '')}`
  const assessmentId = newId()
  const rows = invites.map((invite, index) => ({ id: newId(), assessmentId, recipientEmail: `c${index}@example.com`, ...invite }))
  const organization = { name: uniqueName(), apiKeys: [{ name: 'ATS', key }], assessments: [{ id: assessmentId, name: 'A' }] }
  const document = (changed: object = {}) => ({
    organizations: [{ ...organization, invites: rows.map((row) => ({ ...row, ...changed })) }],
  })
  return { document, key, ids: rows.map(({ id }) => id) }
}

describe('a repeated import of a document', () => {
  /** Loads a document of invites, and then changes each of them differently. */
  async function loadAndMove() {
    const sentAt = new Date(service.clock.now().getTime() - DAY_MS).toISOString()
    const expiresAt = new Date(service.clock.now().getTime() + DAY_MS).toISOString()
    const stamps = { sentAt, expiresAt, updatedAt: sentAt }
    const nothing = { acceptedAt: null, startedAt: null, completedAt: null, revokedAt: null }
    const states = ['pending', 'pending', 'pending', 'revoked', 'pending']
    const made = documentWith(states.map((status) => ({ status, ...nothing, ...stamps })))
    await load(made.document())
    const [completed, extended, revoked, reactivated] = made.ids as [string, string, string, string]
    await prepare(service, await find(completed))
    for (const button of ['accept', 'start', 'finish'] as const)
      expect((await candidateOf(service, await find(completed)).press(button)).status).toBe(303)
    const operate = (id: string, operation: string, body: object) =>
      service.v1(made.key).post(`/invites/${id}/${operation}`).send(body)
    expect((await operate(extended, 'extend', { expiresInDays: 90 })).status).toBe(200)
    expect((await operate(revoked, 'revoke', {})).status).toBe(200)
    expect((await operate(reactivated, 'reactivate', {})).status).toBe(200)
    return made
  }
  const statesOf = async (ids: string[]) => (await findAll(ids)).map(({ status }) => status)

  test('keeps the progress of its invites since the first', async () => {
    const { document, ids } = await loadAndMove()
    const before = await findAll(ids)
    service.clock.advance(60_000)
    expect((await load(document())).counts.invites).toEqual({ created: 0, updated: 0, unchanged: 5 })
    expect(await findAll(ids)).toEqual(before)
  })

  test('updates the other fields it gives, and keeps the progress of invites', async () => {
    const { document, ids } = await loadAndMove()
    const before = await findAll(ids)
    service.clock.advance(60_000)
    expect((await load(document({ customMessage: 'Good luck' }))).counts.invites).toMatchObject({ updated: 5 })
    const changed = { customMessage: 'Good luck', updatedAt: service.clock.now() }
    for (const invite of before) expect(await find(invite.id)).toEqual({ ...invite, ...changed })
  })

  test("doesn't extend an expired invite", async () => {
    const { document, ids } = documentWith([{ expiresAt: '2021-01-01T00:00:00Z' }])
    await load(document())
    const expired = await find(ids[0]!)
    expect(expired.status).toBe('expired')
    await load(document({ expiresAt: new Date(service.clock.now().getTime() + DAY_MS).toISOString() }))
    expect(await find(ids[0]!)).toEqual(expired)
  })

  test('resets invites to the document with --overwrite-progress, and changes nothing the next time', async () => {
    const { document, ids } = await loadAndMove()
    service.clock.advance(60_000)
    const overwritten = await load(document(), { overwriteProgress: true })
    expect(overwritten.counts.invites).toEqual({ created: 0, updated: 4, unchanged: 1 })
    expect(await statesOf(ids)).toEqual(['pending', 'pending', 'pending', 'revoked', 'pending'])
    const nothing = { acceptedAt: null, startedAt: null, completedAt: null, revokedAt: null, assessmentSession: null }
    const [given] = document().organizations[0]!.invites as unknown as [Record<'sentAt' | 'expiresAt' | 'updatedAt', string>]
    const times = { sentAt: new Date(given.sentAt), expiresAt: new Date(given.expiresAt), updatedAt: new Date(given.updatedAt) }
    expect(await find(ids[0]!)).toMatchObject({ ...nothing, ...times })

    const before = await findAll(ids)
    service.clock.advance(60_000)
    expect((await load(document(), { overwriteProgress: true })).counts.invites).toMatchObject({ updated: 0, unchanged: 5 })
    expect(await findAll(ids)).toEqual(before)
  })

  test('keeps fields that the document omits with --overwrite-progress', async () => {
    const { document, ids } = documentWith([{}])
    await load(document())
    await prepare(service, await find(ids[0]!))
    for (const button of ['accept', 'start'] as const) await candidateOf(service, await find(ids[0]!)).press(button)
    const before = await find(ids[0]!)
    await load(document(), { overwriteProgress: true })
    expect(await find(ids[0]!)).toEqual(before)

    service.clock.advance(60_000)
    await load(document({ status: 'completed' }), { overwriteProgress: true })
    const { startedAt, assessmentSession } = before
    expect(await find(ids[0]!)).toMatchObject({
      status: 'completed',
      startedAt,
      assessmentSession,
      completedAt: before.updatedAt,
    })
  })

  test('revives an expired invite with --overwrite-progress if the document gives it more time', async () => {
    const { document, ids } = documentWith([{ status: 'pending', expiresAt: '2021-01-01T00:00:00Z' }])
    await load(document())
    const expiresAt = new Date(service.clock.now().getTime() + DAY_MS)
    await load(document({ expiresAt: expiresAt.toISOString() }), { overwriteProgress: true })
    const updatedAt = service.clock.now()
    expect(await find(ids[0]!)).toMatchObject({ status: 'pending', expiresAt, updatedAt })
  })
})

describe('an imported invite', () => {
  const at = (hour: number) => new Date(Date.UTC(2026, 2, 3, hour))

  test.each([
    ['accepted', {}, { acceptedAt: at(20) }],
    ['started', {}, { acceptedAt: at(20), startedAt: at(20) }],
    ['started', { acceptedAt: at(9) }, { acceptedAt: at(9), startedAt: at(20) }],
    ['completed', { completedAt: at(12) }, { acceptedAt: at(12), startedAt: at(12), completedAt: at(12) }],
    ['completed', { startedAt: at(11), completedAt: null }, { acceptedAt: at(11), startedAt: at(11), completedAt: at(20) }],
    ['revoked', { startedAt: at(11) }, { acceptedAt: null, startedAt: at(11), revokedAt: at(20) }],
    ['pending', {}, { acceptedAt: null }],
  ])('has everything its state implies, with status %s and the timestamps %o', async (status, given, stamps) => {
    const { document, ids } = documentWith([{ status, ...given, updatedAt: at(20), expiresAt: '2099-01-01T00:00:00Z' }])
    await load(document())
    const nothing = { acceptedAt: null, startedAt: null, completedAt: null, revokedAt: null }
    expect(await find(ids[0]!)).toMatchObject({ status, ...nothing, ...stamps, updatedAt: at(20) })
    expect((await load(document())).counts.invites).toMatchObject({ updated: 0, unchanged: 1 })
  })

  test('gets acceptance and start times no later than its expiry', async () => {
    const expiresAt = at(10)
    const { document, ids } = documentWith(['accepted', 'started'].map((status) => ({ status, expiresAt })))
    await load(document())
    expect(await findAll(ids)).toMatchObject([
      { status: 'expired', acceptedAt: expiresAt, updatedAt: expiresAt },
      { status: 'started', acceptedAt: expiresAt, startedAt: expiresAt },
    ])
  })

  test('has a candidate session once started, and shows it', async () => {
    const { document, ids, key } = documentWith([{ status: 'accepted' }, { status: 'started' }, { status: 'completed' }])
    await load(document())
    const sessionOf = async (id: string) =>
      (await service.alternate(key).get(`/assessment_invites/${id}`)).body.assessment_session
    const sessions = await Promise.all(ids.map(sessionOf))
    expect(sessions).toEqual([null, expect.stringMatching(/^[0-9a-f-]{36}$/), expect.stringMatching(/^[0-9a-f-]{36}$/)])
    await load(document())
    expect(await Promise.all(ids.map(sessionOf))).toEqual(sessions)
  })

  test('leads to the player if started, which can complete it', async () => {
    const withPlayer = await startServiceForTest({ PLAYER_URL: 'https://player.example.org/run' })
    const { document, ids } = documentWith([{ status: 'started' }])
    await importDocument(withPlayer.system, readDocument(document()))
    const { headers } = await candidateOf(withPlayer, await find(ids[0]!, withPlayer)).press('start')
    const reference = new URL(headers.location!).searchParams.get('session')
    expect((await withPlayer.http().post(`/player/sessions/${reference}/complete`)).status).toBe(200)
    expect((await find(ids[0]!, withPlayer)).status).toBe('completed')
  })

  test('expires at the end of time if 30 more days would be beyond it', async () => {
    const { document, ids } = documentWith([{ sentAt: '9999-12-31T23:00:00Z' }])
    await load(document())
    expect((await find(ids[0]!)).expiresAt).toEqual(new Date('9999-12-31T23:59:59.999Z'))
    expect((await load(document())).counts.invites).toMatchObject({ unchanged: 1 })
  })
})

test('keeps every field when progress is overwritten with the current state', async () => {
  const document = fullDocument()
  await load(document)
  const before = await dumpDatabase(service.db)
  await load(document, { overwriteProgress: true })
  expect(await dumpDatabase(service.db)).toEqual(before)
})
