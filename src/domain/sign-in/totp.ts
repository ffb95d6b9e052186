import { createHmac, randomBytes } from 'node:crypto'
import { equalsInConstantTime } from '../secrets/signed-token.ts'

// Time-based codes (RFC 6238) with the parameters that every app supports: SHA-1, six digits, 30 s.

const STEP_MS = 30_000
const DIGITS = 6
/** Steps that the person's clock, or their fingers, may be behind or ahead. */
const WINDOW = 1
/** As many as SHA-1 has (RFC 4226, section 4). */
const SECRET_BYTES = 20
const BASE32 = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567'

export const createTotpSecret = (): Buffer => randomBytes(SECRET_BYTES)

/** The code of a step, counted from 1970. */
export function codeOfStep(secret: Uint8Array, step: number): string {
  const counter = Buffer.alloc(8)
  counter.writeBigUInt64BE(BigInt(step))
  const mac = createHmac('sha1', secret).update(counter).digest()
  const number = mac.readUInt32BE(mac.at(-1)! & 0xf) & 0x7f_ff_ff_ff
  return String(number % 10 ** DIGITS).padStart(DIGITS, '0')
}

export const stepAt = (now: Date): number => Math.floor(now.getTime() / STEP_MS)

/** Time step of a code, spaces ignored, with its end; null if the code is wrong or outside the window. */
export function findStep(secret: Uint8Array, code: string, now: Date): { step: number; endsAt: Date } | null {
  const typedCode = Buffer.from(code.replaceAll(/\s/g, ''))
  const current = stepAt(now)
  // Compares all, so that the time doesn't reveal a match.
  const right = [current - WINDOW, current, current + WINDOW].filter((step) =>
    equalsInConstantTime(Buffer.from(codeOfStep(secret, step)), typedCode),
  )
  return right.length === 0 ? null : { step: right[0]!, endsAt: new Date((right[0]! + WINDOW + 1) * STEP_MS) }
}

/** Bytes as apps, and people, write them (RFC 4648), in as many letters as whole groups of five bits need. */
export function toBase32(bytes: Uint8Array): string {
  const bits = [...bytes].map((byte) => byte.toString(2).padStart(8, '0')).join('')
  return (bits.match(/.{1,5}/g) ?? []).map((group) => BASE32[Number.parseInt(group.padEnd(5, '0'), 2)]).join('')
}

/** Address in the QR code of an authenticator app. @param issuer name that the app shows. */
export function otpauthUrl(secret: Uint8Array, { issuer, account }: { issuer: string; account: string }): string {
  const query = new URLSearchParams({ secret: toBase32(secret), issuer, algorithm: 'SHA1', digits: '6', period: '30' })
  // Spaces as %20: some apps show a plus as it stands.
  return `otpauth://totp/${encodeURIComponent(issuer)}:${encodeURIComponent(account)}?${query.toString().replaceAll('+', '%20')}`
}
