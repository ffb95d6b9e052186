import type { Db } from '../../src/db/client.ts'
import type { ServiceContext } from '../../src/domain/context.ts'
import { codeOfStep, createTotpSecret, stepAt } from '../../src/domain/sign-in/totp.ts'
import { encryptTotpSecret } from '../../src/domain/sign-in/totp-secrets.ts'
import type { Visitor } from './portal.ts'

const BASE32 = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567'

function fromBase32(text: string): Buffer {
  const bits = [...text].map((letter) => BASE32.indexOf(letter).toString(2).padStart(5, '0')).join('')
  return Buffer.from((bits.match(/.{8}/g) ?? []).map((byte) => Number.parseInt(byte, 2)))
}

/** Returns the recovery codes on a page. */
export const recoveryCodesIn = (text: string): string[] => text.match(/\b[A-Z2-7]{4}(?:-[A-Z2-7]{4}){5}\b/g) ?? []

/** Reads the setup data for an authenticator app from its page. */
export const readOffer = (page: string): { sealed: string; secret: Buffer } => ({
  sealed: /name="sealed" value="([^"]*)"/.exec(page)![1]!,
  secret: fromBase32(/id="secret">([A-Z2-7 ]+)</.exec(page)![1]!.replaceAll(' ', '')),
})

/** Sets up an authenticator app on its page. @returns its secret, the recovery codes, and the status of the response. */
export async function enrolApp(
  visitor: Pick<Visitor, 'get' | 'post'>,
  now: () => Date,
  next = '/portal',
): Promise<{ secret: Buffer; codes: string[]; status: number }> {
  const { sealed, secret } = readOffer((await visitor.get('/portal/factors/app')).text)
  const answer = await visitor.post('/portal/factors/app', { sealed, name: 'Phone', next, code: codeAt(secret, now()) })
  return { secret, codes: recoveryCodesIn(answer.text), status: answer.status }
}

export const codeAt = (secret: Buffer, now: Date): string => codeOfStep(secret, stepAt(now))

/** Adds an authenticator app to a person's sign-in data, without using the page. @returns its secret. */
export async function giveApp(service: Pick<ServiceContext, 'deps'> & { db: Db }, credentialId: string): Promise<Buffer> {
  const [id, secret] = [service.deps.newId(), createTotpSecret()]
  const sealed = encryptTotpSecret(service as unknown as ServiceContext, id, secret)
  const data = {
    id,
    credentialId,
    kind: 'totp',
    name: 'Phone',
    encryptedSecret: sealed,
    createdAt: service.deps.clock(),
  } as const
  await service.db.secondFactor.create({ data })
  return secret
}
