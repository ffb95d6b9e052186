import { type Furnished, furnish, furnishTestData } from './furnish.ts'
import type { Operation } from './operations.ts'
import type { Service } from './service.ts'
import { handIn, releaseRows } from './submissions.ts'

/**
 * Creates an organization whose rows let every operation of an interface succeed once, in the order of the OpenAPI document.
 *
 * @param words part of its names.
 */
export async function furnishForCalls(service: Service, words: string) {
  const own = await furnish(service, words)
  const of = { organizationId: own.id, inviteId: own.invite.id, assessmentId: own.assessment.id }
  const submissionId = await handIn(service, of, 'words')
  await releaseRows(service, { organizationId: own.id, submissionId }, own.member.id)
  const trial = await furnishTestData(service, own, `${words}-trial`)
  const completed = await service.make.invite(own.assessment, { status: 'completed', completedAt: service.clock.now() })
  const graded = await service.make.invite(own.assessment, {
    status: 'completed',
    completedAt: service.clock.now(),
    assignedGraderId: own.member.id,
  })
  await handIn(service, { ...of, inviteId: graded.id }, 'words')
  /** Replacement rows for operations that would fail with the shared rows. */
  const others: Record<string, Partial<Furnished>> = {
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
    rowsFor({ id, isForTests }: Operation): Furnished {
      if (isForTests) return trial
      return { ...own, ...Object.entries(others).find(([ids]) => ids.split(' ').includes(id))?.[1] }
    },
  }
}
