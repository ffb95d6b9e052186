import type { Context } from '../context.ts'
import type { Issue } from '../errors.ts'
import { throwIfIssues } from '../validation/throw-if-issues.ts'
import type { QuestionInput } from './question-input.ts'
import type { AssessmentPool, AssessmentSection, PlacedQuestion } from './structure.ts'

type NavigatedQuestion = Pick<QuestionInput, 'responseType' | 'timeLimit' | 'preparationTime' | 'audioUrl' | 'videoUrl'>

const BACK_AND_FORTH = 'In a section where candidates go back and forth, a question can’t'

/** Reasons why candidates can't go back and forth to a question, each at its field: it records, plays, or has a time of its own. */
export const findFreeNavigationIssues = (
  { deps }: Pick<Context, 'deps'>,
  { responseType, timeLimit, preparationTime, audioUrl, videoUrl }: NavigatedQuestion,
): Issue[] =>
  (
    [
      ['responseType', deps.kinds.answering(responseType).records.length > 0, 'be answered by a recording'],
      ['timeLimit', timeLimit > 0, 'have a time limit of its own'],
      ['preparationTime', preparationTime > 0, 'have a preparation time'],
      ['audioUrl', audioUrl !== '', 'play audio'],
      ['videoUrl', videoUrl !== '', 'play video'],
    ] as const
  ).flatMap(([field, isRefused, activity]) =>
    isRefused ? [{ field, rule: 'malformed', text: `${BACK_AND_FORTH} ${activity}.` }] : [],
  )

/** Issues of a question because of its section or pool. */
export async function findPlaceIssues(
  ctx: Context,
  { sectionId, poolId }: Pick<PlacedQuestion, 'sectionId' | 'poolId'>,
  input: QuestionInput,
): Promise<Issue[]> {
  const { db, organization } = ctx
  const organizationId = organization.id
  const section =
    sectionId === null
      ? null
      : await db.assessmentSection.findFirst({ where: { organizationId, id: sectionId, navigation: 'free' } })
  const pool = poolId === null ? null : await db.assessmentPool.findFirst({ where: { organizationId, id: poolId } })
  return [
    ...(section ? findFreeNavigationIssues(ctx, input) : []),
    ...(pool && pool.points !== input.points ? [otherPoints(pool)] : []),
  ]
}

const otherPoints = ({ name, points }: AssessmentPool): Issue => ({
  field: 'points',
  rule: 'malformed',
  text: `Each question of the pool ${name} is worth ${points} points, so that all candidates can reach the same. Change the points of the pool.`,
})

/**
 * Refuses questions that can't be in their section because of its navigation.
 *
 * @param field field of the form that the refusal is shown at. @throws DomainError invalid.
 */
export async function refuseInFreeSections(
  ctx: Context,
  sections: readonly Pick<AssessmentSection, 'id' | 'navigation' | 'name'>[],
  questions: readonly Pick<PlacedQuestion, 'id' | 'sectionId'>[],
  field: string,
): Promise<void> {
  const free = new Map(sections.flatMap(({ id, navigation, name }) => (navigation === 'free' ? [[id, name]] : [])))
  const ids = questions.flatMap(({ id, sectionId }) => (sectionId !== null && free.has(sectionId) ? [id] : []))
  if (ids.length === 0) return
  const { db, organization } = ctx
  const found = await db.question.findMany({
    where: { organizationId: organization.id, id: { in: ids } },
    orderBy: { order: 'asc' },
  })
  throwIfIssues(
    found.flatMap((question) => {
      const [first] = findFreeNavigationIssues(ctx, question)
      return first && 'text' in first ? [{ field, rule: 'malformed', text: `Question ${question.order}: ${first.text}` }] : []
    }),
  )
}
