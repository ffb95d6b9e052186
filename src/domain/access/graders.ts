import { Prisma } from '../../generated/prisma/client.ts'
import type { Context } from '../context.ts'
import type { MemberRole } from './members.ts'

/** Who may grade: the active members of one of these roles. */
export const GRADING_ROLES: readonly MemberRole[] = ['grader', 'admin']

export const mayGrade = ({ status, roles }: { status: string; roles: string[] }): boolean =>
  status === 'active' && GRADING_ROLES.some((role) => roles.includes(role))

/** SQL: whether that is the id of a member who may grade. */
export const isGrader = ({ organization }: Context, id: Prisma.Sql): Prisma.Sql => Prisma.sql`EXISTS (
  SELECT FROM members WHERE organization_id = ${organization.id}::uuid AND members.id = ${id}
    AND status = 'active' AND roles && ${[...GRADING_ROLES]})`
