import { expect, it } from 'vitest'
import { inviteMember } from '../../../src/domain/access/invite-member.ts'
import { listKeys } from '../../../src/domain/access/manage-keys.ts'
import { createTag, listTags } from '../../../src/domain/assessments/tags.ts'
import type { Actor, Context } from '../../../src/domain/context.ts'
import { createInvite } from '../../../src/domain/invites/create.ts'
import { revokeInvite } from '../../../src/domain/invites/operations.ts'
import { createEndpoint } from '../../../src/domain/webhooks/endpoints.ts'
import { startServiceForFile } from '../../support/service.ts'

const service = await startServiceForFile()

const order = { field: 'name', direction: 'asc' } as const

it('lets each actor do what the table says, whoever asks in its name, and nothing else', async () => {
  const { id, name } = await service.make.organization()
  const assessment = await service.make.assessment(id)
  const invite = await service.make.invite(assessment)
  const as = (actor: Actor): Context => ({ ...service.system, organization: { id, name, tier: 'standard' }, actor })
  const newInvite = (actor: Actor) => ({
    assessmentId: assessment.id,
    recipientEmail: `by.${actor.kind}@example.com`,
    questionReplayLimit: 1,
    answerRecordLimit: 1,
    screenRecording: true,
    webcamMonitoring: true,
    requireIdCapture: true,
    facePhotoRequired: true,
  })
  const attempts: Record<string, (actor: Actor) => Promise<unknown>> = {
    read: async (actor) => listTags(as(actor), {}, order, { number: 1, size: 20 }),
    write_tags: async (actor) => createTag(as(actor), { name: `by ${actor.kind}` }),
    invite: async (actor) => createInvite(as(actor), newInvite(actor)),
    operate_invites: async (actor) => revokeInvite(as(actor), invite.id),
    manage_webhooks: async (actor) => createEndpoint(as(actor), { url: 'https://example.com' }),
    manage_keys: async (actor) => listKeys(as(actor)),
    manage_members: async (actor) =>
      inviteMember(as(actor), { email: `invited.by.${actor.kind}@example.com`, roles: ['grader'], mails: false }),
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
  expect(await allowed({ kind: 'operator' })).toEqual([
    'read',
    'write_tags',
    'invite',
    'operate_invites',
    'manage_webhooks',
    'manage_keys',
    'manage_members',
  ])
  expect(await allowed({ kind: 'system' })).toEqual(['read'])
  expect(await allowed({ kind: 'candidate', inviteId: invite.id })).toEqual([])
  const key = await service.db.apiKey.findFirstOrThrow({ where: { organizationId: id } })
  expect(await allowed({ kind: 'apiKey', id: key.id, mode: 'live', createdById: null })).toHaveLength(5)
  const asMemberOf = async (roles: string[]): Promise<Actor> => {
    const member = await service.make.member(id, { roles })
    return { kind: 'member', id: member.id, userId: member.userId, roles }
  }
  const all = ['read', 'write_tags', 'invite', 'operate_invites', 'manage_webhooks', 'manage_keys', 'manage_members']
  expect(await allowed(await asMemberOf(['client', 'admin']))).toEqual(all)
  for (const roles of [['grader'], ['client'], ['grader', 'client'], [], ['owner', 'Admin', 'constructor']])
    expect(await allowed(await asMemberOf(roles))).toEqual([])
})

it('has what a member makes made by that member, and live', async () => {
  const { id, name, key } = await service.make.organization()
  const { id: memberId, userId } = await service.make.member(id, { roles: ['admin'] })
  const actor: Actor = { kind: 'member', id: memberId, userId, roles: ['admin'] }
  const ctx: Context = { ...service.system, organization: { id, name, tier: 'standard' }, actor }
  const tag = await createTag(ctx, { name: 'By a member' })
  expect(tag.createdById).toBe(memberId)
  const shown = (await service.v1(key).get('/tags')).body.tags[0]
  expect(shown).toMatchObject({ id: tag.id, name: 'By a member' })
})
