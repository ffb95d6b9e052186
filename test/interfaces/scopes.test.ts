import { beforeAll, expect, it } from 'vitest'
import { changeApiKey, createApiKey } from '../../src/domain/api-keys/api-keys.ts'
import { fingerprintOf, restrictedFingerprint, toBase64 } from '../../src/domain/api-keys/key-fingerprints.ts'
import { KEY_SCOPES, type KeyScope } from '../../src/domain/authorization/permissions.ts'
import { KEY_HEADERS, type Operation, readOperations } from '../support/operations.ts'
import { createSampleOrganization, fillPath, type SampleOrganization } from '../support/sample-organization.ts'
import { startServiceForFile } from '../support/service.ts'

const service = await startServiceForFile()
let own: SampleOrganization
let operations: Operation[]
beforeAll(async () => {
  own = await createSampleOrganization(service, 'Scoped')
  operations = await readOperations(service)
})

/** Operation ids by required scope. Both interfaces use the same ids. */
const TABLE: Record<KeyScope, string> = {
  'assessments:read':
    'listAssessments getAssessment listQuestions getQuestion getAssessmentSettings getQuestionDefinition getQuestionMedia getAssessmentStructure getOpenLink',
  'assessments:write':
    'createAssessment duplicateAssessment updateAssessment deleteAssessment addQuestion updateQuestion moveQuestion deleteQuestion putQuestionDefinition replaceOpenLinkSettings importQuestions getQuestionImport listQuestionImportRows',
  'invites:read':
    'listInvites getInvite listInviteEmails listInviteMessages listSuppressions listInviteTags getInviteAccommodations getInviteBatch listInviteBatchRows listAssessmentInvites listAssessmentInvitesOfOrganization getAssessmentInvite getAssessmentInviteOfOrganization',
  'invites:write':
    'createInvite changeInvite resendInvite extendInvite revokeInvite reactivateInvite retakeInvite putInviteAccommodations getInviteLink suppressAddress liftSuppression createInviteBatch simulateInvite deleteTestData createAssessmentInvite createAssessmentInviteOfOrganization',
  'members:read': 'listMembers getMember listOrganizationUsers getOrganizationUser',
  'members:write': 'inviteMember updateMember',
  'tags:read': 'listTags getTag',
  'tags:write': 'createTag updateTag deleteTag',
  'results:read': 'listSubmissions getInviteSubmission getInviteSubmissionReport listInviteNotes',
  'results:write': 'getGrading assignGraders grade releaseResult reopenResult',
  'transcripts:read': 'listInviteTranscripts',
  'events:read': 'listEvents',
  'webhooks:manage':
    'listWebhooks createWebhook getWebhook updateWebhook deleteWebhook rotateWebhookSecret listWebhookDeliveries getWebhookDelivery replayWebhookDelivery replayWebhook testWebhook',
  'audit:read': 'listAuditEntries',
  'candidates:erase': 'eraseCandidate getErasure',
}

async function makeKey(scopes: readonly KeyScope[], networks: readonly string[] = [], mode: 'live' | 'test' = 'live') {
  const { key, apiKey } = await createApiKey(service.system, { organizationId: own.id, name: service.make.unique('key'), mode })
  await changeApiKey(service.system, apiKey.id, { scopes, networks })
  return { key, id: apiKey.id }
}

/** Sends a request without a body: the service checks the key first. */
const ask = ({ interface: name, method, path }: Operation, key: string) =>
  service.app.inject({ method: method.toUpperCase() as 'GET', url: fillPath(path, own), headers: { [KEY_HEADERS[name]]: key } })

it.each(KEY_SCOPES)('allows a key with the scope %s its operations, and no others', async (scope) => {
  const keys = { live: (await makeKey([scope])).key, test: (await makeKey([scope], [], 'test')).key }
  const allowed: string[] = []
  for (const operation of operations) {
    const { statusCode, headers, body } = await ask(operation, operation.isForTests ? keys.test : keys.live)
    const isRefused = headers['x-error-code'] === 'insufficient_scope'
    expect([operation.id, isRefused]).toEqual([operation.id, statusCode === 403])
    if (isRefused && operation.interface === 'v1') expect(body).toMatch(/^\{"error":"This key lacks the scope: [a-z:]+"\}$/)
    if (!isRefused) allowed.push(operation.id)
  }
  expect([...new Set(allowed)].sort()).toEqual(TABLE[scope].split(' ').filter(Boolean).sort())
})

it('assigns exactly one scope to each documented operation', () => {
  const named = Object.values(TABLE).flatMap((ids) => ids.split(' ').filter(Boolean))
  expect([...new Set(operations.map(({ id }) => id))].sort()).toEqual(named.sort())
})

it('treats an IPv4 network in IPv6 notation as an IPv4 network', async () => {
  const { key } = await makeKey([], ['::ffff:203.0.113.9', '::ffff:198.51.100.0/120'])
  const read = async (remoteAddress: string) =>
    (await service.app.inject({ url: '/api/v1/tags', headers: { 'x-api-key': key }, remoteAddress })).statusCode
  const asked = ['::ffff:203.0.113.9', '203.0.113.9', '198.51.100.7', '203.0.113.8', '198.51.101.7']
  expect(await Promise.all(asked.map(read))).toEqual([200, 200, 200, 403, 403])
})

it('allows a key only from its networks', async () => {
  const { key, id } = await makeKey([], ['203.0.113.0/24', '2001:db8::/32'])
  const read = async (remoteAddress: string) => {
    const { statusCode, headers } = await service.app.inject({
      url: '/api/v1/tags',
      headers: { 'x-api-key': key },
      remoteAddress,
    })
    return headers['x-error-code'] ?? statusCode
  }
  expect(await read('203.0.113.9')).toBe(200)
  expect(await read('::ffff:203.0.113.9')).toBe(200)
  expect(await read('2001:db8:1::5')).toBe(200)
  expect(await read('203.0.114.9')).toBe('network_not_allowed')
  expect(await read('127.0.0.1')).toBe('network_not_allowed')
  await changeApiKey(service.system, id, { networks: [] })
  expect(await read('127.0.0.1')).toBe(200)
})

it('hides a restricted key from releases that know no restrictions, even after changes', async () => {
  const { key, id } = await makeKey(['tags:read'])
  const stored = async () => toBase64((await service.db.apiKey.findUniqueOrThrow({ where: { id } })).hash)
  const expected = restrictedFingerprint(fingerprintOf(key))
  expect(await stored()).toBe(expected)
  const { status: before } = await service.v1(key).post('/tags').send({ name: 'New' })
  await changeApiKey(service.system, id, { scopes: [] })
  const { status: after } = await service.v1(key).post('/tags').send({ name: 'New' })
  await changeApiKey(service.system, id, { scopes: ['tags:read', 'members:write'] })
  expect([before, after, await stored()]).toEqual([403, 201, expected])
  expect((await service.v1(key).get('/tags')).status).toBe(200)
  // Removing the scopes also removes the right that came with them.
  const { rights } = await service.db.apiKey.findUniqueOrThrow({ where: { id } })
  const { rights: left } = await changeApiKey(service.system, id, { scopes: [] })
  expect([rights, left]).toEqual([['manage'], []])
})
