import type { TenantDb } from '../../db/tenant-db.ts'
import type { Context } from '../context.ts'

// Answer keys. Only scoring, corrections, and editing may read them: see .ci/dependency-rules.mjs.

/** Effect of a key: it scores answers; everybody gets all points; the question doesn't count. */
export const KEY_EFFECTS = ['key', 'full', 'none'] as const
export type KeyEffect = (typeof KEY_EFFECTS)[number]

/** The newest keys of versions, one each. */
export const newestKeys = (db: TenantDb) =>
  db
    .selectFrom('answerKeys')
    .distinctOn('answerKeys.versionId')
    .orderBy('answerKeys.versionId')
    .orderBy('answerKeys.number', 'desc')
    .select(['answerKeys.versionId', 'answerKeys.number as keyNumber', 'answerKeys.key'])
    .select(({ ref }) => ref('answerKeys.effect').$castTo<KeyEffect>().as('effect'))

export type NewestKey = { number: number; key: unknown; effect: KeyEffect }

/** The key of a version that counts. */
export async function readNewestKey({ db, organization }: Context, versionId: string): Promise<NewestKey> {
  const where = { organizationId: organization.id, versionId }
  const { number, key, effect } = await db.answerKey.findFirstOrThrow({ where, orderBy: { number: 'desc' } })
  return { number, key, effect: effect as KeyEffect }
}
