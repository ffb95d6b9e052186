import type { ServiceContext } from '../context.ts'

/** Forgets archives whose week is over, of all organizations, for the scheduled sweep; their files go with it. */
export async function forgetOldArchives({ db, deps }: ServiceContext): Promise<void> {
  await db.archive.deleteMany({ where: { expiresAt: { lte: deps.clock() } } })
}
