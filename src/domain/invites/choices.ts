import { authorize } from '../access/permissions.ts'
import type { Context } from '../context.ts'
import { GRADING_ROLES } from './create.ts'

/** What can be chosen for an invite, by name. */
export type Choices = { assessments: Named[]; tags: Named[]; graders: Named[] }
export type Named = { id: string; name: string }

/** More names than a list to choose from can show are left out, the last by name. */
export const MAX_CHOICES = 1_000
const byName = { orderBy: [{ name: 'asc' as const }, { id: 'asc' as const }], take: MAX_CHOICES }
const select = { id: true, name: true }

/** The assessments that the context's actor is client of. @throws DomainError not_permitted. */
export async function listClientAssessments(ctx: Context): Promise<Named[]> {
  const { actor, db, organization } = ctx
  authorize(ctx, 'read_as_client')
  if (actor.kind !== 'member') return []
  const where = { organizationId: organization.id, clients: { some: { memberId: actor.id } } }
  return db.assessment.findMany({ where, select, ...byName })
}

/** The organization's assessments, tags, and members who may grade. @throws DomainError not_permitted. */
export async function listChoices(ctx: Context): Promise<Choices> {
  authorize(ctx, 'read')
  const { db, organization } = ctx
  const where = { organizationId: organization.id }
  const [assessments, tags, members] = await Promise.all([
    db.assessment.findMany({ where, select, ...byName }),
    db.tag.findMany({ where, select, ...byName }),
    db.member.findMany({
      where: { ...where, status: 'active', roles: { hasSome: [...GRADING_ROLES] } },
      orderBy: [{ email: 'asc' }, { id: 'asc' }],
      take: MAX_CHOICES,
      select: { id: true, email: true, user: { select: { firstName: true, lastName: true } } },
    }),
  ])
  const graders = members.map(({ id, email, user: { firstName, lastName } }) => {
    const name = `${firstName} ${lastName}`.trim()
    return { id, name: name ? `${name}, ${email}` : email }
  })
  return { assessments, tags, graders }
}
