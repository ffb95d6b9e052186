import type { Db } from '../db/client.ts'
import type { Allowance } from '../domain/networks/allowance.ts'
import type { OperatorProvider } from '../domain/ports/identity-provider.ts'
import { createFetch, type Fetch } from '../sso/fetch.ts'
import { type DoctorCheck, ok, problem } from './check-environment.ts'

/** Most milliseconds of clock skew. Tokens are refused at twice as much. */
const TOLERANCE_MS = 30_000
/** At most 50 issuers are asked: more clocks add no information. */
const MAX_ISSUERS = 50

type ProviderCheckOptions = { ssoAllowance: Allowance; operatorProviders: readonly OperatorProvider[] }

/**
 * Checks that identity providers answer, and how far their clocks differ from this machine's, over the connection that sign-ins use. A silent
 * provider of an organization is that organization's problem, and not reported as one.
 */
export async function checkIdentityProviders(
  db: Db,
  { ssoAllowance, operatorProviders }: ProviderCheckOptions,
): Promise<DoctorCheck[]> {
  const rows = await db.signInProvider.findMany({
    where: { organizationId: { not: null } },
    distinct: ['issuer'],
    select: { issuer: true },
    orderBy: { issuer: 'asc' },
    take: MAX_ISSUERS,
  })
  const operatorIssuers = operatorProviders.map(({ issuer }) => issuer)
  const issuers = [...new Set([...operatorIssuers, ...rows.map(({ issuer }) => issuer)])]
  if (issuers.length === 0) return []
  const fetch = createFetch(ssoAllowance)
  const probes = await Promise.all(issuers.map((issuer) => probe(fetch, issuer)))
  const says = probes.map(({ says }) => says).join('; ')
  const name = 'identity providers'
  if (probes.some(({ isOff }) => isOff))
    return [problem(name, `${says}. Sign-ins are refused where clocks differ by more than a minute: set this machine's by NTP`)]
  if (probes.some(({ issuer, isSilent }) => isSilent && operatorIssuers.includes(issuer)))
    return [problem(name, `${says}. Look at the settings of Google and Microsoft, and whether this machine reaches them`)]
  return [ok(name, says)]
}

type ProbeResult = { issuer: string; says: string; isOff?: boolean; isSilent?: boolean }

async function probe(fetch: Fetch, issuer: string): Promise<ProbeResult> {
  const { host } = new URL(issuer)
  const requestedAt = Date.now()
  try {
    const answer = await fetch(`${issuer.replace(/\/$/, '')}/.well-known/openid-configuration`)
    const date = Date.parse(answer.headers.get('date') ?? '')
    if (!answer.ok) return { issuer, isSilent: true, says: `${host} answers ${answer.status}` }
    if (Number.isNaN(date)) return { issuer, says: `${host} answers, and does not say its time` }
    // The Date header has whole seconds.
    const difference = date + 500 - (requestedAt + Date.now()) / 2
    const isOff = Math.abs(difference) > TOLERANCE_MS
    const seconds = Math.round(Math.abs(difference) / 1_000)
    if (!isOff) return { issuer, says: `${host} answers, and its clock agrees` }
    return {
      issuer,
      isOff,
      says: `the clock of ${host} is ${seconds} s ${difference > 0 ? 'ahead of' : 'behind'} this machine's`,
    }
  } catch (error) {
    return { issuer, isSilent: true, says: `${host} does not answer (${(error as Error).message})` }
  }
}
