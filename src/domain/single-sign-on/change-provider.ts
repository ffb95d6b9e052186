import type { AuditField } from '../audit/audit-details.ts'
import { recordAudit } from '../audit/record-audit.ts'
import { authorize } from '../authorization/permissions.ts'
import type { Context, ServiceContext } from '../context.ts'
import { notifyOfSecurityChange } from '../organization/organization-security.ts'
import { isSsoEnforced } from '../sign-in/domain-owners.ts'
import { inTransaction } from '../transaction.ts'
import { findProviderIssues, type ProviderInput } from './provider-input.ts'
import { decryptClientSecret, encryptClientSecret, encryptDraft, type ProviderConnection, withDraft } from './provider-secrets.ts'
import { getProvider, hashConnection, isTested, type Provider, stopEnforcingUntested, toProviderRow } from './providers.ts'

/** Outcome of a change: saved; waiting for a trial sign-in; saved, and enforcement was switched off. */
export type ProviderChangeOutcome = 'saved' | 'waits' | 'stopped'

/**
 * Changes a provider. If single sign-on is required, a new issuer, client, or secret is saved as a draft until it is tried, so that
 * everybody can still sign in.
 *
 * @param input.clientSecret empty: keep the stored or drafted one. @throws DomainError not_permitted; sign_in_setting_not_found; invalid.
 */
export async function changeProvider(ctx: Context, id: string, input: ProviderInput): Promise<ProviderChangeOutcome> {
  authorize(ctx, 'manage_security')
  findProviderIssues(ctx, input, { isNew: false })
  return inTransaction(ctx, async (inside) => {
    await inside.db.selectFrom('organizations').select('id').forNoKeyUpdate().execute()
    const before = await getProvider(inside, id)
    const { clientSecret: enteredSecret, ...row } = toProviderRow(input)
    const { issuer, clientId, clientAuth, secretExpiresAt, requiredClaims, secondFactor, acrValues, ...otherColumns } = row
    // Untested terms don't apply to the provider in use.
    const terms = { requiredClaims, secondFactor, acrValues }
    const clientSecret = enteredSecret === '' ? decryptClientSecret(inside, withDraft(inside, before)) : enteredSecret
    const connection = { issuer, clientId, clientAuth, secretExpiresAt, clientSecret }
    const waits = await requiresTrial(inside, before, connection)
    const data = waits
      ? { ...otherColumns, encryptedDraft: encryptDraft(inside, id, { ...connection, ...terms }) }
      : { ...otherColumns, ...terms, ...columnsOf(inside, before, connection), encryptedDraft: null }
    const after = await inside.db.signInProvider.update({
      where: { organizationId: inside.organization.id, id },
      data: { ...data, updatedAt: inside.deps.clock() },
    })
    const changed = namesOfChanges(inside, before, after)
    if (changed.length === 0) return waits ? 'waits' : 'saved'
    const details = { provider: after.name, changed, ...(waits && { untried: true }) }
    await recordAudit(inside, { action: 'changed_sign_in_provider', details })
    await notifyOfSecurityChange(inside)
    if (waits) return 'waits'
    return (await stopEnforcingUntested(inside)) ? 'stopped' : 'saved'
  })
}

/** True if sign-in is enforced by a tested provider and the new settings differ from the tested ones. */
const requiresTrial = async (inside: Context, before: Provider, connection: ProviderConnection): Promise<boolean> =>
  isTested(inside, before) &&
  Buffer.compare(before.testedSettingsHash!, hashConnection(connection)) !== 0 &&
  (await isSsoEnforced(inside))

/** Columns of a provider. An unchanged secret is not encrypted again. */
const columnsOf = (
  service: Pick<ServiceContext, 'deps'>,
  before: Provider,
  { clientSecret, ...connection }: ProviderConnection,
): Omit<ProviderConnection, 'clientSecret'> & { encryptedClientSecret?: Uint8Array<ArrayBuffer> } => ({
  ...connection,
  ...(clientSecret !== null &&
    clientSecret !== decryptClientSecret(service, before) && {
      encryptedClientSecret: encryptClientSecret(service, before.id, clientSecret),
    }),
})

/** Names of changed settings, in use or waiting; the secret's value is not compared in the log. */
function namesOfChanges(service: Pick<ServiceContext, 'deps'>, before: Provider, after: Provider): AuditField[] {
  const factsOf = (provider: Provider) => {
    const shown = withDraft(service, provider)
    return { ...shown, clientSecret: decryptClientSecret(service, shown) }
  }
  const [factsBefore, factsAfter] = [factsOf(before), factsOf(after)]
  return CHANGEABLE.filter((name) => JSON.stringify(factsBefore[name]) !== JSON.stringify(factsAfter[name]))
}

/** Fields of {@link toProviderRow}. */
const CHANGEABLE = [
  ...(['name', 'issuer', 'clientId', 'clientAuth', 'clientSecret', 'secretExpiresAt', 'requiredClaims'] as const),
  ...(['provisionsMembers', 'defaultRoles', 'secondFactor', 'acrValues', 'logsOutAtProvider'] as const),
] satisfies (keyof ReturnType<typeof toProviderRow>)[]

/** Deletes the draft. @throws DomainError as above. */
export async function discardDraft(ctx: Context, id: string): Promise<void> {
  const { name } = await getProvider(ctx, id)
  await inTransaction(ctx, async (inside) => {
    const { count } = await inside.db.signInProvider.updateMany({
      where: { organizationId: inside.organization.id, id, encryptedDraft: { not: null } },
      data: { encryptedDraft: null },
    })
    if (count > 0) await recordAudit(inside, { action: 'discarded_sign_in_settings', details: { provider: name } })
  })
}
