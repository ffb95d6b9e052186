import { sql } from '../../../db/builder.ts'
import type { SqlBool } from '../../../db/queries.ts'
import { type Asset, findReadyAsset } from '../../assets/assets.ts'
import { DomainError } from '../../errors.ts'
import { isUuid } from '../../text/uuid.ts'
import type { CandidateSession } from './session.ts'

/**
 * A picture of a question of the candidate's own paper that is open, or was.
 *
 * @throws DomainError media_not_found for any other, of this organization or of none.
 */
export async function showPicture({ ctx, submission }: CandidateSession, id: string): Promise<Asset> {
  if (!submission || !isUuid(id)) throw new DomainError('media_not_found')
  const named = ctx.db
    .selectFrom('submissionQuestions')
    .leftJoin(ctx.db.table('questionVersions'), 'questionVersions.id', 'submissionQuestions.versionId')
    .where('submissionQuestions.submissionId', '=', submission.id)
    .where('submissionQuestions.openedAt', 'is not', null)
    .where(({ ref }) => {
      const [questionAssets, versionAssets] = [ref('submissionQuestions.assetIds'), ref('questionVersions.assetIds')]
      return sql<SqlBool>`${id}::uuid = any(${questionAssets} || coalesce(${versionAssets}, '{}'))`
    })
  if (!(await named.select('submissionQuestions.number').executeTakeFirst())) throw new DomainError('media_not_found')
  const asset = await findReadyAsset(ctx, id)
  if (asset.kind !== 'image') throw new DomainError('media_not_found')
  return asset
}
