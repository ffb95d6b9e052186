import type { Operation } from './operations.ts'
import { createSampleOrganization, createSampleTestData, type SampleOrganization } from './sample-organization.ts'
import type { Service } from './service.ts'
import { releaseRows, submitRows } from './submissions.ts'

/**
 * Creates an organization whose rows let every operation of an interface succeed once, in the order of the OpenAPI document.
 *
 * @param words part of its names.
 */
export async function createRowsToCall(service: Service, words: string) {
  const own = await createSampleOrganization(service, words)
  const of = { organizationId: own.id, inviteId: own.invite.id, assessmentId: own.assessment.id }
  const submissionId = await submitRows(service, of, 'words')
  await releaseRows(service, { organizationId: own.id, submissionId }, own.member.id)
  const trial = await createSampleTestData(service, own, `${words}-trial`)
  const completed = await service.make.invite(own.assessment, { status: 'completed', completedAt: service.clock.now() })
  const graded = await service.make.invite(own.assessment, {
    status: 'completed',
    completedAt: service.clock.now(),
    assignedGraderId: own.member.id,
  })
  await submitRows(service, { ...of, inviteId: graded.id }, 'words')
  /** Replacement rows for operations that would fail with the shared rows. */
  const others: Record<string, Partial<SampleOrganization>> = {
    retakeInvite: { invite: completed },
    putInviteAccommodations: { invite: await service.make.invite(own.assessment) },
    reactivateInvite: {
      invite: await service.make.invite(own.assessment, { status: 'expired', expiresAt: service.clock.now() }),
    },
    'getGrading assignGraders grade releaseResult reopenResult': { invite: graded },
    deleteQuestion: { question: await service.make.question(own.assessment) },
    deleteAssessment: { assessment: await service.make.assessment(own.id) },
    updateMember: { member: await service.make.member(own.id, { roles: ['grader'] }) },
  }
  return {
    key: own.key,
    /** Returns the rows for an operation, with an API key that may call it. */
    rowsFor({ id, isForTests }: Operation): SampleOrganization {
      if (isForTests) return trial
      return { ...own, ...Object.entries(others).find(([ids]) => ids.split(' ').includes(id))?.[1] }
    },
  }
}
