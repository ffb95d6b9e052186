import { scopeWhere } from '../../db/queries.ts'
import type { Context } from '../context.ts'
import { type ListPage, type Order, type PageRequest, readPage } from '../lists/page.ts'
import type { Tag, TagOrder } from '../tags/tags.ts'
import { requireVisibleInvite } from './invites.ts'

export type InviteTagOrder = Order<'position' | TagOrder['field']>

/** The tags of one invite; `position` is the order in which they were given. Beyond both documents. @throws DomainError invite_not_found. */
export async function listInviteTags(
  ctx: Context,
  inviteId: string,
  { field, direction }: InviteTagOrder,
  page: PageRequest,
): Promise<ListPage<Tag>> {
  await requireVisibleInvite(ctx, inviteId)
  const { inviteTag } = ctx.db
  const where = { ...scopeWhere(ctx), inviteId }
  const order = field === 'position' ? { position: direction } : { tag: { [field]: direction } }
  return readPage(
    page,
    () => inviteTag.count({ where }),
    async (window) => {
      const orderBy = [order, { tagId: direction }]
      const rows = await inviteTag.findMany({ where, orderBy, include: { tag: true }, relationLoadStrategy: 'join', ...window })
      return rows.map(({ tag }) => tag)
    },
  )
}
