import { afterAll, beforeAll, expect, it } from 'vitest'
import { createTag, listTags } from '../../../src/domain/assessments/tags.ts'
import type { Actor, Context } from '../../../src/domain/context.ts'
import { createInvite } from '../../../src/domain/invites/create.ts'
import { revokeInvite } from '../../../src/domain/invites/operations.ts'
import { createEndpoint } from '../../../src/domain/webhooks/endpoints.ts'
import { type Service, startService } from '../../support/service.ts'

let service: Service
beforeAll(async () => {
  service = await startService()
})
afterAll(() => service.close())

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
  expect(await allowed({ kind: 'operator' })).toEqual(['read', 'write_tags', 'invite', 'operate_invites', 'manage_webhooks'])
  expect(await allowed({ kind: 'system' })).toEqual(['read'])
  expect(await allowed({ kind: 'candidate', inviteId: invite.id })).toEqual([])
  const key = await service.db.apiKey.findFirstOrThrow({ where: { organizationId: id } })
  expect(await allowed({ kind: 'apiKey', id: key.id, mode: 'live', createdById: null })).toHaveLength(5)
})
