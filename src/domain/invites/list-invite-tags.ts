import { sql } from '../../db/builder.ts'
import type { TenantDb } from '../../db/queries.ts'
import type { Context } from '../context.ts'
import { type FilterConditions, listPage } from '../lists/listing.ts'
import type { ListPage, Order, PageRequest } from '../lists/page.ts'
import { type ListedTag, type TagOrder, wholeTag } from '../tags/tags.ts'
import { requireVisibleInvite } from './invites.ts'

/** `position` is the order in which the tags were given. */
export type InviteTagOrder = Order<'position' | TagOrder['field']>
type Filter = { inviteId: string }

const filters: FilterConditions<'tags', Filter> = {
  inviteId: (eb, id, db) => eb('tags.id', 'in', db.selectFrom('inviteTags').select('tagId').where('inviteId', '=', id)),
}
const position = (db: TenantDb, { inviteId }: Filter) =>
  db.selectFrom('inviteTags').select('position').where('inviteId', '=', inviteId).where('tagId', '=', sql.ref<string>('tags.id'))
const inviteTagList = { table: 'tags', filters, sorts: { position } } as const

/** The tags of one invite. Beyond both documents. @throws DomainError invite_not_found. */
export async function listInviteTags(
  ctx: Context,
  inviteId: string,
  order: InviteTagOrder,
  page: PageRequest,
): Promise<ListPage<ListedTag>> {
  await requireVisibleInvite(ctx, inviteId)
  return listPage(ctx, inviteTagList, { projection: wholeTag, filter: { inviteId }, order, page })
}
