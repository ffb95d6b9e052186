import { hkdfSync } from 'node:crypto'

const SECRET_BYTES = 32

/**
 * Secrets to verify return URLs with, newest first. Derived from the service's secret keys, so that nothing is stored. Older keys also sign
 * until they are removed.
 */
export const returnSecrets = (secretKeys: readonly string[], organizationId: string): [string, ...string[]] =>
  secretKeys.map((key) => {
    const secret = hkdfSync('sha256', key, '', `return ${organizationId}`, SECRET_BYTES)
    return `rs_${Buffer.from(secret).toString('base64url')}`
  }) as [string, ...string[]]
