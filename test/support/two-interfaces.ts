import type { Service } from './service.ts'

/** Creates an organization that creates invites through both interfaces. */
export async function makeInviter(service: Service) {
  const { id: organizationId, key } = await service.make.organization()
  const { id: assessmentId } = await service.make.assessment(organizationId)
  const grader = await service.make.member(organizationId)
  const [v1, alternate] = [service.v1(key), service.alternate(key)]
  let count = 0
  /** Creates an invite through v1. */
  const create = (fields: object = {}) =>
    v1.post('/invites').send({ assessmentId, recipientEmail: `candidate${++count}@example.com`, ...fields })
  /** Creates an invite through the alternate interface. */
  const createThere = (fields: object = {}) =>
    alternate.post('/assessment_invites').send({
      email: `candidate${++count}@example.com`,
      assessment: assessmentId,
      question_play_limit: 1,
      answer_record_limit: 1,
      face_photo_required: false,
      id_photo_required: false,
      tags: [],
      assigned_grader: grader.id,
      ...fields,
    })
  return { organizationId, key, assessmentId, v1, alternate, create, createThere }
}

/** Reads an invite through both interfaces, by its id and in lists. */
export async function readEverywhere({ v1, alternate }: Awaited<ReturnType<typeof makeInviter>>, id: string) {
  const listed = await v1.get('/invites')
  const there = await alternate.get('/assessment_invites')
  return {
    v1: [(await v1.get(`/invites/${id}`)).body, listed.body.invites.find((invite: { id: string }) => invite.id === id)],
    alternate: [
      (await alternate.get(`/assessment_invites/${id}`)).body,
      (await alternate.get(`/assessment_invites/${id}?depth=1`)).body,
      there.body.results.find((invite: { id: string }) => invite.id === id),
    ],
  }
}
