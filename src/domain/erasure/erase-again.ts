import { sql } from '../../db/builder.ts'
import { anyOfIds, type SqlBool } from '../../db/queries.ts'
import { type Context, enterOrganization, type ServiceContext } from '../context.ts'
import { hmacsOfAddress } from '../secrets/address-hmacs.ts'
import { importedId } from '../text/uuid.ts'
import { continueErasure } from './continue-erasure.ts'
import { readListIds } from './erase-invites.ts'
import type { ErasureStep } from './erasures.ts'
import { type LogReader, type ReceiptLine, readReceiptLines } from './receipts.ts'
import { requestErasure } from './request-erasure.ts'
import { requestMemberErasure } from './request-member-erasure.ts'

// A backup from before an erasure restores the erased person. Erasures that the external log has, and this database lacks, are repeated.

/** Addresses that are looked at by one statement. */
const ADDRESSES_AT_ONCE = 5_000

/** Erasures in the log that are unfinished in this database. Erased organizations are left out. */
export async function findUnfinishedErasures(service: LogReader): Promise<ReceiptLine[]> {
  const lines = (await readReceiptLines(service)) ?? []
  const select = { id: true } as const
  const organizations = await service.db.organization.findMany({ select })
  const existingIds = new Set(organizations.map(({ id }) => id))
  const finished = await service.db.erasure.findMany({ where: { finishedAt: { not: null } }, select })
  const finishedIds = new Set(finished.map(({ id }) => id))
  return lines.filter(({ id, organizationId }) => existingIds.has(organizationId) && !finishedIds.has(id))
}

/** Erasure repeated on a restored database. @property found true if anything of the address was there. */
export type RepeatedErasure = { id: string; organizationId: string; found: boolean }

/**
 * Repeats erasures after a backup was restored.
 *
 * @throws Error if there is no log; AggregateError of failed erasures, after all others are done.
 */
export async function eraseAgain(operator: ServiceContext): Promise<RepeatedErasure[]> {
  if (!(await operator.deps.erasureLog.read()))
    throw new Error('There is no file at ERASURE_LOG: put there the one of the installation that the backup is of')
  const outcomes: Outcome[] = []
  for (const [id, lines] of Map.groupBy(await findUnfinishedErasures(operator), (line) => line.organizationId)) {
    const organization = await operator.db.organization.findUniqueOrThrow({ where: { id } })
    outcomes.push(...(await repeatErasures(enterOrganization(operator, organization), lines, id)))
  }
  return requireAll(outcomes)
}

/**
 * Repeats the erasures that the log has of an imported organization since its export.
 *
 * @param exportedId the organization's id in its export, which the log knows it by.
 * @returns null if there is no log. @throws AggregateError of failed erasures, after all others are done.
 */
export async function eraseSinceExport(ctx: Context, exportedId: string): Promise<RepeatedErasure[] | null> {
  const lines = await readReceiptLines(ctx)
  if (!lines) return null
  const where = { organizationId: ctx.organization.id, finishedAt: { not: null } }
  const finishedIds = new Set((await ctx.db.erasure.findMany({ where, select: { id: true } })).map(({ id }) => id))
  const idHere = (id: string) => importedId(ctx.organization.id, exportedId, id)
  const missing = lines
    .filter(({ id, organizationId }) => organizationId === exportedId && !finishedIds.has(id) && !finishedIds.has(idHere(id)))
    .map((line) => ({ ...line, ...(line.memberId && { memberId: idHere(line.memberId) }) }))
  return requireAll(await repeatErasures(ctx, missing, exportedId))
}

type Outcome = RepeatedErasure | { failure: unknown }

function requireAll(outcomes: Outcome[]): RepeatedErasure[] {
  const failures = outcomes.flatMap((outcome) => ('failure' in outcome ? [outcome.failure] : []))
  const repeated = outcomes.filter((outcome): outcome is RepeatedErasure => !('failure' in outcome))
  if (failures.length > 0) throw new AggregateError(failures, `${failures.length} could not be erased, ${repeated.length} are`)
  return repeated
}

/** @param codedFor id of the organization that the codes of the lines include. */
async function repeatErasures(ctx: Context, lines: ReceiptLine[], codedFor: string): Promise<Outcome[]> {
  const outcomes: Outcome[] = []
  const ofCandidates = lines.filter(({ memberId }) => memberId === undefined)
  const addresses = await findAddresses(ctx, ofCandidates, codedFor)
  for (const line of lines) {
    const { id } = line
    outcomes.push(
      await eraseOnceMore(ctx, line, addresses.get(line.code)).then(
        (found) => ({ id, organizationId: ctx.organization.id, found }),
        (failure) => ({ failure }),
      ),
    )
  }
  return outcomes
}

/** @returns true if there was anything to erase, or if the erasure was in progress when the backup was taken. */
async function eraseOnceMore(ctx: Context, line: ReceiptLine, address: string | undefined): Promise<boolean> {
  const { id, memberId } = line
  const organizationId = ctx.organization.id
  const where = { organizationId_id: { organizationId, id } }
  const isRunning = (await ctx.db.erasure.findUnique({ where, select: { encryptedAddress: true } }))?.encryptedAddress != null
  const hasReturned =
    memberId === undefined
      ? address !== undefined
      : (await ctx.db.member.count({ where: { organizationId, id: memberId, erasedAt: null } })) > 0
  if (!hasReturned && !isRunning) {
    await recordNothingFound(ctx, line)
    return false
  }
  const repeated = { id, until: new Date(line.requestedAt) }
  // The log already has the receipt, so the erasure has to look for it there.
  const unfinished = { organizationId, id, finishedAt: null }
  await ctx.db.erasure.updateMany({ where: unfinished, data: { step: 'receipt' satisfies ErasureStep } })
  if (hasReturned && memberId !== undefined) await requestMemberErasure(ctx, { memberId }, repeated)
  const { id: erasureId } = address === undefined ? line : await requestErasure(ctx, { address }, repeated)
  await continueErasure(ctx, { organizationId, erasureId })
  return true
}

/** Finds the addresses of the HMACs by computing the HMACs of all known addresses, because an HMAC can't be reversed. */
async function findAddresses(ctx: Context, lines: ReceiptLine[], codedFor: string): Promise<Map<string, string>> {
  const wanted = new Set(lines.map(({ code }) => code))
  const found = new Map<string, string>()
  if (wanted.size === 0) return found
  for await (const addresses of readAddresses(ctx))
    for (const address of addresses)
      for (const code of hmacsOfAddress(ctx.deps.secretKeys, codedFor, address)) {
        const text = code.toString('base64url')
        if (wanted.has(text)) found.set(text, address)
      }
  return found
}

/** All candidate addresses of the organization in lower case: from batch rows, invites, and suppressions. */
async function* readAddresses(ctx: Context): AsyncGenerator<string[]> {
  const folded = (column: string) => sql<string>`address_key(${sql.ref(column)})`.as('address')
  for await (const ids of readListIds(ctx, ctx.deps.clock())) {
    const rows = ctx.db.selectFrom('inviteBatchRows').where('batchId', '=', anyOfIds(ids))
    const typed = rows.select(({ ref }) => sql<string>`address_key(trim(${ref('email')}))`.as('address')).distinct()
    yield (await typed.execute()).map(({ address }) => address)
  }
  const sources = [
    ctx.db.selectFrom('invites').select(folded('recipientEmail')),
    ctx.db.selectFrom('suppressions').select(folded('address')),
    ctx.db.selectFrom('registrations').select(folded('email')),
  ]
  for (const source of sources)
    for (let last = ''; ; ) {
      const nextAddresses = ctx.db
        .selectFrom(source.as('known'))
        .where(({ ref }) => sql<SqlBool>`${ref('known.address')} > ${last}`)
        .select('known.address')
        .distinct()
        .orderBy('known.address')
        .limit(ADDRESSES_AT_ONCE)
      const addresses = (await nextAddresses.execute()).map(({ address }) => address)
      yield addresses
      last = addresses.at(-1) ?? ''
      if (addresses.length < ADDRESSES_AT_ONCE) break
    }
}

/** No data was restored; only the receipt is missing. */
async function recordNothingFound(ctx: Context, line: ReceiptLine): Promise<void> {
  const { id, code, actor, counts } = line
  const data = {
    ...{ subject: line.subject, addressHmac: Buffer.from(code, 'base64url'), memberId: line.memberId ?? null },
    ...{ actorKind: actor.kind, actorId: actor.id, counts },
    ...{ step: 'receipt', createdAt: line.requestedAt, finishedAt: line.finishedAt, backupsUntil: line.backupsUntil },
  }
  const where = { organizationId_id: { organizationId: ctx.organization.id, id } }
  await ctx.db.erasure.upsert({
    where,
    create: { organizationId: ctx.organization.id, id, ...data },
    update: { ...data, encryptedAddress: null },
  })
}
