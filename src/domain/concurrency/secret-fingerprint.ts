import { unscoped } from '../../db/unscoped.ts'
import type { ServiceContext } from '../context.ts'
import { authenticationCode } from '../secrets/signed-token.ts'

type Db = Pick<ServiceContext, 'db'>

/** An HMAC under the key: it tells one key from another, and nothing else. */
const fingerprintOf = (secretKey: string) => new Uint8Array(authenticationCode(secretKey, 'fingerprint', Buffer.alloc(0)))

/** True if the keys have the one in them that this database's links and secrets were last made with; also before the first start. */
export async function hasSecretKey(service: Db, secretKeys: readonly string[]): Promise<boolean> {
  const recorded = await findFingerprint(service)
  return !recorded || secretKeys.some((key) => recorded.equals(fingerprintOf(key)))
}

/** Records which key signs new links and encrypts new secrets. Writes only a changed one, because the disk may be full. */
export async function recordSecretKey({ db }: Db, secretKeys: readonly string[]): Promise<void> {
  const fingerprint = fingerprintOf(secretKeys[0]!)
  if ((await findFingerprint({ db }))?.equals(fingerprint)) return
  const record = unscoped(db).insertInto('secretFingerprints').values({ id: 1, fingerprint })
  await record.onConflict((conflict) => conflict.column('id').doUpdateSet({ fingerprint })).execute()
}

async function findFingerprint({ db }: Db): Promise<Buffer | undefined> {
  const row = await unscoped(db).selectFrom('secretFingerprints').select('fingerprint').executeTakeFirst()
  return row && Buffer.from(row.fingerprint)
}
