import { changeApiKey, createApiKey } from '../../src/domain/api-keys/api-keys.ts'
import { EMPTY_QUESTION } from '../../src/domain/assessments/question-input.ts'
import { KEY_SCOPES } from '../../src/domain/authorization/permissions.ts'
import { type Context, enterOrganization, type KeyMode } from '../../src/domain/context.ts'
import { encryptClientSecret } from '../../src/domain/single-sign-on/provider-secrets.ts'
import { createEndpoint } from '../../src/domain/webhooks/endpoints.ts'
import type { Invite } from '../../src/generated/prisma/client.ts'
import { links } from './links.ts'
import type { FieldSchema } from './operations.ts'
import { makePicture } from './pictures.ts'
import type { Service } from './service.ts'

export type SampleOrganization = Awaited<ReturnType<typeof createSampleOrganization>>

/** Creates an organization with one row of each kind, all related to each other. Every name and text contains `words`. */
export async function createSampleOrganization(service: Service, words: string) {
  const { make, db, deps, system } = service
  const { id: organizationId, key, apiKeyId } = await make.organization()
  await changeApiKey(system, apiKeyId, { rights: ['manage'], scopes: KEY_SCOPES }) // includes the scope for the audit log, which keys lack by default
  await db.organization.update({ where: { id: organizationId }, data: { name: `${words} organization` } })
  const person = { firstName: `${words} first`, lastName: `${words} last`, email: `${words}@example.com` }
  const member = await make.member(organizationId, { ...person, roles: ['admin', 'grader', 'client'] })
  const tag = await make.tag(organizationId, { name: `${words} tag`, createdById: member.id })
  const rest = { id: deps.newId(), organizationId }
  const instruction = await db.instruction.create({ data: { ...rest, body: `${words} instruction` } })
  const category = await db.category.create({ data: { ...rest, id: deps.newId(), name: `${words} category` } })
  const language = await make.language('en')
  const assessment = await make.assessment(organizationId, {
    name: `${words} assessment`,
    instructionId: instruction.id,
    createdById: member.id,
    skillTypes: [words],
  })
  const question = await make.question(assessment, { script: `${words} script`, points: 1 })
  const invite = await make.invite(assessment, {
    assignedGraderId: member.id,
    recipientEmail: `candidate.${words}@example.com`,
    recipientName: `${words} candidate`,
    customMessage: `${words} message`,
  })
  const email = await db.inviteEmail.create({
    data: { ...rest, id: deps.newId(), inviteId: invite.id, linkVersion: 1, createdAt: deps.clock(), updatedAt: deps.clock() },
  })
  const join = links(db)
  await join.tagMember(member, tag)
  await join.tagAssessment(assessment, tag)
  await join.tagInvite(invite, tag)
  await join.addClients(assessment, member)
  await join.addLanguages(assessment, language)
  await join.addCategories(assessment, category)
  await join.addGradingLanguages(member, language)
  const { webhook, delivery } = await makeWebhook(service, organizationId, words)
  const batch = await makeBatch(service, invite, words)
  const picture = { id: await makePicture(service, organizationId) }
  const erasure = { id: await makeErasure(service, organizationId) }
  const suppression = await db.suppression.create({
    data: {
      ...rest,
      id: deps.newId(),
      mode: 'live',
      address: `${words}.gone@example.com`,
      reason: 'bounce',
      since: deps.clock(),
    },
  })
  const importRow = { fileName: `${words}.gift`, format: 'gift', createdById: member.id, createdAt: deps.clock() }
  const questionImport = await db.libraryImport.create({ data: { ...rest, id: deps.newId(), ...importRow } })
  const of = {
    picture,
    instruction,
    category,
    assessment,
    question,
    invite,
    email,
    webhook,
    delivery,
    batch,
    suppression,
    erasure,
    questionImport,
  }
  return { id: organizationId, key, member, tag, ...of }
}

/** Creates a finished batch whose only row is an invite that already existed. */
async function makeBatch({ db, deps }: Service, invite: Invite, words: string) {
  const { organizationId, assessmentId, mode, recipientEmail: email } = invite
  const [id, at] = [deps.newId(), deps.clock()]
  const times = { createdAt: at, startedAt: at, finishedAt: at }
  await db.inviteBatch.create({ data: { id, organizationId, assessmentId, mode, terms: {}, unusedColumns: [], ...times } })
  const row = { number: 1, state: 'already', email, name: `${words} row`, terms: {}, inviteId: invite.id } as const
  await db.inviteBatchRow.create({ data: { organizationId, batchId: id, ...row } })
  return { id }
}

/** Creates a webhook with one delivered event. Its domain `.invalid` never answers. */
export async function makeWebhook({ system, db, deps }: Service, organizationId: string, words: string, mode: KeyMode = 'live') {
  const organization = await db.organization.findUniqueOrThrow({ where: { id: organizationId } })
  const ctx: Context = enterOrganization({ ...system, actor: { kind: 'operator' } }, organization)
  const { endpoint } = await createEndpoint(ctx, { url: 'https://webhooks.invalid/', mode, description: `${words} webhook` })
  const [id, now] = [deps.newId(), deps.clock()]
  const row = { organizationId, endpointId: endpoint.id, eventId: id, queuedAt: now, nextAttemptAt: now }
  await db.webhookDelivery.create({ data: { ...row, state: 'delivered' } })
  return { webhook: { id: endpoint.id }, delivery: { id } }
}

/** Creates rows of a library question, which the given question comes from, and of a question import. */
export async function makeLibrary(
  { db, deps }: Service,
  { memberId, questionId, organizationId }: { organizationId: string; questionId: string; memberId: string },
) {
  const [libraryId, importId, createdAt] = [deps.newId(), deps.newId(), deps.clock()]
  const head = {
    organizationId,
    id: libraryId,
    name: 'Any',
    nameWords: ['any'],
    responseType: 'text',
    number: 1,
    createdAt,
    updatedAt: createdAt,
  }
  await db.libraryQuestion.create({ data: head })
  await db.libraryVersion.create({
    data: {
      organizationId,
      libraryQuestionId: libraryId,
      number: 1,
      content: { ...EMPTY_QUESTION, script: 'Any' },
      contentHash: new Uint8Array(32),
      createdAt,
    },
  })
  await db.question.update({ where: { id: questionId }, data: { libraryQuestionId: libraryId, libraryNumber: 1 } })
  const file = { organizationId, id: importId, fileName: 'any.gift', format: 'gift', createdById: memberId, createdAt }
  await db.libraryImport.create({ data: file })
  return { libraryId, importId }
}

/** Creates rows of a locked question version and its answer key. @returns the version's id. */
export async function makeAskedVersion({ db, deps }: Service, organizationId: string): Promise<string> {
  const [id, createdAt] = [deps.newId(), deps.clock()]
  const of = { organizationId, createdAt }
  await db.questionVersion.create({ data: { ...of, id, responseType: 'number', spec: {}, lockedAt: createdAt } })
  await db.answerKey.create({ data: { ...of, versionId: id, number: 1, key: { answers: [{ value: '1', share: 100 }] } } })
  return id
}

/** Creates rows of an invite's Greenhouse order, with its connection and key. */
export async function makeAtsOrder({ db, deps }: Service, inviteId: string) {
  const { organizationId, mode } = await db.invite.findUniqueOrThrow({ where: { id: inviteId } })
  const [connectionId, atsKeyId, orderId, now] = [deps.newId(), deps.newId(), deps.newId(), deps.clock()]
  const connection = {
    id: connectionId,
    organizationId,
    ats: 'greenhouse',
    mode,
    createdAt: now,
    updatedAt: now,
  } as const
  await db.atsConnection.create({ data: connection })
  const key = { hash: new TextEncoder().encode(atsKeyId), lastFour: 'abcd', encryptedKey: new Uint8Array() }
  await db.atsKey.create({ data: { ...key, id: atsKeyId, organizationId, connectionId, createdAt: now } })
  const order = { naturalKey: orderId, keyId: atsKeyId, callbackUrl: 'https://app.greenhouse.invalid/1', lastError: '404' }
  await db.atsOrder.create({ data: { ...order, id: orderId, organizationId, connectionId, inviteId, createdAt: now } })
  return { ats: 'greenhouse', connectionId, atsKeyId, orderId }
}

/** Adds test data to an organization: a key, an invite to the same address, a batch, a suppression, and a webhook. */
export async function createSampleTestData(
  service: Service,
  own: SampleOrganization,
  words: string,
): Promise<SampleOrganization> {
  const { make, db, deps, system } = service
  const { key, apiKey } = await createApiKey(system, { organizationId: own.id, name: `${words} key`, mode: 'test' })
  await changeApiKey(system, apiKey.id, { rights: ['manage'], scopes: KEY_SCOPES })
  const { recipientEmail } = own.invite
  const named = { recipientName: `${words} candidate`, customMessage: `${words} message` }
  const invite = await make.invite(own.assessment, { mode: 'test', recipientEmail, assignedGraderId: own.member.id, ...named })
  const times = { createdAt: deps.clock(), updatedAt: deps.clock() }
  const of = { id: deps.newId(), organizationId: own.id, inviteId: invite.id }
  const email = await db.inviteEmail.create({ data: { ...of, linkVersion: 1, ...times } })
  await links(db).tagInvite(invite, own.tag)
  const batch = await makeBatch(service, invite, words)
  const suppressed = { organizationId: own.id, mode: 'test', address: `${words}.gone@example.com`, reason: 'bounce' } as const
  const suppression = await db.suppression.create({ data: { ...suppressed, id: deps.newId(), since: deps.clock() } })
  return { ...own, key, invite, email, batch, suppression, ...(await makeWebhook(service, own.id, words, 'test')) }
}

/** Returns the ids of all of the organization's rows, by kind. */
export const idsOf = ({ id, member, ...rows }: SampleOrganization): Record<string, string> => ({
  organization: id,
  member: member.id,
  user: member.userId,
  ...Object.fromEntries(Object.entries(rows).flatMap(([kind, row]) => (typeof row === 'object' ? [[kind, row.id]] : []))),
})

/** Fills a path of the OpenAPI document with ids of the organization. */
export const fillPath = (path: string, of: SampleOrganization): string =>
  path.replaceAll(/([^/]+)\/\{(\w+)\}/g, (_all, before: string) => `${before}/${ownIdFor(before, of)}`)

/** Creates a valid body from the schemas of its fields, with ids of the organization. */
export function fillBody(fields: Record<string, FieldSchema>, of: SampleOrganization): Record<string, unknown> {
  return Object.fromEntries(Object.entries(fields).map(([name, schema]) => [name, fillField(name, schema, of)]))
}

function fillField(
  name: string,
  { type, format, pattern, properties, items, enum: words }: FieldSchema,
  of: SampleOrganization,
): unknown {
  const [first] = [type].flat()
  if (first === 'object') return fillBody(properties ?? {}, of)
  if (first === 'array') return items ? [fillField(name, items, of)] : []
  if (first === 'integer' || first === 'number') return 1
  if (first === 'boolean') return true
  if (format === 'uuid') return ownIdFor(name, of)
  if (format === 'email') return `${crypto.randomUUID()}@example.com`
  return words?.[0] ?? (pattern?.startsWith('^#') ? '#2563EB' : crypto.randomUUID())
}

/** Returns the organization's id of the kind that a path segment, parameter, or field of this name takes. */
export function ownIdFor(name: string, of: SampleOrganization): string {
  const kinds = [
    [/webhook/i, of.webhook.id],
    [/import/i, of.questionImport.id],
    [/suppression/i, of.suppression.id],
    [/erasure/i, of.erasure.id],
    [/batch/i, of.batch.id],
    [/deliver/i, of.delivery.id],
    [/tag/i, of.tag.id],
    [/invite/i, of.invite.id],
    [/question-media|media_?id/i, of.picture.id],
    [/question/i, of.question.id],
    [/assessment/i, of.assessment.id],
    [/grader|user|member|created_by/i, of.member.id],
  ] as const
  return kinds.find(([pattern]) => pattern.test(name))?.[1] ?? of.id
}

/** Creates the row of a finished erasure. @returns its id. */
export async function makeErasure({ db, deps, clock }: Service, organizationId: string): Promise<string> {
  const [id, now] = [deps.newId(), clock.now()]
  const done = { step: 'receipt', counts: { invites: 1 }, createdAt: now, finishedAt: now, backupsUntil: now }
  const row = { organizationId, id, subject: 'candidate', addressHmac: new Uint8Array(16), actorKind: 'operator', ...done }
  await db.erasure.create({ data: row })
  return id
}

/** Creates the row of a candidate's archive, unfinished by default. @returns its id. */
export async function makeArchiveRow(
  { db, deps, clock }: Service,
  organizationId: string,
  given: { finishedAt?: Date } = {},
): Promise<string> {
  const [id, now] = [deps.newId(), clock.now()]
  const whose = { subject: 'candidate', addressHmac: new Uint8Array(16), actorKind: 'operator' }
  const data = { organizationId, id, ...whose, createdAt: now, expiresAt: new Date(now.getTime() + 604_800_000), ...given }
  await db.archive.create({ data })
  return id
}

/** Creates rows of a stopped bulk change with one invite. @returns its id. */
export async function makeBulkChange(
  { db, deps, clock }: Service,
  { organizationId, inviteId, memberId }: { organizationId: string; inviteId: string; memberId: string },
): Promise<string> {
  const [id, now] = [deps.newId(), clock.now()]
  const change = { id, organizationId, mode: 'live', action: 'revoke', params: {}, createdById: memberId } as const
  await db.bulkChange.create({ data: { ...change, createdAt: now, stoppedAt: now } })
  await db.bulkChangeRow.create({ data: { bulkChangeId: id, organizationId, number: 1, inviteId, state: 'invalid' } })
  return id
}

/** Creates rows of an identity provider, a domain, and a member's linked identity. No provider runs at the address. */
export async function makeSsoRows(
  { db, deps, system }: Pick<Service, 'db' | 'deps' | 'system'>,
  { organizationId, memberId, credentialId }: { organizationId: string; memberId: string; credentialId: string },
) {
  const [providerId, domainId, identityId] = [deps.newId(), deps.newId(), deps.newId()]
  const now = deps.clock()
  const encryptedClientSecret = encryptClientSecret(system, providerId, 'a-secret-of-the-client-0123456789')
  const issuer = 'https://127.0.0.1'
  const settings = { name: 'words', issuer, clientId: 'words', clientAuth: 'client_secret_basic', encryptedClientSecret }
  await db.signInProvider.create({
    data: { id: providerId, organizationId, ...settings, lastError: 'words', lastErrorAt: now, createdAt: now, updatedAt: now },
  })
  const domain = `${deps.newId()}.example`
  await db.signInDomain.create({ data: { id: domainId, organizationId, domain, token: 'words', createdAt: now } })
  const person = { issuer, subject: identityId, credentialId, organizationId, memberId, lastEmail: 'words' }
  await db.identity.create({ data: { id: identityId, providerId, ...person, linkedBy: 'self', linkedAt: now } })
  return { providerId, domainId, identityId }
}

/** Creates rows of a share link to one result. @returns its id. */
export async function makeShareLink(
  service: Service,
  of: { organizationId: string; assessmentId: string; createdById: string },
  submissionId: string,
): Promise<string> {
  const [id, createdAt] = [service.deps.newId(), service.clock.now()]
  const terms = { receiver: 'Tom', shows: [], asksFeedback: false, hasCode: false }
  await service.db.shareLink.create({
    data: { ...of, ...terms, id, mode: 'live', expiresAt: new Date(createdAt.getTime() + 3_600_000), createdAt },
  })
  const { organizationId } = of
  await service.db.sharedResult.create({ data: { organizationId, shareLinkId: id, position: 1, submissionId } })
  return id
}
