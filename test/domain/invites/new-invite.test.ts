import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest'
import { type Context, enterOrganization } from '../../../src/domain/context.ts'
import { createInvite } from '../../../src/domain/invites/create-invite.ts'
import type { NewInvite } from '../../../src/domain/invites/new-invite.ts'
import { extendInvite, reactivateInvite, revokeInvite } from '../../../src/domain/invites/operate-invite.ts'
import { type Service, startService } from '../../support/service.ts'

let service: Service
let ctx: Context
let assessmentId: string
beforeAll(async () => {
  service = await startService()
})
afterAll(() => service.close())
beforeEach(async () => {
  const { id, name } = await service.make.organization()
  ctx = enterOrganization({ ...service.system, actor: { kind: 'operator' } }, { id, name, tier: 'standard' }, 'live')
  assessmentId = (await service.make.assessment(id)).id
})

const create = (fields: Partial<NewInvite>) => createInvite(ctx, { assessmentId, recipientEmail: 'sam@example.com', ...fields })

it('has the documented defaults if an interface leaves the fields out', async () => {
  expect(await create({})).toMatchObject({
    recipientName: null,
    status: 'pending',
    questionReplayLimit: 1,
    answerRecordLimit: 1,
    screenRecording: true,
    webcamMonitoring: true,
    requireIdCapture: true,
    facePhotoRequired: true,
    customMessage: '',
    assignedGraderId: null,
    expiresAt: new Date(service.clock.now().getTime() + 30 * 86_400_000),
    tagIds: [],
  })
})

it.each([
  [{ requireIdCapture: false }, false],
  [{ requireIdCapture: false, facePhotoRequired: true }, true],
  [{ facePhotoRequired: false }, false],
  [{ facePhotoRequired: undefined }, true],
])('requires a face photo if an ID photo is required, unless set otherwise: %j', async (fields, facePhotoRequired) => {
  expect(await create(fields)).toMatchObject({ facePhotoRequired })
})

it('rejects all invalid fields at once, and creates nothing', async () => {
  const bad = {
    assessmentId: 'none',
    recipientEmail: 'sam',
    recipientName: '\0',
    questionReplayLimit: 0,
    answerRecordLimit: 2 ** 31,
    expiresInDays: 1.5,
    customMessage: '😀'.repeat(5_001),
    assignedGraderId: 'none',
    tagIds: ['none'],
  }
  const integers = { minimum: 1, maximum: 2 ** 31 - 1 }
  await expect(create(bad)).rejects.toMatchObject({
    kind: 'invalid',
    issues: [
      { field: 'assessmentId', rule: 'uuid' },
      { field: 'recipientEmail', rule: 'email' },
      { field: 'recipientName', rule: 'text' },
      { field: 'questionReplayLimit', rule: 'minimum', limit: integers },
      { field: 'answerRecordLimit', rule: 'maximum', limit: integers },
      { field: 'expiresInDays', rule: 'integer', limit: { minimum: 1, maximum: 3650 } },
      { field: 'customMessage', rule: 'maxLength', limit: 5000 },
      { field: 'assignedGraderId', rule: 'uuid' },
      { field: 'tagIds', rule: 'uuid' },
    ],
  })
  await expect(create({ tagIds: Array(101).fill(assessmentId) })).rejects.toMatchObject({
    issues: [{ field: 'tagIds', rule: 'maxItems', limit: 100 }],
  })
  expect(await service.db.invite.count({ where: { organizationId: ctx.organization.id } })).toBe(0)
})

it('accepts text of the maximum length, counted in characters', async () => {
  const customMessage = '😀'.repeat(5_000)
  expect(await create({ customMessage })).toMatchObject({ customMessage })
})

it.each([0, 1.5, 3_651])("can't be extended or reactivated by %j days", async (expiresInDays) => {
  const { id } = await create({})
  const refusal = { kind: 'invalid', issues: [{ field: 'expiresInDays', limit: { minimum: 1, maximum: 3650 } }] }
  await expect(extendInvite(ctx, id, { expiresInDays })).rejects.toMatchObject(refusal)
  await revokeInvite(ctx, id)
  await expect(reactivateInvite(ctx, id, { expiresInDays })).rejects.toMatchObject(refusal)
})
