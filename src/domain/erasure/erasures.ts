import { scopeWhere } from '../../db/queries.ts'
import type { Erasure as Row } from '../../generated/prisma/client.ts'
import { findNames } from '../audit/audit-log.ts'
import { authorize, may } from '../authorization/permissions.ts'
import type { Context } from '../context.ts'
import { DomainError } from '../errors.ts'
import { type ListPage, type PageRequest, readPage } from '../lists/page.ts'
import { isUuid } from '../text/uuid.ts'
import { RETENTION_RULES, type RetentionRule } from './due-invites.ts'

// Erasing a candidate: an email address within one organization, live and test. A receipt without the address remains. Invites past their
// retention are erased in the same way, with one receipt per run: see retention.ts.

/** Steps in order. A repeated step finds nothing left to do. */
export const ERASURE_STEPS = [
  'revoke',
  'lists',
  'media',
  'invites',
  'mails',
  'events',
  'traces',
  'suppressions',
  'receipt',
] as const
export type ErasureStep = (typeof ERASURE_STEPS)[number]
/** Steps after the member is anonymous. */
export const MEMBER_STEPS = ['mails', 'media', 'traces', 'receipt'] as const satisfies readonly ErasureStep[]

export const ERASED_KINDS = [
  'invites',
  'submissions',
  'media',
  'mails',
  'listRows',
  'events',
  'webhookAnswers',
  'requestRecords',
  'otherTraces',
  'suppressions',
] as const
export type ErasedKind = (typeof ERASED_KINDS)[number]
/** @property accounts sign-in data, if no other organization uses it. */
export const MEMBER_KINDS = ['members', 'accounts', 'memberMails', 'auditEntries'] as const
export type MemberKind = (typeof MEMBER_KINDS)[number]
/** With the number of invites by retention rule. */
export type ErasedCounts = Partial<Record<ErasedKind | RetentionRule | MemberKind, number>>

/** A candidate, a member, or invites past their retention. */
export const SUBJECTS = ['candidate', 'member', 'retention'] as const
export type Subject = (typeof SUBJECTS)[number]
/** Placeholder for the address of a retention run, so that its unique key allows one run per organization. */
export const RETENTION_ERASURE = {
  subject: 'retention' satisfies Subject,
  code: new Uint8Array(Buffer.from('retention')),
} as const

/** Retained data of an erased candidate. */
export const RETAINED_DATA = ['counts', 'results', 'events', 'audit_entries', 'suppressions'] as const

/** Retained data of an erased member. */
export const RETAINED_MEMBER_DATA = ['grades', 'made', 'audit_entries', 'keys', 'words'] as const

/** @property isDone true when the erasure is finished; before that `counts` are preliminary. */
export type Erasure = Pick<Row, 'id' | 'actorKind' | 'actorId' | 'createdAt' | 'finishedAt' | 'backupsUntil'> & {
  subject: Subject
  step: ErasureStep
  counts: Record<ErasedKind, number>
  /** Number of invites erased by each retention rule. */
  byRule: Record<RetentionRule, number>
  ofMember: Record<MemberKind, number>
}

/** Counts of all kinds, zeros included. */
const countsOf = <Kind extends keyof ErasedCounts>(counts: unknown, kinds: readonly Kind[]): Record<Kind, number> =>
  Object.fromEntries(kinds.map((kind) => [kind, (counts as ErasedCounts)[kind] ?? 0])) as Record<Kind, number>

export const toErasure = ({
  id,
  subject,
  actorKind,
  actorId,
  createdAt,
  finishedAt,
  backupsUntil,
  step,
  counts,
}: Row): Erasure => ({
  ...{ id, actorKind, actorId, createdAt, finishedAt, backupsUntil },
  subject: subject as Subject,
  step: step as ErasureStep,
  counts: countsOf(counts, ERASED_KINDS),
  byRule: countsOf(counts, RETENTION_RULES),
  ofMember: countsOf(counts, MEMBER_KINDS),
})

/** API keys may see erasures of candidates only. */
const visibleTo = ({ organization, actor }: Context) => ({
  organizationId: organization.id,
  ...(actor.kind === 'apiKey' && { subject: 'candidate' satisfies Subject }),
})

/** An erasure, or its receipt. @throws DomainError not_permitted, erasure_not_found. */
export async function getErasure(ctx: Context, id: string): Promise<Erasure> {
  authorize(ctx, 'erase_candidates')
  const where = { ...visibleTo(ctx), id }
  const row = isUuid(id) ? await ctx.db.erasure.findFirst({ where }) : null
  if (!row) throw new DomainError('erasure_not_found')
  return toErasure(row)
}

/** Finds the erasure of an invite, finished or not. @returns its id; null if there is none or the actor may not see it. */
export async function findErasureOfInvite(ctx: Context, inviteId: string): Promise<string | null> {
  if (!may(ctx, 'erase_candidates') || !isUuid(inviteId)) return null
  const where = { ...scopeWhere(ctx), inviteId }
  return (await ctx.db.erasedInvite.findFirst({ where, select: { erasureId: true } }))?.erasureId ?? null
}

/** The organization's erasures, the newest first. @throws DomainError not_permitted. */
export async function listErasures(ctx: Context, page: PageRequest): Promise<ListPage<Erasure>> {
  authorize(ctx, 'erase_candidates')
  const { erasure } = ctx.db
  const where = visibleTo(ctx)
  return readPage(
    page,
    () => erasure.count({ where }),
    async (window) =>
      (await erasure.findMany({ where, orderBy: [{ createdAt: 'desc' }, { id: 'desc' }], ...window })).map(toErasure),
  )
}

/** The name of the member or the key that asked for it; null: they are gone, or it was neither. */
export async function findRequesterName(ctx: Context, { actorId }: Pick<Erasure, 'actorId'>): Promise<string | null> {
  if (actorId === null) return null
  const names = await findNames(ctx, { memberIds: [actorId], keyIds: [actorId] })
  return names.get(actorId) ?? null
}
