import { createHmac } from 'node:crypto'
import type { Context, ServiceContext } from '../context.ts'
import type { Issue, TargetFault } from '../errors.ts'
import { MAX_URL_LENGTH } from '../limits.ts'
import { returnSecrets } from '../secrets/return-secrets.ts'

// Link for candidates after completion. Beyond both documents.

/** An address with nothing in it that some programs leave out, or take for a slash: its host is the same for all of them. */
const PLAIN_ADDRESS = /^[a-z][a-z\d+.-]*:\/\/[^/?#\s\\\p{Cc}][^\s\\\p{Cc}]*$/iu
const CREDENTIALS = /^[^/]+\/\/[^/?#]*@/

/** Fault of the address, apart from whether its host is listed. */
export function findReturnFault(text: string): TargetFault | undefined {
  if (/^(?!https:)[a-z][a-z\d+.-]*:/i.test(text)) return 'scheme'
  const isPlain = text.length <= MAX_URL_LENGTH && text.isWellFormed() && PLAIN_ADDRESS.test(text)
  const url = isPlain ? URL.parse(text) : null
  if (!url?.hostname) return 'url'
  return CREDENTIALS.test(text) ? 'credentials' : undefined
}

/** An issue, unless the organization has listed the host. */
export async function findUnlistedHost({ db, organization }: Context, returnUrl: string | null | undefined): Promise<Issue[]> {
  if (!returnUrl) return []
  const { returnHosts } = await db.organization.findUniqueOrThrow({
    where: { id: organization.id },
    select: { returnHosts: true },
  })
  return isListed(returnHosts, returnUrl) ? [] : [{ field: 'returnUrl', rule: 'target', problem: 'unlisted' }]
}

const isListed = (hosts: readonly string[], returnUrl: string): boolean => hosts.includes(new URL(returnUrl).host)

type ReturningInvite = { id: string; organizationId: string; status: string; returnUrl: string | null }

/**
 * Return URL with the signed outcome of the invite: `inviteId`, `status`, `timestamp` (seconds), and `signature`: the HMAC-SHA256 of these
 * three, joined by dots, in hex; one per secret, joined by commas.
 *
 * @returns null if the invite has none or is not completed, or the host is no longer allowed.
 */
export async function signReturnUrl(service: ServiceContext, invite: ReturningInvite): Promise<string | null> {
  const { id, organizationId, status, returnUrl } = invite
  if (returnUrl === null || status !== 'completed') return null
  const organization = { where: { id: organizationId }, select: { returnHosts: true } }
  const { returnHosts } = await service.db.organization.findUniqueOrThrow(organization)
  if (!isListed(returnHosts, returnUrl)) return null
  const timestamp = String(Math.floor(service.deps.clock().getTime() / 1000))
  const signedText = `${id}.${status}.${timestamp}`
  const signatures = returnSecrets(service.deps.secretKeys, organizationId).map((secret) =>
    createHmac('sha256', secret).update(signedText).digest('hex'),
  )
  const url = new URL(returnUrl)
  for (const [name, value] of Object.entries({ inviteId: id, status, timestamp, signature: signatures.join(',') }))
    url.searchParams.set(name, value)
  return url.href
}
