import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { startServiceForFile } from '../support/service.ts'

const service = await startServiceForFile()

const foreignKeyViolation = { meta: { driverAdapterError: { cause: { kind: 'ForeignKeyConstraintViolation' } } } }

/** Creates an organization with one row of each kind that references can point to. */
async function createRows() {
  const { make, db, deps } = service
  const { id: organizationId, apiKeyId } = await make.organization()
  const assessment = await make.assessment(organizationId)
  const category = await db.category.create({ data: { id: deps.newId(), organizationId, name: 'Category' } })
  const instruction = await db.instruction.create({ data: { id: deps.newId(), organizationId, body: 'Speak up.' } })
  const [member, tag, invite] = [await make.member(organizationId), await make.tag(organizationId), await make.invite(assessment)]
  return { organizationId, apiKeyId, assessment, category, instruction, member, tag, invite }
}
type OrganizationRows = Awaited<ReturnType<typeof createRows>>

/** References between rows of organizations, each with a function that tries to point to another organization's row. */
const references: [string, (own: OrganizationRows, other: OrganizationRows) => Promise<unknown>][] = [
  [
    'questions.assessment_id',
    (own, other) => service.make.question({ organizationId: own.organizationId, id: other.assessment.id }),
  ],
  ['invites.assessment_id', (own, other) => service.make.invite({ organizationId: own.organizationId, id: other.assessment.id })],
  ['invites.assigned_grader_id', (own, other) => service.make.invite(own.assessment, { assignedGraderId: other.member.id })],
  ['invites.created_by_id', (own, other) => service.make.invite(own.assessment, { createdById: other.member.id })],
  ['invites.created_by_key_id', (own, other) => service.make.invite(own.assessment, { createdByKeyId: other.apiKeyId })],
  [
    'assessments.instruction_id',
    (own, other) => service.make.assessment(own.organizationId, { instructionId: other.instruction.id }),
  ],
  ['assessments.created_by_id', (own, other) => service.make.assessment(own.organizationId, { createdById: other.member.id })],
  ['tags.created_by_id', (own, other) => service.make.tag(own.organizationId, { createdById: other.member.id })],
  [
    'api_keys.created_by_id',
    (own, other) => service.db.apiKey.update({ where: { id: own.apiKeyId }, data: { createdById: other.member.id } }),
  ],
  [
    'invite_emails.invite_id',
    (own, other) =>
      insert('inviteEmail', own, {
        id: service.deps.newId(),
        inviteId: other.invite.id,
        linkVersion: 1,
        createdAt: new Date(),
        updatedAt: new Date(),
      }),
  ],
  [
    'assessment_tags.tag_id',
    (own, other) => insert('assessmentTag', own, { assessmentId: own.assessment.id, tagId: other.tag.id, position: 0 }),
  ],
  [
    'assessment_tags.assessment_id',
    (own, other) => insert('assessmentTag', own, { assessmentId: other.assessment.id, tagId: own.tag.id, position: 0 }),
  ],
  [
    'assessment_categories.category_id',
    (own, other) =>
      insert('assessmentCategory', own, { assessmentId: own.assessment.id, categoryId: other.category.id, position: 0 }),
  ],
  [
    'assessment_clients.member_id',
    (own, other) => insert('assessmentClient', own, { assessmentId: own.assessment.id, memberId: other.member.id, position: 0 }),
  ],
  ['member_tags.tag_id', (own, other) => insert('memberTag', own, { memberId: own.member.id, tagId: other.tag.id, position: 0 })],
  [
    'member_tags.member_id',
    (own, other) => insert('memberTag', own, { memberId: other.member.id, tagId: own.tag.id, position: 0 }),
  ],
  ['invite_tags.tag_id', (own, other) => insert('inviteTag', own, { inviteId: own.invite.id, tagId: other.tag.id, position: 0 })],
  [
    'invite_tags.invite_id',
    (own, other) => insert('inviteTag', own, { inviteId: other.invite.id, tagId: own.tag.id, position: 0 }),
  ],
]
type Joining = 'inviteEmail' | 'assessmentTag' | 'assessmentCategory' | 'assessmentClient' | 'memberTag' | 'inviteTag'
const insert = (model: Joining, { organizationId }: OrganizationRows, data: object): Promise<unknown> =>
  (service.db[model].create as unknown as (input: { data: object }) => Promise<unknown>)({ data: { organizationId, ...data } })

describe('a reference', () => {
  it.each(references)("can't lead into another organization: %s", async (_name, refer) => {
    const [own, other] = [await createRows(), await createRows()]
    await expect(refer(own, other)).rejects.toMatchObject(foreignKeyViolation)
    await expect(refer(other, { ...own, organizationId: own.organizationId })).rejects.toMatchObject(foreignKeyViolation)
    await refer(own, own)
  })

  it('is rejected if it names the other organization', async () => {
    const [own, other] = [await createRows(), await createRows()]
    const stolen = service.db.assessmentTag.create({
      data: { organizationId: other.organizationId, assessmentId: own.assessment.id, tagId: other.tag.id, position: 0 },
    })
    await expect(stolen).rejects.toMatchObject(foreignKeyViolation)
  })

  it('keeps the row it refers to from moving to another organization', async () => {
    const [own, other] = [await createRows(), await createRows()]
    const moved = service.db.assessment.update({
      where: { id: own.assessment.id },
      data: { organizationId: other.organizationId },
    })
    await expect(moved).rejects.toMatchObject(foreignKeyViolation)
  })
})

describe('the question count and total points of an assessment', () => {
  type Change = { kind: keyof typeof changes; nth: number; to: number; points: number; times: number }
  const change: fc.Arbitrary<Change> = fc.record({
    kind: fc.constantFrom('insert', 'insert', 'score', 'move', 'delete', 'clear'),
    nth: fc.nat(9),
    to: fc.nat(1),
    points: fc.integer({ min: -5, max: 100 }),
    times: fc.integer({ min: 1, max: 3 }),
  })
  type Rows = { organizationId: string; assessmentId: string; questionId: string | undefined }

  /** Changes of questions. Changes of a single question do nothing while there is none. */
  const changes = {
    insert: ({ organizationId, assessmentId }: Rows, { times, points }: Change) => {
      const now = new Date()
      const data = {
        organizationId,
        assessmentId,
        inputType: 'text',
        responseType: 'text',
        points,
        createdAt: now,
        updatedAt: now,
      }
      const rows = Array.from({ length: times }, (_, order) => ({ ...data, id: service.deps.newId(), order }))
      return service.db.question.createMany({ data: rows })
    },
    score: ({ questionId }: Rows, { points }: Change) =>
      service.db.question.updateMany({ where: { id: questionId! }, data: { points } }),
    move: ({ questionId, assessmentId }: Rows, { points }: Change) =>
      service.db.question.updateMany({ where: { id: questionId! }, data: { assessmentId, points } }),
    delete: ({ questionId }: Rows) => service.db.question.deleteMany({ where: { id: questionId! } }),
    clear: ({ assessmentId }: Rows) => service.db.question.deleteMany({ where: { assessmentId } }),
  }

  it('follow every insertion, score, move, and deletion of questions', async () => {
    const { id: organizationId } = await service.make.organization()
    await fc.assert(
      fc.asyncProperty(fc.array(change, { maxLength: 12 }), async (history) => {
        const assessments = [await service.make.assessment(organizationId), await service.make.assessment(organizationId)]
        const where = { assessmentId: { in: assessments.map(({ id }) => id) } }
        for (const change of history) {
          const questions = await service.db.question.findMany({ where, orderBy: { id: 'asc' } })
          const questionId = questions[change.nth % (questions.length || 1)]?.id
          if (!questionId && change.kind !== 'insert') continue
          await changes[change.kind]({ organizationId, assessmentId: assessments[change.to]!.id, questionId }, change)
        }
        for (const { id } of assessments) {
          const { questionCount, totalPoints } = await service.db.assessment.findUniqueOrThrow({ where: { id } })
          const { _count, _sum } = await service.db.question.aggregate({
            where: { assessmentId: id },
            _count: true,
            _sum: { points: true },
          })
          expect([questionCount, totalPoints]).toEqual([_count, _sum.points ?? 0])
        }
      }),
      { numRuns: 30 },
    )
  })

  it('are correct after 20 concurrent inserts', async () => {
    const { id } = await service.make.organization()
    const assessment = await service.make.assessment(id)
    await Promise.all(Array.from({ length: 20 }, (_, points) => service.make.question(assessment, { points })))
    const { questionCount, totalPoints } = await service.db.assessment.findUniqueOrThrow({ where: { id: assessment.id } })
    expect([questionCount, totalPoints]).toEqual([20, 190])
  })
})

describe('the database', () => {
  it.each(['questionReplayLimit', 'answerRecordLimit'])('rejects an invite whose %s is not positive', async (limit) => {
    const { assessment } = await createRows()
    await expect(service.make.invite(assessment, { [limit]: 0 })).rejects.toThrow(/check/i)
  })

  it('deletes an organization with all its rows', async () => {
    const own = await createRows()
    await service.make.question(own.assessment)
    await service.db.organization.delete({ where: { id: own.organizationId } })
    const { db } = service
    const where = { organizationId: own.organizationId }
    const left = [db.apiKey, db.member, db.tag, db.assessment, db.question, db.invite, db.category, db.instruction] as {
      count: (by: object) => Promise<number>
    }[]
    expect(await Promise.all(left.map((model) => model.count({ where })))).toEqual(left.map(() => 0))
  })
})
