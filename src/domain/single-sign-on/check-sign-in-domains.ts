import { unscoped } from '../../db/unscoped.ts'
import { enterOrganization, type ServiceContext } from '../context.ts'
import { queueOwnerEmails } from '../mails/member-emails.ts'
import { DOMAIN_GRACE_MS } from '../sign-in/domain-owners.ts'
import { claimToken } from '../sign-in/used-tokens.ts'
import { DAY_MS } from '../time/days.ts'
import { inTransaction } from '../transaction.ts'
import { dnsRecordOf } from './domains.ts'

/** Days before a client secret expires on which owners are notified. */
const WARNED_DAYS = [1, 7, 30]
/** Milliseconds between checks of a domain's record: while the record exists, and while it is missing. */
const LOOKED_FOR_EVERY_MS = { there: 7 * DAY_MS, missing: DAY_MS }
/** Domains a minute: name servers may take their time. */
const DOMAINS_AT_ONCE = 10

/** Notifies owners about client secrets that expire soon, and about domains without their DNS record. */
export async function checkSignInDomains(system: ServiceContext): Promise<void> {
  await warnOfSecrets(system)
  for (const domain of await findDue(system)) await checkDomain(system, domain)
}

/** Once for each of the days. */
async function warnOfSecrets(system: ServiceContext): Promise<void> {
  const now = system.deps.clock()
  const soon = new Date(now.getTime() + Math.max(...WARNED_DAYS) * DAY_MS)
  const ending = await system.db.signInProvider.findMany({
    where: { organizationId: { not: null }, secretExpiresAt: { gt: now, lte: soon } },
    select: { id: true, name: true, secretExpiresAt: true, organization: { select: { id: true, name: true, tier: true } } },
  })
  for (const { id, name, secretExpiresAt, organization } of ending) {
    if (!organization || !secretExpiresAt) continue
    const days = WARNED_DAYS.find((days) => secretExpiresAt.getTime() - now.getTime() <= days * DAY_MS)
    const until = secretExpiresAt.toISOString()
    await inTransaction(enterOrganization(system, organization), async (inside) => {
      if (!(await claimToken(inside, `secret ending ${id} ${until} ${days}`, new Date(secretExpiresAt.getTime() + DAY_MS))))
        return
      await queueOwnerEmails(inside, { kind: 'secret_ending', facts: { called: name, until } })
    })
  }
}

const findDue = ({ db, deps }: ServiceContext) => {
  const before = (ms: number) => new Date(deps.clock().getTime() - ms)
  const columns = ['id', 'organizationId', 'domain', 'token', 'checkedAt', 'failingSince'] as const
  const verified = unscoped(db).selectFrom('signInDomains').select(columns).where('verifiedAt', 'is not', null)
  const dueDomains = verified.where((eb) =>
    eb.or([
      eb('checkedAt', '<=', before(LOOKED_FOR_EVERY_MS.there)),
      eb.and([eb('failingSince', 'is not', null), eb('checkedAt', '<=', before(LOOKED_FOR_EVERY_MS.missing))]),
    ]),
  )
  return dueDomains.orderBy('checkedAt').orderBy('id').limit(DOMAINS_AT_ONCE).execute()
}

type DueDomain = Awaited<ReturnType<typeof findDue>>[number]

/** That no name server answers says nothing of a record: it is looked for again a day later. */
async function checkDomain(system: ServiceContext, domain: DueDomain): Promise<void> {
  const { deps } = system
  const { name, value } = dnsRecordOf(domain)
  const records = await deps.identityProviders.textRecords(name).catch(() => null)
  const now = deps.clock()
  const isThere = records?.some((record) => record.trim() === value)
  const failingSince = isThere ? null : records === null ? domain.failingSince : (domain.failingSince ?? now)
  const checkedAt = records === null ? new Date(now.getTime() - LOOKED_FOR_EVERY_MS.there + LOOKED_FOR_EVERY_MS.missing) : now
  await inTransaction(system, async (inside) => {
    const { id, organizationId } = domain
    const same = { id, organizationId, checkedAt: domain.checkedAt, verifiedAt: { not: null } }
    const { count } = await inside.db.signInDomain.updateMany({ where: same, data: { checkedAt, failingSince } })
    if (count === 0 || failingSince === null || domain.failingSince !== null) return
    const until = new Date(failingSince.getTime() + DOMAIN_GRACE_MS).toISOString()
    const facts = { called: domain.domain, until }
    await queueOwnerEmails(enterOrganization(inside, { id: organizationId }), { kind: 'domain_failing', facts })
  })
}
