import { sql } from '../../../db/builder.ts'
import type { Expression, SqlBool } from '../../../db/queries.ts'
import { unscoped } from '../../../db/unscoped.ts'
import type { Tier } from '../../../generated/prisma/client.ts'
import { may } from '../../authorization/permissions.ts'
import { processEach, throwFirstFailure } from '../../concurrency/bisect.ts'
import type { Context, ServiceContext } from '../../context.ts'
import { canExpire } from '../../invites/expiry.ts'
import { DIGESTS, type Digest, type DigestFacts, queueMemberEmail } from '../../mails/member-emails.ts'
import { toMemberContext } from '../../sign-in/sessions.ts'
import { DAY_MS } from '../../time/days.ts'
import { inTransaction } from '../../transaction.ts'
import { countAnswersWithoutGrader } from './answers-without-grader.ts'
import { waitingSubmissions } from './waiting-submissions.ts'

/** Hour of the reader's day at which digests are sent. They cover the time before it. */
const HOUR = sql.lit(8)
/** Days that a digest of what expires looks ahead. */
const AHEAD_DAYS = 2

/** Recipient of a digest this morning. @property since the same hour on the last weekday. */
type Reader = {
  id: string
  userId: string
  roles: string[]
  portalRoles: string[]
  notices: string[]
  organizationId: string
  name: string
  tier: Tier
  ownerNamedAt: Date | null
  day: string
  since: Date
  until: Date
}
type Figures = DigestFacts & { count: number; fresh: number }

/**
 * Queues the digests of members for whom it is morning, for the scheduled sweep: one per kind and day, and only if there is something new.
 *
 * @returns the number of digests.
 */
export async function queueDigests(system: ServiceContext): Promise<number> {
  let queued = 0
  const readers = await findReaders(system)
  const failed = await processEach(readers, async (reader) => {
    const ctx = toMemberContext(system, {
      ...reader,
      canViewTranscription: false, // a digest has no words of answers
      organization: { ...reader, id: reader.organizationId },
    })
    for (const kind of DIGESTS.filter((digest) => reader.notices.includes(digest))) {
      const facts = await count[kind](ctx, reader)
      if (facts.fresh === 0) continue
      const digest = { kind, memberId: reader.id, dedupeKey: `${kind}:${reader.day}`, facts }
      if (await inTransaction(ctx, (inside) => queueMemberEmail(inside, digest))) queued++
    }
  })
  throwFirstFailure(failed)
  return queued
}

function findReaders({ db, deps }: ServiceContext): Promise<Reader[]> {
  const now = sql<Date>`${deps.clock()}::timestamptz`
  const morning = unscoped(db)
    .selectFrom('members')
    .innerJoin('organizations', 'organizations.id', 'members.organizationId')
    .select(['members.id', 'members.userId', 'members.roles', 'members.portalRoles', 'members.notices', 'members.organizationId'])
    .select(['organizations.name', 'organizations.tier', 'organizations.ownerNamedAt'])
    .select(({ ref }) => sql<string>`coalesce(${ref('members.timeZone')}, ${ref('organizations.timeZone')})`.as('zone'))
    .where('members.status', '=', sql.lit('active' as const))
    .where('members.credentialId', 'is not', null)
    .where(({ ref }) => sql<SqlBool>`${ref('members.notices')} <> '{}'`)
  const morningMembers = unscoped(db)
    .with('morning', () => morning)
    .selectFrom('morning')
    .select(['id', 'userId', 'roles', 'portalRoles', 'notices', 'organizationId', 'name', 'tier', 'ownerNamedAt', 'zone'])
    .select(({ ref }) => sql<Date>`${now} at time zone ${ref('morning.zone')}`.as('local'))
  return unscoped(db)
    .with('there', () => morningMembers)
    .selectFrom('there')
    .select(['id', 'userId', 'roles', 'portalRoles', 'notices', 'organizationId', 'name', 'tier', 'ownerNamedAt'])
    .select(({ ref }) => [
      sql<string>`to_char(${ref('there.local')}, 'YYYY-MM-DD')`.as('day'),
      sql<Date>`(date_trunc('day', ${ref('there.local')}) + ${HOUR} * interval '1 hour'
          - case when extract(isodow from ${ref('there.local')}) = 1 then 3 else 1 end * interval '1 day') at time zone ${ref('there.zone')}`.as(
        'since',
      ),
      sql<Date>`(date_trunc('day', ${ref('there.local')}) + ${HOUR} * interval '1 hour') at time zone ${ref('there.zone')}`.as(
        'until',
      ),
    ])
    .where(({ ref }) => sql<SqlBool>`extract(hour from ${ref('there.local')}) = ${HOUR}`)
    .where(({ ref }) => sql<SqlBool>`extract(isodow from ${ref('there.local')}) < 6`)
    .execute()
}

const count: Record<Digest, (ctx: Context, reader: Reader) => Promise<Figures>> = {
  async grading_digest(ctx, { since, until }) {
    if (!may(ctx, 'grade')) return NOTHING
    const waiting = waitingSubmissions(ctx, { queue: may(ctx, 'read') ? 'all' : 'mine' })
      .where('submissions.submittedAt', '<', until)
      .select(({ fn }) => fn.countAll().as('count'))
    const fresh = waiting.where('submissions.submittedAt', '>=', since)
    const withoutGrader = may(ctx, 'read') ? await countAnswersWithoutGrader(ctx) : []
    return {
      count: await figure(ctx, waiting.$asScalar()),
      fresh: await figure(ctx, fresh.$asScalar()),
      ...(withoutGrader.length > 0 && { withoutGrader }),
    }
  },
  async expiring_digest(ctx, { id, until }) {
    const expiring = ctx.db
      .selectFrom('invites')
      .where('invites.createdById', '=', id)
      .where('invites.createdByKeyId', 'is', null)
      .where(canExpire)
      .where('invites.expiresAt', '>', ctx.deps.clock())
      .where('invites.expiresAt', '<=', new Date(until.getTime() + AHEAD_DAYS * DAY_MS))
    const found = await figure(ctx, expiring.select(({ fn }) => fn.countAll().as('count')).$asScalar())
    return { count: found, fresh: found }
  },
  async bounce_digest(ctx, { since, until }) {
    if (!may(ctx, 'operate_invites')) return NOTHING
    const returned = ctx.db
      .selectFrom('inviteEmails')
      .innerJoin(ctx.db.table('invites'), 'invites.id', 'inviteEmails.inviteId')
      .where('invites.mode', '=', sql.lit('live' as const))
      .where('inviteEmails.bouncedAt', '>=', since)
      .where('inviteEmails.bouncedAt', '<', until)
    const found = await figure(ctx, returned.select(({ fn }) => fn.countAll().as('count')).$asScalar())
    return { count: found, fresh: found }
  },
  async open_digest(ctx, { since, until }) {
    if (!may(ctx, 'read')) return NOTHING
    const invitesOfOpenLinks = ctx.db
      .selectFrom('invites')
      .innerJoin(ctx.db.table('openLinks'), (join) =>
        join.onRef('openLinks.assessmentId', '=', 'invites.assessmentId').onRef('openLinks.mode', '=', 'invites.mode'),
      )
      .where('openLinks.notifiesMembers', '=', true)
      .where('invites.mode', '=', sql.lit('live' as const))
      .where('invites.source', '=', sql.lit('open' as const))
      .where('invites.createdAt', '>=', since)
      .where('invites.createdAt', '<', until)
    const found = await figure(ctx, invitesOfOpenLinks.select(({ fn }) => fn.countAll().as('count')).$asScalar())
    return { count: found, fresh: found }
  },
}
const NOTHING: Figures = { count: 0, fresh: 0 }

async function figure({ db }: Context, counted: Expression<string | number | bigint | null>): Promise<number> {
  return (await db.selectNoFrom(({ cast }) => cast<number>(counted, 'integer').as('count')).executeTakeFirstOrThrow()).count
}
