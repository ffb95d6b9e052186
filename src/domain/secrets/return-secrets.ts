import { hkdfSync } from 'node:crypto'

const SECRET_BYTES = 32

/**
 * The secrets that an organization verifies with where its candidates come from, the present one first. They are made of the service's
 * secret keys, so that nothing is stored: while an older key is still there, its secret signs as well.
 */
export const returnSecrets = (secretKeys: readonly string[], organizationId: string): [string, ...string[]] =>
  secretKeys.map((key) => {
    const secret = hkdfSync('sha256', key, '', `return ${organizationId}`, SECRET_BYTES)
    return `rs_${Buffer.from(secret).toString('base64url')}`
  }) as [string, ...string[]]
