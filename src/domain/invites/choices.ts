import { Prisma } from '../../generated/prisma/client.ts'
import { GRADING_ROLES } from '../access/graders.ts'
import { authorize, may } from '../access/permissions.ts'
import type { Context } from '../context.ts'
import { gradesBlindly } from '../submissions/blind.ts'

/** What can be chosen for an invite, by name. */
export type Choices = { assessments: Named[]; tags: Named[]; graders: Named[] }
export type Named = { id: string; name: string }

/** More names than a list to choose from can show are left out, the last by name. */
export const MAX_CHOICES = 1_000

/**
 * The organization's assessments, tags, and members who may grade.
 *
 * @param firstId the assessment that comes first, also where the list would not come to it; null: none before the others.
 * @throws DomainError not_permitted.
 */
export async function listChoices(ctx: Context, firstId: string | null = null): Promise<Choices> {
  const [assessments, tags, graders] = await Promise.all([
    listAssessmentChoices(ctx, firstId),
    listTagChoices(ctx),
    listGraderChoices(ctx),
  ])
  return { assessments, tags, graders }
}

/** @param firstId as of {@link listChoices}. @throws DomainError not_permitted. */
export async function listAssessmentChoices(ctx: Context, firstId: string | null = null): Promise<Named[]> {
  authorize(ctx, 'read')
  const names = Prisma.sql`SELECT id, name FROM assessments WHERE organization_id = ${ctx.organization.id}::uuid`
  return readNames(ctx, names, firstId)
}

/** @throws DomainError not_permitted. */
export async function listTagChoices(ctx: Context): Promise<Named[]> {
  authorize(ctx, 'read')
  return readNames(ctx, Prisma.sql`SELECT id, name FROM tags WHERE organization_id = ${ctx.organization.id}::uuid`)
}

/** The members who may grade, by name and address. @throws DomainError not_permitted. */
export async function listGraderChoices(ctx: Context): Promise<Named[]> {
  if (!may(ctx, 'grade')) authorize(ctx, 'read')
  return readNames(
    ctx,
    Prisma.sql`
      SELECT members.id, concat_ws(', ', nullif(trim(first_name || ' ' || last_name), ''), members.email) AS name
      FROM members JOIN users ON users.id = user_id
      WHERE organization_id = ${ctx.organization.id}::uuid AND status = 'active' AND roles && ${[...GRADING_ROLES]}`,
  )
}

/** The assessments that the context's actor is client of, and may know the candidates of. @throws DomainError not_permitted. */
export async function listClientAssessments(ctx: Context): Promise<Named[]> {
  const { actor, organization } = ctx
  authorize(ctx, 'read_as_client')
  if (actor.kind !== 'member') return []
  return readNames(
    ctx,
    Prisma.sql`
      SELECT id, name FROM assessments JOIN assessment_clients client USING (organization_id)
      WHERE organization_id = ${organization.id}::uuid AND client.assessment_id = id AND client.member_id = ${actor.id}::uuid
        ${gradesBlindly(ctx) ? Prisma.sql`AND NOT graded_blind` : Prisma.empty}`,
  )
}

/** By name. As one value: hundreds of names cost the process little more than half of what they cost as rows. */
async function readNames({ db }: Context, names: Prisma.Sql, firstId: string | null = null): Promise<Named[]> {
  const first = firstId === null ? Prisma.empty : Prisma.sql`id <> ${firstId}::uuid,`
  const [{ list }] = await db.$queryRaw<[{ list: Named[] | null }]>`
    SELECT json_agg(named) AS list FROM (SELECT id, name FROM (${names}) AS found ORDER BY ${first} name, id LIMIT ${MAX_CHOICES}) AS named`
  return list ?? []
}
