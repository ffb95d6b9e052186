import { violatedConstraint } from '../../db/errors.ts'
import { versionOf } from '../audit/find-last-change.ts'
import { recordAudit } from '../audit/record-audit.ts'
import { authorize } from '../authorization/permissions.ts'
import type { Context } from '../context.ts'
import { DomainError } from '../errors.ts'
import { MAX_MESSAGE_LENGTH, MAX_NAME_LENGTH } from '../limits.ts'
import { splitText } from '../lists/filters.ts'
import { returnSecrets } from '../secrets/return-secrets.ts'
import { caseKey } from '../text/fold-text.ts'
import { inTransaction } from '../transaction.ts'
import { checkText, findIssues } from '../validation/checks.ts'
import { isPlainAddress, looksLikeAddress } from '../validation/email-address.ts'
import { findNameIssues } from '../validation/find-name-issues.ts'
import { refuseUnseenChanges, type SeenAt, timeOfChange } from '../validation/refuse-unseen-changes.ts'
import { throwIfIssues } from '../validation/throw-if-issues.ts'

/** Names with a dot in them, and a port where it is not 443. */
const HOST = /^([a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?\.)+[a-z][a-z0-9-]*[a-z0-9](:[1-9]\d{0,4})?$/
const MAX_LENGTH = 260

/** True for a valid host name. */
const isReturnHost = (host: string): boolean => host.length <= MAX_LENGTH && HOST.test(host)

/** Settings shown in invitations. Empty: the service's text. */
export type OrganizationSettings = {
  name: string
  /** The name that invitations come from. */
  senderName: string
  /** The address that replies to invitations go to. */
  replyTo: string
  /** Added below every invitation. */
  invitationText: string
  /** Hosts that candidates may be sent to at the end, one a line. */
  returnHosts: string
}

const select = { name: true, senderName: true, replyTo: true, invitationText: true, returnHosts: true, updatedAt: true } as const
export const SETTINGS = ['name', 'senderName', 'replyTo', 'invitationText', 'returnHosts'] as const
const MAX_RETURN_HOSTS = 50

/** With when they were last changed. @throws DomainError not_permitted. */
export async function readOrganizationSettings(
  ctx: Context,
): Promise<OrganizationSettings & { returnSecret: string; updatedAt: Date }> {
  authorize(ctx, 'manage_settings')
  const found = await ctx.db.organization.findUniqueOrThrow({ where: { id: ctx.organization.id }, select })
  const { name, senderName, replyTo, invitationText, updatedAt } = found
  const texts = { senderName: senderName ?? '', replyTo: replyTo ?? '', invitationText: invitationText ?? '' }
  return {
    name,
    ...texts,
    returnHosts: found.returnHosts.join('\n'),
    returnSecret: returnSecrets(ctx.deps.secretKeys, ctx.organization.id)[0],
    updatedAt,
  }
}

/**
 * Changes the given settings. Queued emails use the new ones.
 *
 * @throws DomainError not_permitted; invalid: a name that is missing or `taken`, a value that is too long, an invalid address, or `changed`
 *   for values that somebody else changed since `seenAt`.
 */
export async function changeOrganizationSettings(
  ctx: Context,
  input: Partial<OrganizationSettings>,
  seenAt?: SeenAt,
): Promise<void> {
  authorize(ctx, 'manage_settings')
  const trimmedInput = trimAll(input)
  await inTransaction(ctx, async (inside) => {
    await inside.db.selectFrom('organizations').select('id').forNoKeyUpdate().execute()
    const before = await readOrganizationSettings(inside)
    const settings = { ...before, ...trimmedInput }
    const { name, senderName, replyTo, invitationText } = settings
    const hosts = splitText(settings.returnHosts, /\s/)
    const issues = [
      ...findNameIssues({ name }),
      ...findIssues([
        ['senderName', checkText(senderName, MAX_NAME_LENGTH) ?? checkSenderName(senderName)],
        ['replyTo', replyTo === '' || isPlainAddress(replyTo) ? undefined : { rule: 'email' }],
        ['returnHosts', checkHosts(hosts)],
        ['invitationText', checkText(invitationText, MAX_MESSAGE_LENGTH)],
      ]),
    ]
    throwIfIssues(issues.filter(({ field }) => field in trimmedInput))
    await refuseUnseenChanges(
      versionOf(inside, { updatedAt: before.updatedAt, seen: seenAt, action: 'changed_settings' }),
      before,
      trimmedInput,
    )
    const changed = SETTINGS.filter((field) => before[field] !== settings[field])
    if (changed.length === 0) return
    const texts = { senderName: senderName || null, replyTo: replyTo || null, invitationText: invitationText || null }
    const data = { name, nameKey: caseKey(name), ...texts, returnHosts: hosts }
    const where = { id: ctx.organization.id }
    await inside.db.organization
      .update({ where, data: { ...data, updatedAt: timeOfChange(ctx.deps.clock(), before) } })
      .catch(translateTakenName)
    await recordAudit(inside, { action: 'changed_settings', details: { changed } })
  })
}

/** Refuses a name that looks like an email address, because recipients would take it for the sender's. */
const checkSenderName = (name: string) =>
  looksLikeAddress(name) ? ({ rule: 'account', problem: 'likeAddress' } as const) : undefined

const checkHosts = (hosts: string[]) =>
  hosts.length <= MAX_RETURN_HOSTS && hosts.every(isReturnHost) ? undefined : ({ rule: 'account', problem: 'notHost' } as const)

const trimAll = ({ returnHosts, ...texts }: Partial<OrganizationSettings>): Partial<OrganizationSettings> => ({
  ...Object.fromEntries(Object.entries(texts).map(([name, text]) => [name, text.trim()])),
  ...(returnHosts !== undefined && { returnHosts: [...new Set(splitText(returnHosts.toLowerCase(), /[\s,]+/))].join('\n') }),
})

function translateTakenName(error: unknown): never {
  if (violatedConstraint(error) !== 'organizations_name_key') throw error
  throw new DomainError('invalid', { issues: [{ field: 'name', rule: 'account', problem: 'taken' }] })
}
