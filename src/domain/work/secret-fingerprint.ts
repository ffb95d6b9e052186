import { everyones } from '../../db/everyone.ts'
import { all, run } from '../../db/statements.ts'
import type { ServiceContext } from '../context.ts'
import { authenticationCode } from '../secrets/signed-token.ts'

type Db = Pick<ServiceContext, 'db'>

/** An HMAC under the key: it tells one key from another, and nothing else. */
const fingerprintOf = (secretKey: string) => new Uint8Array(authenticationCode(secretKey, 'fingerprint', Buffer.alloc(0)))

/** True if the keys have the one in them that this database's links and secrets were last made with; also before the first start. */
export async function hasSecretKey({ db }: Db, secretKeys: readonly string[]): Promise<boolean> {
  const [row] = await all(db, everyones.selectFrom('secretFingerprints').select('fingerprint'))
  return row === undefined || secretKeys.some((key) => Buffer.from(row.fingerprint).equals(fingerprintOf(key)))
}

/** Records the newest key as the one that links and secrets are made with from now on. */
export async function recordSecretKey({ db }: Db, secretKeys: readonly string[]): Promise<void> {
  const fingerprint = fingerprintOf(secretKeys[0]!)
  await run(
    db,
    everyones
      .insertInto('secretFingerprints')
      .values({ id: 1, fingerprint })
      .onConflict((conflict) =>
        conflict.column('id').doUpdateSet({ fingerprint }).where('secretFingerprints.fingerprint', '<>', fingerprint),
      ),
  )
}
