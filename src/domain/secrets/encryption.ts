import { createCipheriv, createDecipheriv, hkdfSync, randomBytes } from 'node:crypto'

const ALGORITHM = 'aes-256-gcm'
const KEY_BYTES = 32
const IV_BYTES = 12
const TAG_BYTES = 16

/**
 * Encrypts a text that has to be readable again (AES-256-GCM), under a key derived from the newest of the secret keys.
 *
 * @param purpose kind and owner of the text. A text encrypted for one purpose can't be decrypted for another.
 */
export function encrypt(secretKeys: readonly string[], purpose: string, text: string): Uint8Array<ArrayBuffer> {
  const iv = randomBytes(IV_BYTES)
  const cipher = createCipheriv(ALGORITHM, deriveKey(secretKeys[0]!), iv).setAAD(Buffer.from(purpose))
  return new Uint8Array(Buffer.concat([iv, cipher.update(text, 'utf8'), cipher.final(), cipher.getAuthTag()]))
}

/** Decrypts a text of this purpose with any of the secret keys; null if none fits. */
export function decrypt(secretKeys: readonly string[], purpose: string, encrypted: Uint8Array): string | null {
  for (const secretKey of secretKeys) {
    try {
      return decryptWithKey(deriveKey(secretKey), purpose, Buffer.from(encrypted))
    } catch {
      // Encrypted under another key, or for another purpose.
    }
  }
  return null
}

function decryptWithKey(key: Buffer, purpose: string, encrypted: Buffer): string {
  const decipher = createDecipheriv(ALGORITHM, key, encrypted.subarray(0, IV_BYTES), { authTagLength: TAG_BYTES })
  decipher.setAAD(Buffer.from(purpose)).setAuthTag(encrypted.subarray(-TAG_BYTES))
  return Buffer.concat([decipher.update(encrypted.subarray(IV_BYTES, -TAG_BYTES)), decipher.final()]).toString('utf8')
}

/** Derived keys: each webhook needs one. */
const derived = new Map<string, Buffer>()

/** Derives a separate key for encryption, so that signatures made with the secret key reveal nothing about it. */
function deriveKey(secretKey: string): Buffer {
  const derivedKey = derived.get(secretKey) ?? Buffer.from(hkdfSync('sha256', secretKey, '', 'seal', KEY_BYTES))
  derived.set(secretKey, derivedKey)
  return derivedKey
}
