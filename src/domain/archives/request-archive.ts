import { affectedRows } from '../../db/statements.ts'
import { countMediaBytes } from '../assets/lacks-space.ts'
import { recordAudit } from '../audit/record-audit.ts'
import { authorize } from '../authorization/permissions.ts'
import { lockOrganization } from '../concurrency/lock-organization.ts'
import type { Context } from '../context.ts'
import { normalizeAddress } from '../erasure/request-erasure.ts'
import { DomainError } from '../errors.ts'
import { hmacOfAddress } from '../secrets/address-hmacs.ts'
import { encrypt } from '../secrets/encryption.ts'
import { isUuid } from '../text/uuid.ts'
import { DAY_MS, daysAfter } from '../time/days.ts'
import { inTransaction } from '../transaction.ts'
import { isEmailAddress } from '../validation/email-address.ts'
import {
  ARCHIVE_DAYS,
  type Archive,
  type ArchiveSubject,
  actorIdOf,
  authorizeArchive,
  getArchive,
  purposeOf,
} from './archives.ts'

/** Archives within 24 hours: of members by member, others by organization. Building one may read the whole media store. */
export const MAX_ARCHIVES = { candidate: 5, member: 2, organization: 2 } as const
/** Bytes of photos and recordings. Larger organizations are exported by the command line. */
export const MAX_EXPORT_BYTES = 10e9

/**
 * Queues an archive of everything stored about the candidate with the address. While it is being built, repeating the request returns it. An
 * unknown address gets the same answer, so the request does not tell who is a candidate.
 *
 * @throws DomainError not_permitted; invalid, `email`, and `tooManyArchives`.
 */
export function requestCandidateArchive(ctx: Context, { address: typed }: { address: string }): Promise<Archive> {
  authorizeArchive(ctx, null)
  const address = normalizeAddress(typed)
  if (!isEmailAddress(address)) throw new DomainError('invalid', { issues: [{ field: 'email', rule: 'email' }] })
  const { deps, organization } = ctx
  const id = deps.newId()
  const addressHmac = new Uint8Array(hmacOfAddress(deps.secretKeys, organization.id, address))
  const encryptedAddress = encrypt(deps.secretKeys, purposeOf(id), address)
  return requestArchive(ctx, { id, subject: 'candidate', addressHmac, encryptedAddress, memberId: null })
}

/**
 * Queues an archive of everything stored about a member. Members may request their own; others need the permission.
 *
 * @throws DomainError not_permitted, member_not_found; invalid, `tooManyArchives`.
 */
export async function requestMemberArchive(ctx: Context, memberId: string): Promise<Archive> {
  authorizeArchive(ctx, memberId)
  const where = { organizationId: ctx.organization.id, id: memberId, erasedAt: null }
  if (!isUuid(memberId) || (await ctx.db.member.count({ where })) === 0) throw new DomainError('member_not_found')
  return requestArchive(ctx, { id: ctx.deps.newId(), subject: 'member', addressHmac: null, encryptedAddress: null, memberId })
}

/** @property isTooLarge true if the operator has to export it. */
type ExportSize = { bytes: number; isTooLarge: boolean }

/** @throws DomainError not_permitted. */
export async function measureExport(ctx: Context): Promise<ExportSize> {
  authorize(ctx, 'export_organization')
  const bytes = await countMediaBytes(ctx)
  return { bytes, isTooLarge: bytes > MAX_EXPORT_BYTES }
}

/**
 * Queues an export of the whole organization, which another installation can import. While it is being built, repeating the request returns it.
 * Transcripts are included if the requester may read them when it is built.
 *
 * @throws DomainError not_permitted; invalid, `exportTooLarge`, `tooManyArchives`.
 */
export async function requestOrganizationExport(ctx: Context): Promise<Archive> {
  if ((await measureExport(ctx)).isTooLarge) throw refuse('exportTooLarge', MAX_EXPORT_BYTES)
  const request = { subject: 'organization', addressHmac: null, encryptedAddress: null, memberId: null } as const
  return requestArchive(ctx, { id: ctx.deps.newId(), ...request })
}

type ArchiveRequest = {
  id: string
  subject: ArchiveSubject
  addressHmac: Uint8Array<ArrayBuffer> | null
  encryptedAddress: Uint8Array<ArrayBuffer> | null
  memberId: string | null
}

async function requestArchive(ctx: Context, request: ArchiveRequest): Promise<Archive> {
  const id = await inTransaction(ctx, async (inside) => {
    const { db, deps, organization, actor } = inside
    const createdAt = deps.clock()
    const row = { ...request, actorKind: actor.kind, actorId: actorIdOf(actor), createdAt }
    if (request.subject === 'organization') {
      await lockOrganization(inside) // no unique index keeps two exports apart
      const building = await requestedByActor(inside)
        .where('subject', '=', 'organization')
        .where('finishedAt', 'is', null)
        .select('id')
        .executeTakeFirst()
      if (building) return building.id
    }
    const inserted = await affectedRows(
      db
        .insertInto('archives')
        .values({ ...row, expiresAt: daysAfter(createdAt, ARCHIVE_DAYS) })
        .onConflict((conflict) => conflict.doNothing()),
    )
    if (inserted === 0) return findConflicting(inside, request)
    await refuseExcess(inside, request)
    await deps.queue.enqueueArchive(db, { organizationId: organization.id, archiveId: request.id })
    const action = request.subject === 'organization' ? 'asked_for_organization_export' : 'asked_for_archive'
    await recordAudit(inside, { action, target: { kind: 'archive', id: request.id } })
    return request.id
  })
  return getArchive(ctx, id)
}

/** Finds the actor's archive that the insert conflicted with. It may have been finished since. */
async function findConflicting(inside: Context, { addressHmac, memberId }: ArchiveRequest): Promise<string> {
  const requested = requestedByActor(inside).orderBy('createdAt', 'desc')
  const aboutSubject = addressHmac ? requested.where('addressHmac', '=', addressHmac) : requested.where('memberId', '=', memberId)
  return (await aboutSubject.select('id').executeTakeFirstOrThrow()).id
}

const requestedByActor = ({ db, actor }: Context) =>
  db.selectFrom('archives').where('actorKind', '=', actor.kind).where('actorId', 'is not distinct from', actorIdOf(actor))

/** Counts the archive just inserted too. An erasure deletes the candidate's archives, so those don't count. */
async function refuseExcess(inside: Context, { subject, memberId }: ArchiveRequest): Promise<void> {
  await lockOrganization(inside)
  const dayAgo = new Date(inside.deps.clock().getTime() - DAY_MS)
  const where = { organizationId: inside.organization.id, subject, createdAt: { gt: dayAgo }, ...(memberId && { memberId }) }
  const limit = MAX_ARCHIVES[subject]
  if ((await inside.db.archive.count({ where })) > limit) throw refuse('tooManyArchives', limit)
}

const refuse = (problem: 'tooManyArchives' | 'exportTooLarge', limit: number): DomainError =>
  new DomainError('invalid', { issues: [{ field: '', rule: 'account', problem, limit }] })
