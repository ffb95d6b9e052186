import { sql } from '../../db/builder.ts'
import type { TenantDb } from '../../db/tenant-db.ts'
import type { MemberRole } from './members.ts'

/** Active members with one of these roles may grade. */
export const GRADING_ROLES: readonly MemberRole[] = ['grader', 'admin']

export const mayGrade = ({ status, roles }: { status: string; roles: string[] }): boolean =>
  status === 'active' && GRADING_ROLES.some((role) => roles.includes(role))

/** The organization's members who may grade. */
export const graders = (db: TenantDb) =>
  db
    .selectFrom('members')
    .where('members.status', '=', sql.lit('active'))
    .where(({ ref }) => sql<boolean>`${ref('members.roles')} && ${[...GRADING_ROLES]}::text[]`)
