import { createHash } from 'node:crypto'
import { violatedConstraint } from '../../db/errors.ts'
import type { Context } from '../context.ts'
import { inTransaction } from '../transaction.ts'
import { hashContent } from './content.ts'
import { readLibraryVersion } from './library.ts'
import { CONTENT_KEY } from './save-to-library.ts'

/**
 * After a key was corrected: what the library keeps with it is equal to other content than before. Where that is kept already, both stay, and
 * who looks for the content finds the one that had it first.
 */
export async function renewHashes(ctx: Context, versionId: string): Promise<void> {
  const organizationId = ctx.organization.id
  const select = { libraryQuestionId: true, number: true } as const
  const kept = await ctx.db.libraryVersion.findMany({ where: { organizationId, versionId }, select })
  for (const place of kept) {
    const write = ({ db }: Context, contentHash: Uint8Array<ArrayBuffer>) =>
      db.libraryVersion.updateMany({ where: { organizationId, ...place }, data: { contentHash } })
    const hash = hashContent(await readLibraryVersion(ctx, place.libraryQuestionId, place.number))
    await inTransaction(ctx, (inside) => write(inside, hash)).catch(async (error: unknown) => {
      if (violatedConstraint(error) !== CONTENT_KEY) throw error
      await write(ctx, hashOfNothing(place))
    })
  }
}

/** Equal to no content: a digest of no such text as those of contents are made of. */
const hashOfNothing = ({ libraryQuestionId, number }: { libraryQuestionId: string; number: number }): Uint8Array<ArrayBuffer> =>
  new Uint8Array(createHash('sha256').update(`${libraryQuestionId} ${number}`).digest())
