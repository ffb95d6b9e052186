import { createHash } from 'node:crypto'
import type { Asset } from '../../generated/prisma/client.ts'
import type { Context } from '../context.ts'
import { fileOf, newMediaKey } from '../files/media-keys.ts'
import { lacksSpace } from './lacks-space.ts'
import type { PictureFile } from './picture-file.ts'

type MediumFile = { contentType: string; milliseconds: number; content: Buffer }

/**
 * Stores a file, or finds the stored one with the same content. The row is created before the file, so that a sweep can find the remains of
 * a crash.
 *
 * @returns null if there is no space.
 */
export async function storeFile(
  ctx: Context,
  kind: 'image' | 'logo' | 'audio' | 'video',
  { content, ...facts }: PictureFile | MediumFile,
): Promise<Asset | null> {
  const { actor, db, deps, organization } = ctx
  const sha256 = new Uint8Array(createHash('sha256').update(content).digest())
  const scope = { organizationId: organization.id }
  const existing = await db.asset.findFirst({ where: { ...scope, sha256, kind, state: 'ready' }, orderBy: { id: 'asc' } })
  if (existing) return existing
  if (await lacksSpace(ctx, content.length)) return null
  const [id, now] = [deps.newId(), deps.clock()]
  const key = newMediaKey(organization)
  const createdById = actor.kind === 'member' ? actor.id : null
  await db.asset.create({
    data: {
      ...{ ...scope, id, kind, state: 'uploading', key, ...facts, sha256, bytes: content.length },
      ...{ createdById, createdAt: now, checkedAt: now },
    },
  })
  await deps.media.put(fileOf(key), content)
  return db.asset.update({
    where: { organizationId_id: { ...scope, id } },
    data: { state: 'ready', completedAt: deps.clock() },
  })
}
