import type { Archive as Row } from '../../generated/prisma/client.ts'
import { authorize } from '../authorization/permissions.ts'
import type { Context } from '../context.ts'
import { DomainError } from '../errors.ts'
import { type ListPage, type PageRequest, readPage } from '../lists/page.ts'
import { decrypt } from '../secrets/encryption.ts'
import { isUuid } from '../text/uuid.ts'
import { HOUR_MS } from '../time/days.ts'

// An archive is one file with all data about a candidate (an email address within one organization, live and test) or a member, or an export
// of the organization. A job builds it. It is kept for a week, and the requester can download it once: see download-archive.ts.

/** Days until an archive is deleted. */
export const ARCHIVE_DAYS = 7
/** Milliseconds after its start in which a download that broke off can be repeated. */
export const DOWNLOAD_RETRY_MS = HOUR_MS

export type ArchiveSubject = 'candidate' | 'member' | 'organization'

/**
 * @property address of a candidate; null for others. @property bytes once it is made. @property isMine whether the actor has asked for it:
 * nobody else gets it. @property retryUntil when a download that has started can no longer be repeated; null: none has started.
 */
export type Archive = Pick<
  Row,
  'id' | 'memberId' | 'actorKind' | 'actorId' | 'createdAt' | 'finishedAt' | 'fetchedAt' | 'expiresAt'
> & {
  subject: ArchiveSubject
  address: string | null
  bytes: number
  isMine: boolean
  retryUntil: Date | null
}

/** Purpose of the encryption of a candidate's address. */
export const purposeOf = (id: string): string => `archive ${id}`

export function toArchive({ deps, actor }: Context, row: Row): Archive {
  const { id, memberId, actorKind, actorId, createdAt, finishedAt, fetchedAt, expiresAt, encryptedAddress, downloadStartedAt } =
    row
  return {
    ...{ id, memberId, actorKind, actorId, createdAt, finishedAt, fetchedAt, expiresAt },
    subject: row.subject as ArchiveSubject,
    address: encryptedAddress && decrypt(deps.secretKeys, purposeOf(id), encryptedAddress),
    bytes: Number(row.bytes),
    isMine: actorId === actorIdOf(actor) && actorKind === actor.kind,
    retryUntil: downloadStartedAt && new Date(downloadStartedAt.getTime() + DOWNLOAD_RETRY_MS),
  }
}

/** Id of the requesting member; null for others. */
export const actorIdOf = (actor: Context['actor']): string | null =>
  actor.kind === 'member' || actor.kind === 'apiKey' ? actor.id : null

/** Finds an archive: the member's own, or one of others that they may request. @throws DomainError not_permitted, archive_not_found. */
export async function getArchive(ctx: Context, id: string): Promise<Archive> {
  return toArchive(ctx, await findArchive(ctx, id))
}

/** Its row. @throws DomainError as {@link getArchive}. */
export async function findArchive(ctx: Context, id: string): Promise<Row> {
  const where = { organizationId: ctx.organization.id, id, expiresAt: { gt: ctx.deps.clock() } }
  const row = isUuid(id) ? await ctx.db.archive.findFirst({ where }) : null
  authorizeArchive(ctx, row?.memberId ?? null)
  if (!row) throw new DomainError('archive_not_found')
  return row
}

/** @param memberId null: an archive about a candidate or the organization. @throws DomainError not_permitted. */
export function authorizeArchive(ctx: Context, memberId: string | null): void {
  if (ctx.actor.kind !== 'member' || ctx.actor.id !== memberId) authorize(ctx, 'erase_candidates')
}

/** The organization's existing archives, newest first. @throws DomainError not_permitted. */
export async function listArchives(ctx: Context, page: PageRequest): Promise<ListPage<Archive>> {
  authorize(ctx, 'erase_candidates')
  const { archive } = ctx.db
  const where = { organizationId: ctx.organization.id, expiresAt: { gt: ctx.deps.clock() } }
  return readPage(
    page,
    () => archive.count({ where }),
    async (window) =>
      (await archive.findMany({ where, orderBy: [{ createdAt: 'desc' }, { id: 'desc' }], ...window })).map((row) =>
        toArchive(ctx, row),
      ),
  )
}
