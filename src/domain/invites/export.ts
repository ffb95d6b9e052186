import { queryRows } from '../../db/client.ts'
import { whereAll } from '../../db/query.ts'
import { type InviteStatus, type KeyMode, Prisma } from '../../generated/prisma/client.ts'
import type { Context } from '../context.ts'
import { EXPORTED_AT_ONCE, runExport, type Write } from '../exports.ts'
import { readWords, refuseExcess } from '../filters.ts'
import { ownRows } from '../listing.ts'
import type { InviteFilter } from './filter.ts'
import { expireDueInvites } from './lifecycle.ts'
import { selectMatches } from './search.ts'
import { authorizeInvites } from './visibility.ts'

export type ExportedInvite = {
  id: string
  recipientEmail: string
  recipientName: string | null
  assessmentId: string
  assessment: string
  status: InviteStatus
  mode: KeyMode
  /** Names, in their order. */
  tags: string[]
  /** Addresses of members. */
  grader: string | null
  createdBy: string | null
  createdAt: Date
  sentAt: Date
  expiresAt: Date
  acceptedAt: Date | null
  startedAt: Date | null
  completedAt: Date | null
  revokedAt: Date | null
  declinedAt: Date | null
}

/**
 * Exports the invites that match the filter, in the order of their ids: each that is there from beginning to end exactly once.
 *
 * @throws DomainError not_permitted, see authorizeInvites; invalid for a filter beyond its limits; too_many_exports.
 */
export async function exportInvites(ctx: Context, filter: InviteFilter, write: Write<ExportedInvite>): Promise<void> {
  await authorizeInvites(ctx, filter)
  refuseExcess(filter)
  await expireDueInvites(ctx)
  const { status, assessmentId, tagId, assignedGraderId, search, recipientEmail, recipient } = filter
  // Not for what was searched: the audit log keeps no candidate's address.
  const searched = search || recipientEmail || recipient ? 'yes' : undefined
  const exported = { action: 'exported_invites', filter: { status, assessmentId, tagId, assignedGraderId, searched } } as const
  await runExport(ctx, exported, readBatches(ctx, filter), write)
}

/** Invites that one statement looks for words in: for every batch of what a search finds it would otherwise read all that there are. */
const SEARCHED_AT_ONCE = 20_000

/** What reads the batch that begins after an invite. */
function readBatches(ctx: Context, filter: InviteFilter): (last: ExportedInvite | undefined) => Promise<ExportedInvite[]> {
  const searches = readWords(filter.search).length > 0 || readWords(filter.recipient).length > 0
  if (searches) return searchStretches(ctx, filter)
  return (last) => {
    const after = last === undefined ? [] : [Prisma.sql`id > ${last.id}::uuid`]
    return findInvites(ctx, filter, after, EXPORTED_AT_ONCE)
  }
}

/** Looks for words in each stretch once: what it has found and not handed over yet are ids, of one stretch at most. */
function searchStretches(ctx: Context, filter: InviteFilter): () => Promise<ExportedInvite[]> {
  const found: string[] = []
  let from: string | undefined
  let isOver = false
  const searchNext = async () => {
    const until = await findStretchEnd(ctx, from)
    found.push(...(await findMatches(ctx, filter, { after: from, until })))
    from = until
    isOver = until === undefined
  }
  return async () => {
    const batch: ExportedInvite[] = []
    while (batch.length < EXPORTED_AT_ONCE) {
      if (found.length > 0) {
        const ids = found.splice(0, EXPORTED_AT_ONCE - batch.length)
        batch.push(...(await findInvites(ctx, filter, [Prisma.sql`id = ANY(${ids}::uuid[])`], ids.length)))
      } else if (isOver) break
      else await searchNext()
    }
    return batch
  }
}

/** The last invite of the stretch to search next; undefined where that goes to the end. */
async function findStretchEnd(ctx: Context, after: string | undefined): Promise<string | undefined> {
  const which = ownRows(ctx, [after !== undefined && Prisma.sql`id > ${after}::uuid`])
  const ends = Prisma.sql`SELECT id FROM invites ${which} ORDER BY id OFFSET ${SEARCHED_AT_ONCE - 1} LIMIT 1`
  return (await queryRows<{ id: string }>(ctx.db, ends))[0]?.id
}

type Stretch = { after: string | undefined; until: string | undefined }

/** The ids of a stretch's matches, in their order. */
async function findMatches(ctx: Context, filter: InviteFilter, { after, until }: Stretch): Promise<string[]> {
  const bounds = [after !== undefined && Prisma.sql`id > ${after}::uuid`, until !== undefined && Prisma.sql`id <= ${until}::uuid`]
  const within = bounds.some(Boolean) ? whereAll(bounds) : Prisma.empty
  const matches = Prisma.sql`SELECT id FROM (${selectMatches(ctx, filter, ctx.deps.clock())}) matches ${within} ORDER BY id`
  return (await queryRows<{ id: string }>(ctx.db, matches)).map(({ id }) => id)
}

/** Of those that match and meet the conditions, so many. */
function findInvites(ctx: Context, filter: InviteFilter, conditions: Prisma.Sql[], atMost: number): Promise<ExportedInvite[]> {
  const further = conditions.length > 0 ? whereAll(conditions) : Prisma.empty
  return ctx.db.$queryRaw<ExportedInvite[]>`
    SELECT i.id, i.recipient_email AS "recipientEmail", i.recipient_name AS "recipientName", i.assessment_id AS "assessmentId",
      a.name AS assessment, batch.status, i.mode, grader.email AS grader, creator.email AS "createdBy",
      ARRAY(SELECT t.name FROM invite_tags it JOIN tags t ON t.id = it.tag_id WHERE it.invite_id = i.id ORDER BY it.position) AS tags,
      i.created_at AS "createdAt", i.sent_at AS "sentAt", i.expires_at AS "expiresAt", i.accepted_at AS "acceptedAt",
      i.started_at AS "startedAt", i.completed_at AS "completedAt", i.revoked_at AS "revokedAt",
      i.declined_at AS "declinedAt"
    FROM (SELECT id, status FROM (${selectMatches(ctx, filter, ctx.deps.clock())}) matches ${further} ORDER BY id LIMIT ${atMost}) AS batch
    JOIN invites i USING (id)
    JOIN assessments a ON a.id = i.assessment_id
    LEFT JOIN members grader ON grader.id = i.assigned_grader_id
    LEFT JOIN members creator ON creator.id = i.created_by_id
    WHERE i.organization_id = ${ctx.organization.id}::uuid
    ORDER BY i.id`
}
