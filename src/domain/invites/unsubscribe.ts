import { affectedRows } from '../../db/statements.ts'
import { tenantDb } from '../../db/tenant-db.ts'
import { unscopedPrisma } from '../../db/unscoped.ts'
import type { Connection, KeyMode, ServiceContext } from '../context.ts'
import { DomainError } from '../errors.ts'
import { EVENT_COLUMNS, mailsStopped, type StoppedMails } from '../events/event.ts'
import { recordEvents } from '../events/record-events.ts'
import { LANGUAGE_SOURCES } from '../languages/choose-language.ts'
import { BRAND } from '../ports/brand.ts'
import { formatHmac } from '../secrets/address-hmacs.ts'
import { inTransaction } from '../transaction.ts'
import { findInviter } from './find-contact.ts'
import { whereAddress } from './suppressions.ts'

/**
 * Content of the unsubscribe page; null if the invite is gone. An erased person can still unsubscribe with an old mail: a code
 * replaces the address.
 */
export async function findUnsubscribeOffer(service: ServiceContext, inviteId: string) {
  const { db, deps } = service
  const select = { organizationId: true, mode: true, recipientEmail: true } as const
  const invite = await db.invite.findUnique({ where: { id: inviteId }, select })
  if (!invite) return findErased(service, inviteId)
  const inviter = await findInviter(service, inviteId)
  if (!inviter) return null
  const { organizationId, mode, recipientEmail } = invite
  const found = await db.suppression.findMany({
    where: { organizationId, mode, ...whereAddress(deps, { id: organizationId }, recipientEmail), until: null },
    select: { scope: true },
  })
  return { inviter, stopped: found.map(({ scope }) => scope) }
}

async function findErased({ db }: ServiceContext, inviteId: string) {
  const erased = await findErasedInvite(db, inviteId)
  if (!erased) return null
  const { organizationId, mode, address } = erased
  const organization = await db.organization.findUniqueOrThrow({
    where: { id: organizationId },
    select: { ...BRAND, senderName: true, replyTo: true, timeZone: true, ...LANGUAGE_SOURCES.organization },
  })
  const found = await db.suppression.findMany({ where: { organizationId, mode, address, until: null }, select: { scope: true } })
  const unknownSources = {
    language: null,
    chosenLanguage: null,
    timeZone: null,
    assessment: { interfaceLanguage: null, languages: [] },
    createdBy: null,
  }
  return { inviter: { ...unknownSources, organization }, stopped: found.map(({ scope }) => scope) }
}

/** @property address HMAC of the address. */
async function findErasedInvite(db: Connection, inviteId: string) {
  const select = { organizationId: true, mode: true, erasure: { select: { addressHmac: true } } } as const
  const found = await unscopedPrisma(db).erasedInvite.findFirst({ where: { inviteId }, select })
  return found && { organizationId: found.organizationId, mode: found.mode, address: formatHmac(found.erasure.addressHmac) }
}

/**
 * Stops the organization's reminders and notices, or all its mails, to the invite's address. Repeating it changes nothing.
 *
 * @throws DomainError invite_not_found.
 */
export async function unsubscribe(service: ServiceContext, inviteId: string, scope: StoppedMails): Promise<void> {
  await inTransaction({ ...service, actor: { kind: 'candidate', inviteId } }, async (inside) => {
    const { db } = inside
    const found = await unscopedPrisma(db).invite.findUnique({ where: { id: inviteId }, select: { organizationId: true } })
    if (!found) {
      const erased = await findErasedInvite(db, inviteId)
      if (!erased) throw new DomainError('invite_not_found')
      await stop(inside, erased, scope)
      return
    }
    const invites = tenantDb(inside.db, { organization: { id: found.organizationId }, mode: 'all' })
      .selectFrom('invites')
      .where('invites.id', '=', inviteId)
    const invite = await invites.select(EVENT_COLUMNS).select('invites.recipientEmail').forShare().executeTakeFirst()
    if (!invite) throw new DomainError('invite_not_found')
    const { organizationId, mode, recipientEmail } = invite
    const stopped = await stop(inside, { organizationId, mode, address: recipientEmail.toLowerCase() }, scope)
    if (stopped > 0) await recordEvents(inside, [mailsStopped(invite, scope)])
  })
}

type StoppedMail = { organizationId: string; mode: KeyMode; address: string }

/** @returns how much that changes: 1 or 0. */
function stop(
  { db, deps }: ServiceContext,
  { organizationId, mode, address }: StoppedMail,
  scope: StoppedMails,
): Promise<number> {
  const since = deps.clock()
  return affectedRows(
    tenantDb(db, { organization: { id: organizationId }, mode })
      .insertInto('suppressions')
      .values({ id: deps.newId(), address, scope, reason: 'unsubscribed', since })
      .onConflict((conflict) =>
        conflict
          .columns(['organizationId', 'mode', 'address', 'scope'])
          .doUpdateSet({ reason: 'unsubscribed', since, until: null, emailId: null })
          // A spam complaint is stronger than an unsubscription, and stays.
          .where(({ eb, or }) =>
            or([eb('suppressions.until', 'is not', null), eb('suppressions.reason', 'not in', ['unsubscribed', 'complaint'])]),
          ),
      ),
  )
}
