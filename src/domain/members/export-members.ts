import { own } from '../../db/own.ts'
import { anyOf } from '../../db/query.ts'
import { all } from '../../db/statements.ts'
import type { Prisma } from '../../generated/prisma/client.ts'
import { authorize } from '../access/permissions.ts'
import { EXPORTED_AT_ONCE, runExport, type Write } from '../audit/run-export.ts'
import type { Context } from '../context.ts'
import { refuseExcess } from '../lists/filters.ts'
import { filtered } from '../lists/listing.ts'
import { asked, type MemberFilter, memberConditions } from './members.ts'

const include = {
  user: { select: { firstName: true, lastName: true } },
  tags: { select: { tag: { select: { name: true } } }, orderBy: { position: 'asc' } },
  gradingLanguages: { select: { language: { select: { code: true } } }, orderBy: { position: 'asc' } },
} satisfies Prisma.MemberInclude

/** A member with the person's name, and the names of its tags and codes of its grading languages. */
export type ExportedMember = Prisma.MemberGetPayload<{ include: typeof include }>

/** Exports the members that match the filter, in the order of their ids. @throws DomainError not_permitted; invalid; too_many_exports. */
export async function exportMembers(ctx: Context, filter: MemberFilter, write: Write<ExportedMember>): Promise<void> {
  authorize(ctx, 'manage_members')
  refuseExcess(filter)
  const { status, roles = {}, duty, search } = filter
  const exported = {
    action: 'exported_members',
    filter: { status, role: [...(duty ? [duty] : []), ...Object.keys(roles)].join(', '), search },
  } as const
  const find = async (last: ExportedMember | undefined) => {
    const after = last ? own(ctx, 'members').where('id', '>', last.id) : own(ctx, 'members')
    const members = filtered(after, memberConditions, asked(filter))
    const found = await all(ctx.db, members.select('id').orderBy('id').limit(EXPORTED_AT_ONCE))
    return ctx.db.member.findMany({
      where: { organizationId: ctx.organization.id, id: anyOf(found.map(({ id }) => id)) },
      orderBy: { id: 'asc' },
      include,
      relationLoadStrategy: 'join',
    })
  }
  await runExport(ctx, exported, find, write)
}
