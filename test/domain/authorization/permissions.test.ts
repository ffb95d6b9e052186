import { expect, it } from 'vitest'
import type { Actor } from '../../../src/domain/actor.ts'
import { listKeys } from '../../../src/domain/api-keys/manage-keys.ts'
import { requestOrganizationExport } from '../../../src/domain/archives/request-archive.ts'
import { EMPTY_ASSESSMENT, toAssessmentInput } from '../../../src/domain/assessments/assessment-input.ts'
import { getAssessment } from '../../../src/domain/assessments/assessments.ts'
import { createAssessment, updateAssessment } from '../../../src/domain/assessments/edit-assessments.ts'
import { listConnections } from '../../../src/domain/ats/connections.ts'
import { listAuditEntries } from '../../../src/domain/audit/audit-log.ts'
import { type Permission, PORTAL_ROLES } from '../../../src/domain/authorization/permissions.ts'
import { type Context, enterOrganization, inMode } from '../../../src/domain/context.ts'
import { findTraces } from '../../../src/domain/erasure/find-traces.ts'
import { liftSuspension } from '../../../src/domain/erasure/suspension.ts'
import { createInvite } from '../../../src/domain/invites/create-invite.ts'
import { decide } from '../../../src/domain/invites/decisions/decide.ts'
import { listClientAssessments } from '../../../src/domain/invites/form-options.ts'
import { revokeInvite } from '../../../src/domain/invites/operate-invite.ts'
import { readOverview } from '../../../src/domain/invites/overview/read-overview.ts'
import { countAssigned } from '../../../src/domain/invites/overview/read-own-overview.ts'
import { listLibrary } from '../../../src/domain/library/list-library.ts'
import { inviteMember } from '../../../src/domain/members/invite-member.ts'
import { readOrganizationSecurity } from '../../../src/domain/organization/organization-security.ts'
import { readOrganizationSettings } from '../../../src/domain/organization/organization-settings.ts'
import { listExportedQuestions } from '../../../src/domain/submissions/grading/export-grades.ts'
import { readGrading } from '../../../src/domain/submissions/grading/grade-for-members.ts'
import { listQueue } from '../../../src/domain/submissions/grading/queue.ts'
import { getTranscript } from '../../../src/domain/submissions/transcripts/read-transcripts.ts'
import { createTag, listTags, wholeTag } from '../../../src/domain/tags/tags.ts'
import { deleteTestData } from '../../../src/domain/test-data/delete-test-data.ts'
import { createEndpoint } from '../../../src/domain/webhooks/endpoints.ts'
import { startServiceForFile } from '../../support/service.ts'

const service = await startServiceForFile({ ATS_GREENHOUSE: 'on' })

/** Permissions that only owners have. */
const OWNERS: Permission[] = ['manage_security', 'erase_candidates', 'erase_organization', 'export_organization']

const order = { field: 'name', direction: 'asc' } as const

it('allows each actor exactly what the permission table lists', async () => {
  const { id, name } = await service.make.organization()
  const assessment = await service.make.assessment(id)
  const invite = await service.make.invite(assessment)
  const as = (actor: Actor): Context => enterOrganization({ ...service.system, actor }, { id, name, tier: 'standard' }, 'live')
  const newInvite = (actor: Actor) => ({
    assessmentId: assessment.id,
    recipientEmail: `${nameOf(actor)}@example.com`,
    questionReplayLimit: 1,
    answerRecordLimit: 1,
    screenRecording: true,
    webcamMonitoring: true,
    requireIdCapture: true,
    facePhotoRequired: true,
  })
  const nameOf = (actor: Actor) => {
    if (actor.kind === 'member') return `by.${actor.id}`
    return `by.${actor.kind}${actor.kind === 'apiKey' ? (actor.rights?.length ?? '') : ''}`
  }
  const newAssessment = (actor: Actor) => ({
    name: nameOf(actor),
    defaultQuestionFormat: 'text' as const,
    defaultAnswerFormat: 'text' as const,
    audience: 'invite_only' as const,
    timeLimit: 0,
    secondGrader: false,
    thirdGrader: false,
    assignsGraders: false,
    blindGrading: false,
    penaltyPercent: 0,
    practice: false,
    interfaceLanguage: null,
    releaseAutomatically: false,
    releaseToCandidate: false,
    screenRecording: false,
    webcamMonitoring: false,
    requireIdCapture: false,
    facePhotoRequired: false,
    instructionTitle: '',
    instruction: '',
    languages: [],
    categories: [],
    skillTypes: [],
    tags: [],
    clients: [],
  })
  // `take_invite` comes from an invitation link, so no other actor can request it. The last test covers `share_results`.
  const attempts: Record<Exclude<Permission, 'take_invite' | 'share_results'>, (actor: Actor) => Promise<unknown>> = {
    read: async (actor) => readOverview(as(actor)),
    read_assessments: async (actor) => listTags(as(actor), wholeTag, {}, order, { number: 1, size: 20 }),
    read_as_client: async (actor) => listClientAssessments(as(actor)),
    read_as_grader: async (actor) => countAssigned(as(actor)),
    grade: async (actor) => listQueue(as(actor), { queue: 'nobody' }, { number: 1, size: 20 }),
    // Permitted members learn that nothing was submitted yet.
    grade_for_members: async (actor) =>
      readGrading(as(actor), invite.id).catch((error) => {
        if (error.kind !== 'submission_not_found') throw error
      }),
    write_assessments: async (actor) => createAssessment(as(actor), newAssessment(actor)),
    read_library: async (actor) => listLibrary(as(actor), {}, 1),
    write_tags: async (actor) => createTag(as(actor), { name: nameOf(actor) }),
    invite: async (actor) => createInvite(as(actor), newInvite(actor)),
    operate_invites: async (actor) => revokeInvite(as(actor), invite.id),
    release_results: async (actor) => listQueue(as(actor), { queue: 'all' }, { number: 1, size: 20 }),
    // Permitted members learn that nothing was submitted yet.
    decide: async (actor) =>
      decide(as(actor), invite.id, { decision: 'hold', note: '' }).catch((error) => {
        if (error.kind !== 'submission_not_found') throw error
      }),
    export: async (actor) => listExportedQuestions(as(actor), assessment.id),
    manage_webhooks: async (actor) => createEndpoint(as(actor), { url: 'https://example.com' }),
    manage_keys: async (actor) => listKeys(as(actor)),
    manage_ats: async (actor) => listConnections(as(actor), 'greenhouse'),
    manage_members: async (actor) =>
      inviteMember(as(actor), { email: `invited.${nameOf(actor)}@example.com`, roles: ['grader'], mails: false }),
    manage_settings: async (actor) => readOrganizationSettings(as(actor)),
    manage_security: async (actor) => readOrganizationSecurity(as(actor)),
    read_audit_log: async (actor) => listAuditEntries(as(actor), {}, 1),
    delete_test_data: async (actor) => deleteTestData(inMode(as(actor), 'test')),
    erase_candidates: async (actor) => findTraces(as(actor), 'nobody@example.com'),
    erase_organization: async (actor) => liftSuspension(as(actor)),
    export_organization: async (actor) => requestOrganizationExport(as(actor)),
    // Permitted members learn that there is no recording.
    read_transcripts: async (actor) =>
      getTranscript(as(actor), invite.id).catch((error) => {
        if (error.kind !== 'media_not_found') throw error
      }),
  }
  const allowed = async (actor: Actor) => {
    const outcomes = Object.entries(attempts).map(async ([permission, attempt]) =>
      attempt(actor).then(
        () => permission,
        (error) => {
          expect(error).toMatchObject({ kind: 'not_permitted' })
          return undefined
        },
      ),
    )
    return (await Promise.all(outcomes)).filter((permission) => permission !== undefined)
  }
  const all: Permission[] = [
    'read',
    'read_assessments',
    'write_assessments',
    'read_library',
    'write_tags',
    'invite',
    'operate_invites',
    'release_results',
    'decide',
    'export',
    'manage_webhooks',
    'manage_keys',
    'manage_ats',
    'manage_members',
    'manage_settings',
    'manage_security',
    'read_audit_log',
    'delete_test_data',
    'erase_candidates',
    'erase_organization',
    'export_organization',
    'read_transcripts',
  ]
  expect(await allowed({ kind: 'operator' })).toEqual(all)
  expect(await allowed({ kind: 'system' })).toEqual(['read', 'read_assessments', 'read_transcripts'])
  expect(await allowed({ kind: 'candidate', inviteId: invite.id })).toEqual([])
  expect(await allowed({ kind: 'visitor' })).toEqual(['invite'])
  const key = await service.db.apiKey.findFirstOrThrow({ where: { organizationId: id } })
  expect(await allowed({ kind: 'apiKey', id: key.id, mode: 'live', createdById: null })).toEqual([
    'read',
    'read_assessments',
    'write_tags',
    'invite',
    'operate_invites',
    'manage_webhooks',
    'delete_test_data',
  ])
  const managing = { kind: 'apiKey', id: key.id, mode: 'live', createdById: null, rights: ['manage', 'constructor'] } as const
  expect(await allowed(managing)).toEqual([
    'read',
    'read_assessments',
    'grade_for_members',
    'write_assessments',
    'write_tags',
    'invite',
    'operate_invites',
    'manage_webhooks',
    'manage_members',
    'delete_test_data',
  ])
  const ats = { kind: 'ats', id: key.id, ats: 'greenhouse', connectionId: key.id, mode: 'live', createdById: null } as const
  expect(await allowed(ats)).toEqual(['read', 'read_assessments', 'invite', 'operate_invites'])
  const asMemberOf = async (roles: string[], portalRoles: string[] = [], canViewTranscription = false): Promise<Actor> => {
    const member = await service.make.member(id, { roles })
    return { kind: 'member', id: member.id, userId: member.userId, roles, portalRoles, canViewTranscription }
  }
  const ofRoles = all.filter((permission) => permission !== 'read_transcripts')
  const [read, readAssessments, ...others] = ofRoles.filter((permission) => !OWNERS.includes(permission))
  expect(await allowed(await asMemberOf(['admin']))).toEqual([read, readAssessments, 'grade', ...others])
  expect(await allowed(await asMemberOf(['admin'], ['owner']))).toEqual([read, readAssessments, 'grade', ...ofRoles.slice(2)])
  expect(await allowed(await asMemberOf(['client'], [], true))).toEqual(['read_as_client', 'read_transcripts'])
  expect(await allowed(await asMemberOf([], ['manager']))).toEqual([
    'read',
    'read_assessments',
    'write_tags',
    'invite',
    'operate_invites',
    'release_results',
    'decide',
    'export',
  ])
  expect(await allowed(await asMemberOf([], ['author']))).toEqual(['read_assessments', 'write_assessments', 'read_library'])
  expect(await allowed(await asMemberOf(['client']))).toEqual(['read_as_client'])
  expect(await allowed(await asMemberOf(['grader']))).toEqual(['read_as_grader', 'grade', 'read_library'])
  expect(await allowed(await asMemberOf(['grader', 'client']))).toEqual([
    'read_as_client',
    'read_as_grader',
    'grade',
    'read_library',
  ])
  for (const words of [[], ['Admin', 'constructor']])
    expect(await allowed(await asMemberOf([...words, ...PORTAL_ROLES], [...words, 'admin', 'grader']))).toEqual([])
})

it('attributes what a member creates to that member, in live mode', async () => {
  const { id, name, key } = await service.make.organization()
  const { id: memberId, userId } = await service.make.member(id, { roles: ['admin'] })
  const actor: Actor = { kind: 'member', id: memberId, userId, roles: ['admin'] }
  const ctx: Context = enterOrganization({ ...service.system, actor }, { id, name, tier: 'standard' }, 'live')
  const tag = await createTag(ctx, { name: 'By a member' })
  expect(tag.createdById).toBe(memberId)
  const shown = (await service.v1(key).get('/tags')).body.tags[0]
  expect(shown).toMatchObject({ id: tag.id, name: 'By a member' })
})

it('lets an author write assessments, but not change who sees their results', async () => {
  const { id, name } = await service.make.organization()
  const { email } = await service.make.member(id, { roles: ['client'] })
  const as = async (roles: string[], portalRoles: string[]): Promise<Context> => {
    const member = await service.make.member(id, { roles })
    const actor: Actor = { kind: 'member', id: member.id, userId: member.userId, roles, portalRoles }
    return enterOrganization({ ...service.system, actor }, { id, name, tier: 'standard' }, 'live')
  }
  const [admin, author] = [await as(['admin'], []), await as(['client'], ['author'])]
  const shared = { clients: [email], releaseAutomatically: true, releaseToCandidate: true }
  const read = async (assessmentId: string) => toAssessmentInput(admin, await getAssessment(admin, assessmentId))
  const assessmentId = await createAssessment(admin, { ...EMPTY_ASSESSMENT, ...shared, name: 'Typing' })
  const mine = { ...EMPTY_ASSESSMENT, name: 'Typing faster' }
  await updateAssessment(author, assessmentId, mine, (await getAssessment(author, assessmentId)).updatedAt)
  expect(await read(assessmentId)).toMatchObject({ ...shared, name: 'Typing faster' })
  expect(await read(await createAssessment(author, { ...mine, ...shared, name: 'Another' }))).toMatchObject({
    clients: [],
    releaseAutomatically: false,
    releaseToCandidate: false,
  })
})
