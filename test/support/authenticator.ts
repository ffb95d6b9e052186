import { createHash, generateKeyPairSync, randomBytes, sign } from 'node:crypto'
import { isoCBOR } from '@simplewebauthn/server/helpers'
import { recoveryCodesIn } from './factors.ts'
import type { Visitor } from './portal.ts'

/** WebAuthn options of a page, as JSON. */
type Options = { challenge: string; rp?: { id: string }; rpId?: string }

const USER_PRESENT_AND_VERIFIED = 0x05
const HAS_KEY = 0x40

/** Reads the WebAuthn options of a page. @param does `create` or `get`. */
export function readPasskeyOptions(page: string, does: 'create' | 'get'): Options {
  const [, options] = new RegExp(`data-passkey="${does}" data-options="([^"]*)"`).exec(page) ?? []
  if (!options) throw new Error(`The page asks for no passkey: ${page.slice(0, 500)}`)
  return JSON.parse(options.replaceAll('&quot;', '"').replaceAll('&#39;', "'").replaceAll('&amp;', '&'))
}

/** Creates a software authenticator for tests without a browser. It has one ES256 passkey, and its user is always verified. */
export function createAuthenticator(origin: string) {
  const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  const { x, y } = publicKey.export({ format: 'jwk' })
  const id = randomBytes(16)
  const bytesOf = (text = '') => new Uint8Array(Buffer.from(text, 'base64url'))
  const cose = isoCBOR.encode(
    new Map<number, number | Uint8Array>([
      [1, 2],
      [3, -7],
      [-1, 1],
      [-2, bytesOf(x)],
      [-3, bytesOf(y)],
    ]),
  )
  const clientData = (type: string, { challenge }: Options) => Buffer.from(JSON.stringify({ type, challenge, origin }))
  const authData = (rpId: string, flags: number, key: Buffer = Buffer.alloc(0)) =>
    Buffer.concat([createHash('sha256').update(rpId).digest(), Buffer.of(flags, 0, 0, 0, 0), key])
  const answer = (response: Record<string, Buffer | string[]>) => {
    const texts = Object.entries(response).map(([name, value]) => [
      name,
      Buffer.isBuffer(value) ? value.toString('base64url') : value,
    ])
    const [text, type] = [id.toString('base64url'), 'public-key']
    return JSON.stringify({ id: text, rawId: text, type, clientExtensionResults: {}, response: Object.fromEntries(texts) })
  }
  return {
    create(options: Options): string {
      const key = Buffer.concat([Buffer.alloc(16), Buffer.of(0, id.length), id, cose])
      const attestationObject = isoCBOR.encode(
        new Map<string, unknown>([
          ['fmt', 'none'],
          ['attStmt', new Map()],
          ['authData', new Uint8Array(authData(options.rp!.id, USER_PRESENT_AND_VERIFIED | HAS_KEY, key))],
        ]) as never,
      )
      return answer({
        clientDataJSON: clientData('webauthn.create', options),
        attestationObject: Buffer.from(attestationObject),
        transports: ['internal'],
      })
    },
    get(options: Options): string {
      const clientDataJSON = clientData('webauthn.get', options)
      const authenticatorData = authData(options.rpId!, USER_PRESENT_AND_VERIFIED)
      const signed = Buffer.concat([authenticatorData, createHash('sha256').update(clientDataJSON).digest()])
      return answer({ clientDataJSON, authenticatorData, signature: sign('sha256', signed, privateKey) })
    },
  }
}

export type Authenticator = ReturnType<typeof createAuthenticator>

/** Adds a passkey on its page. @returns the authenticator, the submitted form, and the response's status and recovery codes. */
export async function enrolPasskey(visitor: Pick<Visitor, 'get' | 'post'>, origin: string) {
  const authenticator = createAuthenticator(origin)
  const { text } = await visitor.get('/portal/factors/passkey')
  const answer = authenticator.create(readPasskeyOptions(text, 'create'))
  const [, sealed = ''] = /name="sealed" value="([^"]*)"/.exec(text) ?? []
  const form = { answer, sealed, name: 'Laptop', next: '/portal' }
  const added = await visitor.post('/portal/factors/passkey', form)
  return { authenticator, form, codes: recoveryCodesIn(added.text), status: added.status }
}
