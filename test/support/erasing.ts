import { expect } from 'vitest'
import { createApiKey } from '../../src/domain/api-keys/api-keys.ts'
import { type Context, enterOrganization, inMode } from '../../src/domain/context.ts'
import { listSuppressions } from '../../src/domain/invites/suppressions.ts'
import { deleteExpiredMedia } from '../../src/domain/submissions/media/delete-expired-media.ts'
import { startReceiver } from './receiver.ts'
import { saveFormInSession } from './saved-forms.ts'
import type { Service } from './service.ts'
import { waitUntil } from './wait-until.ts'

/** Unique data of the person to erase. Tests search for it everywhere. */
export const ADDRESS = 'Zelda.Quirrell@Erase-Me.example'
export const NAME = 'Zelda Quirrell-Ondine'
export const ANSWER = 'An answer nobody else has: xylophonic quagmires'
export const COMMENT = 'A comment on it: perspicacious wombats'
const MESSAGE = 'A message of one’s own: ineffable marmalade'
const EXTERNAL_ID = 'applicant-zq-9918273'
const SECRETS = [ADDRESS, NAME, ANSWER, COMMENT, MESSAGE, EXTERNAL_ID]

/** Returns the spellings of a text, in lowercase: plain, URL-encoded, in hex, and in base64 at each of its three offsets. */
export const spellingsOf = (text: string): string[] =>
  [text, text.toLowerCase()].flatMap((one) => [
    one.toLowerCase(),
    encodeURIComponent(one).toLowerCase(),
    Buffer.from(one).toString('hex'),
    ...['', ' ', '  '].map((before) =>
      Buffer.from(before + one)
        .toString('base64')
        .slice(before === '' ? 0 : 4, -4)
        .toLowerCase(),
    ),
  ])
const SPELLINGS = [...new Set(SECRETS.flatMap(spellingsOf))]

/** Returns the spellings of the candidate's data that the text contains. */
export const hitsIn = (text: string): string[] => {
  const said = text.toLowerCase()
  return SPELLINGS.filter((spelling) => said.includes(spelling))
}

/** Returns all rows of all tables as JSON, by the table's name, without the column that marks accounts for the sweep. */
export async function dumpRows({ db }: Service): Promise<Map<string, string[]>> {
  const tables = await db.$queryRaw<{ name: string }[]>`
    SELECT format('%I.%I', table_schema, table_name) AS name FROM information_schema.tables
    WHERE table_schema NOT IN ('pg_catalog', 'information_schema') AND table_type = 'BASE TABLE' ORDER BY 1`
  const dump = new Map<string, string[]>()
  for (const { name } of tables) {
    const rows = await db.$queryRawUnsafe<{ text: string }[]>(
      `SELECT (to_jsonb(t) - 'needs_orphan_check')::text AS text FROM ${name} t`,
    )
    dump.set(
      name,
      rows.map(({ text }) => text),
    )
  }
  return dump
}

/** Returns all keys of the media store, sorted. */
export async function listStore({ deps }: Service): Promise<string[]> {
  const keys: string[] = []
  for await (const files of deps.media.list()) keys.push(...files.map(({ key }) => key))
  return keys.sort()
}

/** Returns the lines of the erasure log, which is stored outside the database, that contain the id, newest first. */
export async function linesOf({ deps }: Pick<Service, 'deps'>, id: string): Promise<string[]> {
  const lines: string[] = []
  for await (const line of (await deps.erasureLog.read()) ?? []) if (line.includes(id)) lines.push(line)
  return lines
}

/** Returns a context of the organization with an actor who may erase. */
export const asEraser = (service: Service, organization: { id: string; name: string }): Context =>
  enterOrganization({ ...service.system, actor: { kind: 'operator' } }, { ...organization, tier: 'standard' })

/**
 * Creates an organization with several candidates. One of them has data everywhere: they were invited several times, also by a list; recorded,
 * graded, and released; a mail bounced, and their address was suppressed; webhooks reported them to a receiver that answers with their address;
 * and they are named in saved filters, the audit log, saved forms, idempotency keys, and the queue.
 */
export async function makeErasable(service: Service, { others = 3 } = {}) {
  const organization = await service.make.organization({ mode: 'test' })
  const assessments: Awaited<ReturnType<Service['make']['assessment']>>[] = []
  for (const kinds of [['text', 'audio', 'video'], ['text'], ['text']]) {
    const assessment = await service.make.assessment(organization.id)
    for (const [i, responseType] of kinds.entries())
      await service.make.question(assessment, { order: i + 1, responseType, points: 5 })
    assessments.push(assessment)
  }
  const { key: live } = await createApiKey(service.system, { organizationId: organization.id, name: 'Live', mode: 'live' })
  await service.make.member(organization.id, { roles: ['grader'] })
  const v1 = service.v1(organization.key)
  const addressOf = new Map<string, string>()
  const receiver = await startReceiver(
    (response, { event }) =>
      void response
        .writeHead(200, { 'content-type': 'text/plain' })
        .end(`thanks for ${addressOf.get(event.data.inviteId) ?? 'it'}`),
  )
  expect((await v1.post('/webhooks').send({ url: receiver.url })).status).toBe(201)
  const invite = async (recipientEmail: string, at: number, fields: object = {}, by = v1): Promise<string> => {
    const given = { assessmentId: assessments[at]!.id, recipientEmail, ...fields }
    const { status, body } = await by
      .post('/invites')
      .set('Idempotency-Key', service.make.unique('once').replace(' ', ''))
      .send(given)
    expect([status, body.error]).toEqual([201, undefined])
    addressOf.set(body.invite.id, recipientEmail)
    return body.invite.id
  }
  const act = async (id: string, action: string, given: object = {}) => {
    const { status, body } = await v1
      .post(`/invites/${id}/simulate`)
      .set('Idempotency-Key', service.make.unique('act').replace(' ', ''))
      .send({ action, ...given })
    expect([status, body.error]).toEqual([200, undefined])
  }
  const theirs = { recipientName: NAME, customMessage: MESSAGE, externalId: EXTERNAL_ID, metadata: { who: NAME } }
  const ids = [await invite(ADDRESS, 0, theirs), await invite(ADDRESS.toLowerCase(), 1, theirs)]
  const otherIds: string[] = []
  for (let i = 0; i < others; i++) otherIds.push(await invite(`other${i}@keep-me.example`, i % 2, { externalId: `other-${i}` }))
  const rows = [...Array(2).keys()].map((i) => ({ recipientEmail: `listed${i}@keep-me.example` }))
  const { body } = await v1
    .post('/invite-batches')
    .set('Idempotency-Key', `for-${ADDRESS}-${organization.id}`)
    .send({
      assessmentId: assessments[2]!.id,
      invites: [...rows, { recipientEmail: ADDRESS, ...theirs }, { recipientEmail: ADDRESS }],
    })
  const listed = await waitUntil("the list's invites", async () => {
    const made = await service.db.inviteBatchRow.findMany({ where: { batchId: body.batch.id, inviteId: { not: null } } })
    return made.length >= 3 ? made : undefined
  })
  const third = listed.find(({ email }) => email === ADDRESS)!.inviteId!
  addressOf.set(third, ADDRESS)
  ids.push(third)
  const [first, second] = ids as [string, string]
  const graded = { answers: [{ number: 1, text: ANSWER }], grades: [{ number: 1, points: 4, comment: COMMENT }] }
  await act(first, 'release', graded)
  await act(otherIds[0]!, 'release')
  if (otherIds[1]) await act(otherIds[1], 'complete')
  await act(second, 'start')
  await act(third, 'bounce')
  const asKey: Context = inMode(asEraser(service, organization), 'test')
  expect((await v1.post('/suppressions').send({ address: ADDRESS })).status).toBe(201)
  expect((await v1.post('/suppressions').send({ address: 'other0@keep-me.example' })).status).toBe(201)
  ids.push(await invite(ADDRESS, 1, theirs, service.v1(live))) // a live invite
  await leaveTraces(service, { organizationId: organization.id, inviteId: first })
  const media = await waitUntil('the recordings', async () => {
    const found = await service.db.mediaFile.findMany({ where: { organizationId: organization.id } })
    return found.length > 0 && found.every(({ state }) => state === 'ready') ? found : undefined
  })
  await waitUntil('all deliveries and mails', async () => {
    const numbered = await service.db.event.count({ where: { organizationId: organization.id, position: null } })
    const events = await service.db.event.count({ where: { organizationId: organization.id, mode: 'test' } })
    const delivered = await service.db.webhookDelivery.count({ where: { organizationId: organization.id, state: 'delivered' } })
    const queued = await service.db.inviteEmail.count({ where: { organizationId: organization.id, state: 'queued' } })
    return numbered === 0 && delivered === events && queued === 0 ? true : undefined
  })
  // Runs the sweep once, so that it doesn't run between two dumps.
  await deleteExpiredMedia(service.system, { idPhoto: 365, proctoring: 365, answers: 365 })
  const suppressed = async (address: string) =>
    (await listSuppressions(asKey, { search: address }, { field: 'since', direction: 'desc' }, { number: 1, size: 10 })).items
  return { organization, assessments, ids, otherIds, media, receiver, v1, live: service.v1(live), suppressed, invite, act }
}

/** Adds copies of personal data to mail replies, mail events, saved filters, the audit log, saved forms, and the queue. */
async function leaveTraces(
  { db, deps, system }: Service,
  { organizationId, inviteId }: { organizationId: string; inviteId: string },
): Promise<void> {
  const now = deps.clock()
  const said = `550 5.1.1 <${ADDRESS}>: unknown`
  const mail = await db.inviteEmail.findFirstOrThrow({ where: { inviteId } })
  await db.inviteEmail.update({ where: { id: mail.id }, data: { reason: said, bounceReason: said } })
  const bounceEvent = { provider: 'dsn', eventId: mail.id, emailId: mail.id, receivedAt: now, processedAt: now }
  await db.mailEvent.create({ data: { id: deps.newId(), ...bounceEvent, body: new Uint8Array(Buffer.from(said)) } })
  const member = await db.member.findFirstOrThrow({ where: { organizationId } })
  const kept = { id: deps.newId(), organizationId, memberId: member.id, isShared: false, createdAt: now }
  await db.savedFilter.create({ data: { ...kept, name: 'Theirs', query: `search=${encodeURIComponent(ADDRESS)}` } })
  const entry = { actorKind: 'member', action: 'lifted_suppression', details: { was: 'manual', why: `${ADDRESS} has asked` } }
  await db.auditEntry.create({ data: { id: deps.newId(), organizationId, ...entry, at: now } })
  const signsIn = { email: member.email, passwordHash: 'none', passwordChangedAt: now, createdAt: now }
  const credential = await db.credential.create({ data: { id: deps.newId(), ...signsIn } })
  await db.member.update({ where: { id: member.id }, data: { credentialId: credential.id } })
  const form = { url: `/portal/${organizationId}/invites?search=${encodeURIComponent(ADDRESS)}`, isMultipart: false, page: null }
  await saveFormInSession(system, credential.id, { ...form, fields: [['email', ADDRESS]], isIncomplete: false })
  await db.$executeRaw`
    INSERT INTO pgboss.job (name, data, state, output) SELECT name, '{}', 'failed', jsonb_build_object('message', ${said}::text)
    FROM pgboss.queue WHERE name = 'mail-event'`
}

/** Returns the ids of the invites, their submissions, mails, events, and media. Any row that belongs to the invites contains one of these ids. */
export async function idsOf({ db }: Service, inviteIds: string[]): Promise<string[]> {
  const where = { inviteId: { in: inviteIds } }
  const select = { id: true } as const
  const submissions = await db.submission.findMany({ where, select })
  const found = [
    ...submissions,
    ...(await db.inviteEmail.findMany({ where, select })),
    ...(await db.event.findMany({ where, select })),
    ...(await db.mediaFile.findMany({ where: { submissionId: { in: submissions.map(({ id }) => id) } }, select })),
  ]
  return [...inviteIds, ...found.map(({ id }) => id)]
}
