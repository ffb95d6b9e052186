import { sql } from '../../db/builder.ts'
import { anyOfIds, type Rows } from '../../db/queries.ts'
import { allAsJson } from '../../db/statements.ts'
import { gradesBlindly } from '../assessments/blind-grading.ts'
import { authorize, may } from '../authorization/permissions.ts'
import type { Context } from '../context.ts'
import { containsAll, toPatterns } from '../lists/listing.ts'
import { graders } from '../members/graders.ts'
import { isUuid } from '../text/uuid.ts'

/** Options of an invite form, by name. */
export type FormChoices = { assessments: Choice[]; tags: Choice[]; graders: Choice[] }
export type Choice = { id: string; name: string }

/** @property named only choices whose names contain all words of this text. @property chosenIds always included, first. */
export type ChoiceFilter = { named?: string; chosenIds?: string[] }

/** More names than a list to choose from can show are left out, the last by name. */
export const MAX_CHOICES = 1_000

/** Options of invite forms: assessments that are not archived, tags, and members who may grade. @throws DomainError not_permitted. */
export async function listChoices(ctx: Context, wanted: ChoiceFilter = {}): Promise<FormChoices> {
  const [assessments, tags, graders] = await Promise.all([
    listInvitingAssessments(ctx, wanted),
    listTagChoices(ctx, wanted),
    listGraderChoices(ctx, wanted),
  ])
  return { assessments, tags, graders }
}

/** @throws DomainError not_permitted. */
export async function listAssessmentChoices(ctx: Context, wanted: ChoiceFilter = {}): Promise<Choice[]> {
  authorize(ctx, 'read_assessments')
  return readChoices(ctx, ctx.db.selectFrom('assessments').select(['id', 'name', 'nameSearch as search']), wanted)
}

/** Assessments that are not archived. @throws DomainError not_permitted. */
export async function listInvitingAssessments(ctx: Context, wanted: ChoiceFilter = {}): Promise<Choice[]> {
  authorize(ctx, 'read_assessments')
  return readChoices(
    ctx,
    ctx.db.selectFrom('assessments').where('archivedAt', 'is', null).select(['id', 'name', 'nameSearch as search']),
    wanted,
  )
}

/** @throws DomainError not_permitted. */
export async function listTagChoices(ctx: Context, wanted: ChoiceFilter = {}): Promise<Choice[]> {
  authorize(ctx, 'read')
  return readChoices(ctx, ctx.db.selectFrom('tags').select(['id', 'name', 'nameSearch as search']), wanted)
}

/** The members who may grade, by name and address. @throws DomainError not_permitted. */
export async function listGraderChoices(ctx: Context, wanted: ChoiceFilter = {}): Promise<Choice[]> {
  if (!may(ctx, 'grade')) authorize(ctx, 'read')
  const names = graders(ctx.db)
    .innerJoin(ctx.db.table('users'), 'users.id', 'members.userId')
    .select(({ ref }) => {
      const name = sql`nullif(trim(${ref('users.firstName')} || ' ' || ${ref('users.lastName')}), '')`
      return [
        'members.id',
        sql<string>`concat_ws(', ', ${name}, ${ref('members.email')})`.as('name'),
        'users.searchKey as search',
      ]
    })
  return readChoices(ctx, names, wanted)
}

/** The assessments that the context's actor is client of, and may know the candidates of. @throws DomainError not_permitted. */
export async function listClientAssessments(
  ctx: Context,
  wanted: ChoiceFilter = {},
  { withNames = false } = {},
): Promise<Choice[]> {
  const { actor } = ctx
  authorize(ctx, 'read_as_client')
  if (actor.kind !== 'member') return []
  const assignedMembers = ctx.db
    .selectFrom('assessments')
    .innerJoin(ctx.db.table('assessmentClients'), 'assessmentClients.assessmentId', 'assessments.id')
    .where('assessmentClients.memberId', '=', actor.id)
    .$if(withNames, (query) => query.where(sql<boolean>`'names' = any(${sql.ref('assessments.clientSees')})`))
    .select(['assessments.id', 'assessments.name', 'assessments.nameSearch as search'])
  return readChoices(
    ctx,
    gradesBlindly(ctx) ? assignedMembers.where('assessments.blindGrading', '=', false) : assignedMembers,
    wanted,
  )
}

/**
 * Choices by name. Aggregated to one value by the database, because hundreds of rows cost the process nearly twice as much.
 *
 * @param names ids, names, and search keys of all choices.
 */
export function readChoices({ db }: Context, names: ChoiceRows, { named = '', chosenIds = [] }: ChoiceFilter): Promise<Choice[]> {
  const chosen = chosenIds.filter(isUuid)
  const anyChosen = anyOfIds(chosen)
  const allOptions = db.selectFrom(names.as('found')).select(['found.id', 'found.name'])
  const { search } = toPatterns({ search: named })
  const found = search
    ? allOptions.where(({ eb, or, ref }) => or([containsAll(ref('found.search'), search), eb('found.id', '=', anyChosen)]))
    : allOptions
  const first = chosen.length === 0 ? found : found.orderBy((eb) => eb('found.id', '=', anyChosen), 'desc')
  return allAsJson(db, first.orderBy('found.name').orderBy('found.id').limit(MAX_CHOICES))
}
type ChoiceRows = Rows<never, Choice & { search: string }>
