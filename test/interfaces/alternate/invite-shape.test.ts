import { describe, expect, it } from 'vitest'
import { createApiKey } from '../../../src/domain/api-keys/api-keys.ts'
import { createdAt, expectExactly, readRow, times, updatedAt } from '../../support/alternate-rows.ts'
import { links } from '../../support/links.ts'
import { startServiceForFile } from '../../support/service.ts'

const service = await startServiceForFile()

describe('an invite', () => {
  it('has exactly the documented fields', async () => {
    const { id: organizationId, key } = await service.make.organization()
    const [creator, grader] = [await service.make.member(organizationId), await service.make.member(organizationId)]
    const assessment = await service.make.assessment(organizationId)
    const tags = [await service.make.tag(organizationId), await service.make.tag(organizationId)].reverse()
    const session = service.deps.newId()
    const invite = await service.make.invite(assessment, {
      recipientEmail: 'Candidate@Example.com',
      status: 'started',
      facePhotoRequired: false,
      requireIdCapture: true,
      questionReplayLimit: 3,
      answerRecordLimit: 2,
      assessmentSession: session,
      createdById: creator.id,
      assignedGraderId: grader.id,
      expiresAt: new Date('2026-03-03T10:00:00Z'),
      createdAt,
      updatedAt,
    })
    await links(service.db).tagInvite(invite, ...tags)
    const { body } = await readRow(service, key, '/assessment_invites', invite.id)
    expectExactly(body, {
      id: invite.id,
      assessment_session: session,
      deleted: false,
      ...times,
      email: 'Candidate@Example.com',
      status: 'started',
      face_photo_required: false,
      id_photo_required: true,
      question_play_limit: 3,
      answer_record_limit: 2,
      expires_at: '2026-03-03T10:00:00.000Z',
      organization: organizationId,
      assessment: assessment.id,
      user: null,
      created_by: creator.id,
      assigned_grader: grader.id,
      tags: tags.map(({ id }) => id),
    })
  })

  it.each(['accepted', 'completed', 'expired', 'pending', 'revoked', 'started'] as const)('can be %s', async (status) => {
    const { id, key } = await service.make.organization()
    const invite = await service.make.invite(await service.make.assessment(id), { status })
    expect((await readRow(service, key, '/assessment_invites', invite.id)).body.status).toBe(status)
  })

  it('is expired from the instant its time is over, in the list and on its own', async () => {
    const { id, key } = await service.make.organization()
    const expiresAt = new Date(service.clock.now().getTime() + 1_000)
    const invite = await service.make.invite(await service.make.assessment(id), { expiresAt })
    service.clock.advance(999)
    expect((await readRow(service, key, '/assessment_invites', invite.id)).body.status).toBe('pending')
    service.clock.advance(1)
    const { body } = await readRow(service, key, '/assessment_invites', invite.id)
    expect([body.status, body.expires_at]).toEqual(['expired', expiresAt.toISOString()])
  })
})

describe('created_by of an invite created with a key', () => {
  it.each([true, false])('is the member who generated the key (%s), else the key', async (byMember) => {
    const { id: organizationId } = await service.make.organization()
    const member = await service.make.member(organizationId)
    const createdById = byMember ? member.id : null
    const { key, apiKey } = await createApiKey(service.system, { organizationId, name: 'Other', mode: 'live', createdById })
    const { id: assessmentId } = await service.make.assessment(organizationId)
    const { body } = await service.v1(key).post('/invites').send({ assessmentId, recipientEmail: 'candidate@example.com' })
    expect((await readRow(service, key, '/assessment_invites', body.invite.id)).body.created_by).toBe(
      byMember ? member.id : apiKey.id,
    )
  })
})
