import { sql } from '../../db/builder.ts'
import { unscoped } from '../../db/unscoped.ts'
import { DEFAULT, insertFromSelect, timestamp, uuid } from '../../db/writes.ts'
import type { ServiceContext } from '../context.ts'
import type { Bounce } from '../mails/classify-bounce.ts'
import { DAY_MS } from '../time/days.ts'
import { FULL_AFTER_BOUNCES, type SuppressionReason } from './suppressions.ts'

const FULL_WITHIN_DAYS = 30
const FULL_FOR_DAYS = 14

/** Stops mails to the address of a mail that has bounced or was reported as spam, if that says something about the address. */
export async function suppressAddressOf(system: ServiceContext, emailId: string, cause: Bounce | 'complaint'): Promise<void> {
  if (cause === 'blocked') return
  const isFull = cause === 'temporary'
  if (isFull && !(await isFullAgain(system, emailId))) return
  const { clock, newId } = system.deps
  const now = clock()
  const reason: SuppressionReason = isFull ? 'full' : cause === 'complaint' ? 'complaint' : 'bounce'
  const mail = unscoped(system.db).selectFrom(candidateMails(system).as('mail')).where('mail.id', '=', emailId)
  const insertion = insertFromSelect(system.db, 'suppressions', mail, (eb) => ({
    id: uuid(newId()),
    organizationId: eb.ref('mail.organizationId'),
    mode: eb.ref('mail.mode'),
    address: eb.ref('mail.address'),
    reason: eb.val<string>(reason),
    scope: DEFAULT,
    since: timestamp(now),
    until: isFull ? timestamp(new Date(now.getTime() + FULL_FOR_DAYS * DAY_MS)) : DEFAULT,
    emailId: eb.ref('mail.id'),
  }))
  // A permanent suppression stays; one with an end is renewed.
  const upsert = insertion.onConflict((conflict) =>
    conflict
      .columns(['organizationId', 'mode', 'address', 'scope'])
      .doUpdateSet((eb) => ({
        reason: eb.ref('excluded.reason'),
        since: eb.ref('excluded.since'),
        until: eb.ref('excluded.until'),
        emailId: eb.ref('excluded.emailId'),
      }))
      .where('suppressions.until', 'is not', null),
  )
  await upsert.execute()
}

/** Mails to candidates: of invites, and of open links. */
function candidateMails({ db }: ServiceContext) {
  const ofInvites = unscoped(db)
    .selectFrom('inviteEmails as email')
    .innerJoin('invites as invite', (join) =>
      join.onRef('invite.organizationId', '=', 'email.organizationId').onRef('invite.id', '=', 'email.inviteId'),
    )
    .select(({ ref, fn }) => [
      'email.id as id',
      'email.organizationId as organizationId',
      'invite.mode as mode',
      fn<string>('address_key', ['invite.recipientEmail']).as('address'),
      'email.createdAt as createdAt',
      'email.bounce as bounce',
      sql<boolean>`${ref('email.state')} = 'sent'`.as('isSent'),
    ])
  const ofOpenLinks = unscoped(db)
    .selectFrom('registrations as registration')
    .select(({ ref, fn }) => [
      'registration.id as id',
      'registration.organizationId as organizationId',
      'registration.mode as mode',
      fn<string>('address_key', ['registration.email']).as('address'),
      'registration.createdAt as createdAt',
      'registration.bounce as bounce',
      sql<boolean>`${ref('registration.state')} = 'sent'`.as('isSent'),
    ])
  return ofInvites.unionAll(ofOpenLinks)
}

/** True if the last mails to the address all bounced. */
async function isFullAgain(system: ServiceContext, emailId: string): Promise<boolean> {
  const { db, deps } = system
  const mails = candidateMails(system).as('mail')
  const mail = await unscoped(db)
    .selectFrom(mails)
    .where('mail.id', '=', emailId)
    .select(['mail.organizationId', 'mail.mode', 'mail.address', 'mail.createdAt'])
    .executeTakeFirst()
  if (!mail) return false
  const { organizationId, mode, address, createdAt } = mail
  const last = unscoped(db)
    .selectFrom(mails)
    .where('mail.organizationId', '=', organizationId)
    .where('mail.mode', '=', mode)
    .where('mail.address', '=', address)
    .where('mail.createdAt', '>', new Date(deps.clock().getTime() - FULL_WITHIN_DAYS * DAY_MS))
    .where('mail.createdAt', '<=', createdAt)
    .where(({ or, eb }) => or([eb('mail.isSent', '=', true), eb('mail.bounce', 'is not', null)]))
    .orderBy('mail.createdAt', 'desc')
    .limit(FULL_AFTER_BOUNCES)
  const bounces = await last.select('mail.bounce').execute()
  return bounces.length === FULL_AFTER_BOUNCES && bounces.every(({ bounce }) => bounce === 'temporary')
}
