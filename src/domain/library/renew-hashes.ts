import { createHash } from 'node:crypto'
import { violatedConstraint } from '../../db/errors.ts'
import type { Context } from '../context.ts'
import { inTransaction } from '../transaction.ts'
import { hashContent } from './content.ts'
import { readLibraryVersion } from './library.ts'
import { CONTENT_KEY } from './save-to-library.ts'

/**
 * Updates content hashes after a key was corrected. If the library already has the new content, both questions stay, and lookups find the
 * older one.
 */
export async function renewHashes(ctx: Context, versionId: string): Promise<void> {
  const organizationId = ctx.organization.id
  const select = { libraryQuestionId: true, number: true } as const
  const libraryVersions = await ctx.db.libraryVersion.findMany({ where: { organizationId, versionId }, select })
  for (const place of libraryVersions) {
    const write = ({ db }: Context, contentHash: Uint8Array<ArrayBuffer>) =>
      db.libraryVersion.updateMany({ where: { organizationId, ...place }, data: { contentHash } })
    const hash = hashContent(await readLibraryVersion(ctx, place.libraryQuestionId, place.number))
    await inTransaction(ctx, (inside) => write(inside, hash)).catch(async (error: unknown) => {
      if (violatedConstraint(error) !== CONTENT_KEY) throw error
      await write(ctx, hashOfNothing(place))
    })
  }
}

/** Placeholder hash that no content has. */
const hashOfNothing = ({ libraryQuestionId, number }: { libraryQuestionId: string; number: number }): Uint8Array<ArrayBuffer> =>
  new Uint8Array(createHash('sha256').update(`${libraryQuestionId} ${number}`).digest())
