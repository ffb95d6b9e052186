import { sql } from '../../../db/builder.ts'
import { anyOfIds, type Condition, type Expressions, type NotNull, type SqlBool } from '../../../db/queries.ts'
import { listOf } from '../../../db/statements.ts'
import type { TenantDb } from '../../../db/tenant-db.ts'
import { unscoped } from '../../../db/unscoped.ts'
import { givenRows } from '../../../db/writes.ts'
import type { KeyMode, Tier } from '../../../generated/prisma/client.ts'
import { processEach, throwFirstFailure } from '../../concurrency/bisect.ts'
import { type Context, enterOrganization, type ServiceContext } from '../../context.ts'
import { graders } from '../../members/graders.ts'
import { inTransaction } from '../../transaction.ts'
import { countOpenAnswers } from './answers-without-grader.ts'
import {
  ASSIGNED_ROUNDS,
  type AssignedRound,
  addAssignments,
  coveringCodes,
  freeAssignments,
  isRoundHeld,
  removeAssignments,
} from './assignments.ts'
import { countUngradedAnswers } from './grader-workload.ts'

/** Submissions of one transaction. */
const SUBMISSIONS_AT_ONCE = 100

/** A member who may grade. `openAnswers`: number of answers that they have yet to grade, assigned one by one or with a whole submission. */
type Grader = { id: string; roles: string[]; codes: string[]; openAnswers: number }

/**
 * Assigns answers that have no grader, for the scheduled sweep. Of the members who grade the language the one with the least open work gets
 * them; a submission's answers in one language go to the same member. Members who no longer grade, or no longer the language, keep only
 * answers that they began to grade.
 *
 * @returns number of answers that got a grader.
 */
export async function assignAnswers(system: ServiceContext): Promise<number> {
  let assigned = 0
  const failed = await processEach(await findOrganizations(system), async ({ mode, ...organization }) => {
    assigned += await assignInOrganization(enterOrganization(system, organization, mode))
  })
  throwFirstFailure(failed)
  return assigned
}

/** Organizations that assign graders, or did, once for each of live and test data. */
async function findOrganizations({ db }: ServiceContext): Promise<{ id: string; name: string; tier: Tier; mode: KeyMode }[]> {
  const organizations = await unscoped(db)
    .selectFrom('organizations')
    .where((eb) =>
      eb.or([
        eb.exists(
          eb
            .selectFrom('assessments')
            .whereRef('assessments.organizationId', '=', 'organizations.id')
            .where('assessments.assignsGraders', '=', true)
            .select('assessments.id'),
        ),
        eb.exists(
          eb
            .selectFrom('gradingAssignments')
            .whereRef('gradingAssignments.organizationId', '=', 'organizations.id')
            .where('gradingAssignments.isOpen', '=', true)
            .select('gradingAssignments.submissionId'),
        ),
      ]),
    )
    .where((eb) =>
      eb.not(
        eb.exists(
          eb
            .selectFrom('organizationSuspensions')
            .whereRef('organizationSuspensions.organizationId', '=', 'organizations.id')
            .select('organizationSuspensions.id'),
        ),
      ),
    )
    .select(['organizations.id', 'organizations.name', 'organizations.tier'])
    .execute()
  return organizations.flatMap((organization) => (['live', 'test'] as const).map((mode) => ({ ...organization, mode })))
}

async function assignInOrganization(ctx: Context): Promise<number> {
  await removeAssignments(ctx)
  await addAssignments(ctx)
  const allGraders = await findGraders(ctx)
  for (const pair of await findPairs(ctx))
    if (!allGraders.some((grader) => grader.id === pair.graderId && grades(grader, pair.language)))
      await freeAssignments(ctx, pair)
  const languages = (await countOpenAnswers(ctx)).map(({ language }) => language)
  const gradedLanguages = languages.filter((language) => allGraders.some((grader) => grades(grader, language)))
  if (gradedLanguages.length === 0) return 0
  let assigned = 0
  for (let after = '00000000-0000-0000-0000-000000000000'; ; ) {
    const openSubmissions = ctx.db
      .selectFrom('submissions')
      .where('submissions.id', '>', after)
      .where((eb) => eb.or(ASSIGNED_ROUNDS.map((round) => eb.exists(openAnswersOf(ctx.db, eb, round, gradedLanguages)))))
    const found = await openSubmissions.select('submissions.id').orderBy('submissions.id').limit(SUBMISSIONS_AT_ONCE).execute()
    const ids = found.map(({ id }) => id)
    if (ids.length > 0) assigned += await inTransaction(ctx, (inside) => assignBatch(inside, ids, allGraders))
    if (ids.length < SUBMISSIONS_AT_ONCE) return assigned
    after = ids.at(-1)!
  }
}

/** Members and the languages of what is assigned to them. */
const findPairs = ({ db }: Context): Promise<{ graderId: string; language: string | null }[]> =>
  db
    .selectFrom('gradingAssignments')
    .where('graderId', 'is not', null)
    .where('isOpen', '=', true)
    .select(['graderId', 'language'])
    .distinct()
    .$narrowType<{ graderId: NotNull }>()
    .execute()

/** Skips submissions that somebody else has locked until the next sweep. */
async function assignBatch({ db }: Context, ids: readonly string[], allGraders: Grader[]): Promise<number> {
  const locked = await db
    .selectFrom('submissions')
    .where('submissions.id', '=', anyOfIds(ids))
    .where('submissions.state', '=', sql.lit('submitted'))
    .select(['submissions.id', 'submissions.graderId', 'submissions.secondGraderId'])
    .orderBy('submissions.id')
    .forNoKeyUpdate()
    .skipLocked()
    .execute()
  const rows = await db
    .selectFrom('gradingAssignments')
    .where('gradingAssignments.submissionId', '=', anyOfIds(locked.map(({ id }) => id)))
    .select(['submissionId', 'questionNumber', 'round', 'language', 'graderId'])
    .orderBy('submissionId')
    .orderBy('questionNumber')
    .orderBy('round')
    .execute()
  const bySubmission = Map.groupBy(rows, ({ submissionId }) => submissionId)
  const chosen = locked.flatMap(({ id, graderId, secondGraderId }) =>
    chooseGraders(bySubmission.get(id) ?? [], { 1: graderId, 2: secondGraderId }, allGraders),
  )
  if (chosen.length === 0) return 0
  const update = db
    .updateTable('gradingAssignments')
    .from(givenRows('gradingAssignments', chosen).as('chosen'))
    .whereRef('chosen.submissionId', '=', 'gradingAssignments.submissionId')
    .whereRef('chosen.questionNumber', '=', 'gradingAssignments.questionNumber')
    .whereRef('chosen.round', '=', 'gradingAssignments.round')
    .set(({ ref }) => ({ graderId: ref('chosen.graderId') }))
  await update.execute()
  return chosen.length
}

type Answer = { submissionId: string; questionNumber: number; round: number; language: string | null; graderId: string | null }

/**
 * Graders for the open answers of one submission. A member has one round in a submission, so nobody grades an answer twice.
 *
 * @param held members who hold a whole round, whether or not they may still grade.
 */
function chooseGraders(answers: readonly Answer[], held: Record<AssignedRound, string | null>, allGraders: Grader[]): Answer[] {
  const chosen: Answer[] = []
  for (const round of ASSIGNED_ROUNDS) {
    if (allGraders.some(({ id }) => id === held[round])) continue
    const otherRound = round === 1 ? 2 : 1
    const openAnswers = answers.filter((answer) => answer.round === round && answer.graderId === null)
    for (const [language, group] of Map.groupBy(openAnswers, (answer) => answer.language)) {
      const excludedIds = [
        held[otherRound],
        ...[...answers, ...chosen].filter((answer) => answer.round === otherRound).map(({ graderId }) => graderId),
      ]
      const fitting = allGraders.filter((grader) => grades(grader, language) && !excludedIds.includes(grader.id))
      const [first, ...otherGraders] = fitting
      if (!first) continue
      const least = otherGraders.reduce((one, next) => (next.openAnswers < one.openAnswers ? next : one), first)
      least.openAnswers += group.length
      chosen.push(...group.map((answer) => ({ ...answer, graderId: least.id })))
    }
  }
  return chosen
}

/** Answers without a language go to members with the role grader: admins are assigned only languages that they chose. */
const grades = ({ roles, codes }: Grader, language: string | null): boolean =>
  language === null ? roles.includes('grader') : coveringCodes(language).some((code) => codes.includes(code))

function findGraders({ db }: Context): Promise<Grader[]> {
  return graders(db)
    .select(['members.id', 'members.roles'])
    .select((eb) => [
      listOf<string>(
        db
          .selectFrom('memberGradingLanguages')
          .innerJoin(db.table('languages'), 'languages.id', 'memberGradingLanguages.languageId')
          .where('memberGradingLanguages.memberId', '=', eb.ref('members.id'))
          .select('languages.code'),
      ).as('codes'),
      countUngradedAnswers(db, eb).as('openAnswers'),
    ])
    .orderBy('members.id')
    .execute()
}

/** Open answers of a submission, unless one member holds the whole round. @param languages only of these. */
const openAnswersOf = (
  db: TenantDb,
  eb: Expressions<'submissions'>,
  round: AssignedRound,
  languages?: readonly (string | null)[],
) =>
  db
    .selectFrom('gradingAssignments')
    .where('gradingAssignments.submissionId', '=', eb.ref('submissions.id'))
    .where('gradingAssignments.round', '=', sql.lit(round))
    .where('gradingAssignments.isOpen', '=', true)
    .where('gradingAssignments.graderId', 'is', null)
    .where(eb.not(isRoundHeld(db, eb, round)) as Condition)
    .$if(languages !== undefined, (query) =>
      query.where(
        ({ ref }) =>
          sql<SqlBool>`coalesce(${ref('gradingAssignments.language')}, '') = any(${languages!.map((code) => code ?? '')}::text[])`,
      ),
    )
    .select('gradingAssignments.questionNumber')
