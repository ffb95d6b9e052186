import { expect, vi } from 'vitest'
import { queueInvitationEmail } from '../../src/domain/invites/emails.ts'
import { inTransaction } from '../../src/domain/transaction.ts'
import type { Service } from './service.ts'
import type { ReceivedMail } from './smtp.ts'
import { PATIENT } from './wait-until.ts'

/** Returns the path of the candidate's page that the mail links to. */
export const linkIn = ({ parsed }: Pick<ReceivedMail, 'parsed'>): string =>
  new URL(/https?:\S+\/i\/\S+/.exec(parsed.text!)![0]).pathname

/** Queues the mail of an invite that exists only as a row. @returns the mail's id. */
export async function queueMail(
  { system, db }: Service,
  invite: { id: string; organizationId: string; linkVersion: number },
): Promise<string> {
  await inTransaction(system, (ctx) => queueInvitationEmail(ctx, invite))
  const { id } = await db.inviteEmail.findFirstOrThrow({
    where: { inviteId: invite.id },
    orderBy: [{ createdAt: 'desc' }, { id: 'desc' }],
  })
  return id
}

/** Waits until the mail is in this state. @returns its row. */
export async function waitForState({ db }: Service, where: { id: string } | { inviteId: string }, state: string) {
  const find = () => db.inviteEmail.findFirstOrThrow({ where })
  await vi.waitFor(async () => expect((await find()).state).toBe(state), PATIENT)
  return find()
}

/** Waits until a mail's job waits for a retry, and makes the retry due now. */
export async function retryNow({ db }: Service, emailId: string): Promise<void> {
  const makeDue = () => db.$executeRaw`
    UPDATE pgboss.job SET start_after = now() - interval '1 minute' WHERE data->>'emailId' = ${emailId} AND state = 'retry'`
  await vi.waitFor(async () => expect(await makeDue()).toBe(1), PATIENT)
  // Notify pg-boss's channel for runnable jobs. Without it, its workers would find the job within two seconds.
  await db.$executeRaw`SELECT pg_notify('pgboss_' || left(encode(sha224('pgboss'::bytea), 'hex'), 24), 'invitation-email')`
}
