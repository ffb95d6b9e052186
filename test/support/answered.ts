import { pointsFor } from '../../src/domain/submissions/points.ts'
import type { Prisma } from '../../src/generated/prisma/client.ts'
import { kinds } from '../../src/kinds/index.ts'
import type { Service } from './service.ts'

const AT_ONCE = 1_000
const POINTS = 10
/** Grade of the second question of a released submission. */
const SECOND_POINTS = 5

/** @property given points from a person, which replace the points by the key. */
export type Answered = { value: unknown; released?: boolean; given?: number }

/**
 * Creates an assessment with a question of a kind and a text question, ten points each, and a submission for each answer. It inserts rows,
 * because that is many times faster than submitting over HTTP.
 */
export async function makeAnswered(
  { db, make }: Pick<Service, 'db' | 'make'>,
  { responseType, spec, key }: { responseType: string; spec: unknown; key: unknown },
  answers: readonly Answered[],
) {
  const { id: organizationId, name } = await make.organization()
  const assessment = await make.assessment(organizationId)
  const { id: graderId } = await make.member(organizationId, { roles: ['grader'] })
  const versionId = crypto.randomUUID()
  const now = new Date(Date.now() - 60_000)
  const json = (value: unknown) => value as Prisma.InputJsonValue
  await db.questionVersion.create({
    data: { organizationId, id: versionId, responseType, spec: json(spec), createdAt: now, lockedAt: now },
  })
  await db.answerKey.create({ data: { organizationId, versionId, number: 1, key: json(key), createdAt: now } })
  const question = await make.question(assessment, { order: 1, script: 'What is it?', responseType, points: POINTS })
  await db.question.updateMany({ where: { id: question.id }, data: { versionId } })
  const other = await make.question(assessment, { order: 2, points: POINTS })
  const { metadata: _, ...like } = await make.invite(assessment, { status: 'completed' })
  await db.invite.deleteMany({ where: { id: like.id } })

  const kind = kinds.get(responseType)!
  const submissionIds: string[] = []
  /** Rows of a submission, by table. */
  const rowsOf = ({ value, released = false, given }: Answered, i: number) => {
    const [inviteId, submissionId] = [crypto.randomUUID(), crypto.randomUUID()]
    submissionIds.push(submissionId)
    const of = { organizationId, submissionId }
    const score = kind.score(spec, key, value)
    const points = score.state === 'scored' ? pointsFor(score, POINTS) : null
    const parts = score.state === 'scored' ? score.parts : []
    const paper = { ...of, inputType: 'text', script: 'What is it?', audioUrl: '', videoUrl: '', points: POINTS, timeLimit: 0 }
    const graded = [{ number: 1, points: given }, ...(released ? [{ number: 2, points: SECOND_POINTS }] : [])]
    const [byKey, byPerson] = [{ graderId: null, by: 'key', keyNumber: 1 }, { graderId }]
    const gradeFields = { ofPoints: POINTS, comment: '' }
    const first = { number: 1, points: given ?? points, ...gradeFields, ...(given === undefined ? byKey : byPerson) }
    const head = { version: 1, releasedById: graderId, points: (given ?? points ?? 0) + SECOND_POINTS, ofPoints: 2 * POINTS }
    return {
      invite: { ...like, id: inviteId, recipientEmail: `candidate-${i}@example.com` },
      submission: {
        ...{ id: submissionId, organizationId, inviteId, assessmentId: assessment.id },
        ...{ questionReplayLimit: 1, answerRecordLimit: 1, needsGrading: true },
        ...{ state: released ? ('released' as const) : ('submitted' as const), releasedAt: released ? now : null },
        ...{ startedAt: now, submittedAt: now, createdAt: now, updatedAt: now },
      },
      papers: [
        { ...paper, number: 1, questionId: question.id, responseType, versionId },
        { ...paper, number: 2, questionId: other.id, responseType: 'text' },
      ],
      take: {
        ...of,
        ...{ id: crypto.randomUUID(), questionNumber: 1, kind: 'text' as const, state: 'complete' as const },
        ...{ text: kind.describe(spec, value), value: json(value), revision: 1, createdAt: now },
      },
      score: { ...of, questionNumber: 1, keyNumber: 1, points, parts: json(parts), createdAt: now },
      grades: graded.flatMap(({ number, points }) =>
        points === undefined
          ? []
          : {
              ...of,
              id: crypto.randomUUID(),
              round: 1,
              graderId,
              comment: '',
              createdAt: now,
              updatedAt: now,
              questionNumber: number,
              points,
            },
      ),
      release: {
        ...{ ...of, ...head, id: crypto.randomUUID(), createdAt: now },
        ...{ comment: 'For us', message: 'For you', toCandidate: true },
        grades: json([first, { number: 2, points: SECOND_POINTS, ...gradeFields, ...byPerson }]),
      },
      released,
    }
  }
  for (let first = 0; first < answers.length; first += AT_ONCE) {
    const made = answers.slice(first, first + AT_ONCE).map((answer, i) => rowsOf(answer, first + i))
    await db.invite.createMany({ data: made.map(({ invite }) => invite) })
    await db.submission.createMany({ data: made.map(({ submission }) => submission) })
    await db.submissionQuestion.createMany({ data: made.flatMap(({ papers }) => papers) })
    await db.answerAttempt.createMany({ data: made.map(({ take }) => take) })
    await db.questionScore.createMany({ data: made.map(({ score }) => score) })
    await db.grade.createMany({ data: made.flatMap(({ grades }) => grades) })
    await db.release.createMany({ data: made.filter(({ released }) => released).map(({ release }) => release) })
  }
  return { organization: { id: organizationId, name }, organizationId, assessment, question, versionId, graderId, submissionIds }
}
