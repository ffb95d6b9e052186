import { hash as digest } from 'node:crypto'

/**
 * Fingerprints of API keys. A key restricted to scopes or networks is stored under another fingerprint, so that a release without
 * restrictions can't find it while both run.
 */
export type Restrictions = { scopes: readonly string[]; networks: readonly string[] }

/** A fast hash is enough: 190 random bits cannot be guessed. @returns the SHA-256 of the key, in base64. */
export const fingerprintOf = (key: string): string => digest('sha256', key, 'base64')

/** Fingerprint of a key while it is restricted. Derived from the key's fingerprint, so that the key itself is not needed. */
export const restrictedFingerprint = (fingerprint: string): string => digest('sha256', `restricted ${fingerprint}`, 'base64')

/** The fingerprints by which a key may be stored: as one without restrictions, and as one with some. */
export const storedFingerprints = (key: string): [string, string] => {
  const fingerprint = fingerprintOf(key)
  return [fingerprint, restrictedFingerprint(fingerprint)]
}

export const isRestricted = ({ scopes, networks }: Restrictions): boolean => scopes.length > 0 || networks.length > 0

export const toBase64 = (bytes: Uint8Array): string => Buffer.from(bytes).toString('base64')
export const toBytes = (fingerprint: string): Uint8Array<ArrayBuffer> => new Uint8Array(Buffer.from(fingerprint, 'base64'))
