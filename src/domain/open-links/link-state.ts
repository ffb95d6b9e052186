import { sql } from '../../db/builder.ts'
import type { OpenLink } from '../../generated/prisma/client.ts'
import type { Context } from '../context.ts'
import { DAY_MS } from '../time/days.ts'

/** Reason why nobody can start by the link now, and when somebody can again, if known. */
export type Closure = { why: 'closed' | 'full' | 'not_yet' | 'day_full' | 'busy'; until: Date | null }

/** Columns that decide whether a link is open. */
export const LINK_STATE = [
  'id',
  'assessmentId',
  'mode',
  'isOn',
  'opensAt',
  'closesAt',
  'maxInvites',
  'dailyInvites',
  'invitesCreated',
] as const satisfies (keyof OpenLink)[]
type LinkState = Pick<OpenLink, (typeof LINK_STATE)[number]>

type Assessed = { archivedAt: Date | null; questionCount: number }

/** Why the link is closed; null while it is open. */
export async function findClosure(ctx: Context, link: LinkState, assessment: Assessed): Promise<Closure | null> {
  const now = ctx.deps.clock()
  const isReady = assessment.archivedAt === null && (assessment.questionCount > 0 || !ctx.deps.hasOwnPlayer)
  if (!isReady || (link.closesAt && link.closesAt <= now)) return { why: 'closed', until: null }
  if (link.maxInvites !== null && link.invitesCreated >= link.maxInvites) return { why: 'full', until: null }
  if (link.opensAt && link.opensAt > now) return { why: 'not_yet', until: link.opensAt }
  const until = await findDayEnd(ctx, link, now)
  return until && { why: 'day_full', until }
}

/** When the link may create the next invite; null if it may now. */
async function findDayEnd({ db }: Context, link: LinkState, now: Date): Promise<Date | null> {
  const { createdAt } =
    (await db
      .selectFrom('invites')
      .where('assessmentId', '=', link.assessmentId)
      .where('mode', '=', link.mode)
      .where('source', '=', sql.lit('open' as const))
      .where('createdAt', '>', new Date(now.getTime() - DAY_MS))
      .orderBy('createdAt', 'desc')
      .offset(link.dailyInvites - 1)
      .limit(1)
      .select('createdAt')
      .executeTakeFirst()) ?? {}
  return createdAt ? new Date(createdAt.getTime() + DAY_MS) : null
}
