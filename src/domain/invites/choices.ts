import { queryRows } from '../../db/client.ts'
import { containing } from '../../db/query.ts'
import { Prisma } from '../../generated/prisma/client.ts'
import { GRADING_ROLES } from '../access/graders.ts'
import { authorize, may } from '../access/permissions.ts'
import type { Context } from '../context.ts'
import { gradesBlindly } from '../submissions/blind.ts'
import { isUuid } from '../uuid.ts'

/** What can be chosen for an invite, by name. */
export type Choices = { assessments: Named[]; tags: Named[]; graders: Named[] }
export type Named = { id: string; name: string }

/**
 * What a list to choose from is to have: only names with a text in them, in either case; and first, whatever they are called, those that
 * are chosen already.
 */
export type Wanted = { named?: string; chosenIds?: string[] }

/** More names than a list to choose from can show are left out, the last by name. */
export const MAX_CHOICES = 1_000

/**
 * The organization's assessments, tags, and members who may grade.
 *
 * @throws DomainError not_permitted.
 */
export async function listChoices(ctx: Context, wanted: Wanted = {}): Promise<Choices> {
  const [assessments, tags, graders] = await Promise.all([
    listAssessmentChoices(ctx, wanted),
    listTagChoices(ctx, wanted),
    listGraderChoices(ctx, wanted),
  ])
  return { assessments, tags, graders }
}

/** @throws DomainError not_permitted. */
export async function listAssessmentChoices(ctx: Context, wanted: Wanted = {}): Promise<Named[]> {
  authorize(ctx, 'read')
  const names = Prisma.sql`SELECT id, name FROM assessments WHERE organization_id = ${ctx.organization.id}::uuid`
  return readNames(ctx, names, wanted)
}

/** @throws DomainError not_permitted. */
export async function listTagChoices(ctx: Context, wanted: Wanted = {}): Promise<Named[]> {
  authorize(ctx, 'read')
  return readNames(ctx, Prisma.sql`SELECT id, name FROM tags WHERE organization_id = ${ctx.organization.id}::uuid`, wanted)
}

/** The members who may grade, by name and address. @throws DomainError not_permitted. */
export async function listGraderChoices(ctx: Context, wanted: Wanted = {}): Promise<Named[]> {
  if (!may(ctx, 'grade')) authorize(ctx, 'read')
  return readNames(
    ctx,
    Prisma.sql`
      SELECT members.id, concat_ws(', ', nullif(trim(first_name || ' ' || last_name), ''), members.email) AS name
      FROM members JOIN users ON users.id = user_id
      WHERE organization_id = ${ctx.organization.id}::uuid AND status = 'active' AND roles && ${[...GRADING_ROLES]}`,
    wanted,
  )
}

/** The assessments that the context's actor is client of, and may know the candidates of. @throws DomainError not_permitted. */
export async function listClientAssessments(ctx: Context, wanted: Wanted = {}): Promise<Named[]> {
  const { actor, organization } = ctx
  authorize(ctx, 'read_as_client')
  if (actor.kind !== 'member') return []
  return readNames(
    ctx,
    Prisma.sql`
      SELECT id, name FROM assessments JOIN assessment_clients client USING (organization_id)
      WHERE organization_id = ${organization.id}::uuid AND client.assessment_id = id AND client.member_id = ${actor.id}::uuid
        ${gradesBlindly(ctx) ? Prisma.sql`AND NOT graded_blind` : Prisma.empty}`,
    wanted,
  )
}

/**
 * By name. As one value: hundreds of names cost the process little more than half of what they cost as rows.
 *
 * @param names SQL: the ids and names of all that there are.
 */
export async function readNames({ db }: Context, names: Prisma.Sql, { named = '', chosenIds = [] }: Wanted): Promise<Named[]> {
  const chosen = chosenIds.filter(isUuid)
  const isChosen = Prisma.sql`id = ANY(${chosen}::uuid[])`
  const which = named === '' ? Prisma.empty : Prisma.sql`WHERE name ILIKE ${containing(named)} OR ${isChosen}`
  const first = chosen.length === 0 ? Prisma.empty : Prisma.sql`${isChosen} DESC,`
  const [found] = await queryRows<{ list: Named[] | null }>(
    db,
    Prisma.sql`
    SELECT json_agg(named) AS list
    FROM (SELECT id, name FROM (${names}) AS found ${which} ORDER BY ${first} name, id LIMIT ${MAX_CHOICES}) AS named`,
  )
  return found!.list ?? []
}
