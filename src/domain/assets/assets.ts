import type { Readable } from 'node:stream'
import type { Asset } from '../../generated/prisma/client.ts'
import { may } from '../authorization/permissions.ts'
import type { Context, ServiceContext } from '../context.ts'
import { DomainError } from '../errors.ts'
import { fileOf } from '../files/media-keys.ts'
import { isUuid } from '../text/uuid.ts'
import { assetIdIn, assetIdsIn } from './references.ts'

export type { Asset }

/** Sides in pixels. */
export type PictureSize = { width: number; height: number }

/**
 * Finds an asset for actors who may read questions.
 *
 * @throws DomainError not_permitted; media_not_found if it does not exist or is not ready.
 */
export async function getAsset(ctx: Context, id: string): Promise<Asset> {
  if (!may(ctx, 'read_assessments') && !may(ctx, 'read_library')) throw new DomainError('not_permitted')
  return findReadyAsset(ctx, id)
}

/** @throws DomainError media_not_found. */
export async function findReadyAsset({ db, organization }: Pick<Context, 'db' | 'organization'>, id: string): Promise<Asset> {
  const where = { organizationId: organization.id, id, state: 'ready' }
  const asset = isUuid(id) ? await db.asset.findFirst({ where }) : null
  if (!asset) throw new DomainError('media_not_found')
  return asset
}

/** Its content, or a range of it: the positions of the first byte and the last. @throws Error when the store has lost it. */
export async function readAsset(
  { deps }: Pick<ServiceContext, 'deps'>,
  { key }: Pick<Asset, 'key'>,
  range?: { start: number; end: number },
): Promise<Readable> {
  const content = await deps.media.get(fileOf(key), range)
  if (!content) throw new Error('A file is not in the media store')
  return content
}

type QuestionTexts = { script: string; spec?: unknown }

/** The sizes of the organization's pictures that questions name, by id: for pages that show them. */
export async function readSizes(
  { db, organization }: Pick<Context, 'db' | 'organization'>,
  questions: QuestionTexts[],
): Promise<Map<string, PictureSize>> {
  const ids = assetIdsIn(...questions.flatMap(({ script, spec }) => [script, JSON.stringify(spec ?? null)]))
  if (ids.length === 0) return new Map()
  const where = { organizationId: organization.id, id: { in: ids }, kind: 'image', state: 'ready' }
  const pictures = await db.asset.findMany({ where, select: { id: true, width: true, height: true } })
  return new Map(pictures.map(({ id, width, height }) => [id, { width: width ?? 0, height: height ?? 0 }]))
}

/**
 * Assets that these texts reference. Marks them as used, so that none is deleted before the texts are saved.
 *
 * @param texts a script, or a spec as JSON. @param addresses of audio or video, possibly elsewhere.
 */
export async function findUsedAssets(ctx: Context, texts: string[], addresses: string[] = []): Promise<string[]> {
  const { db, organization } = ctx
  const named = [...assetIdsIn(...texts), ...addresses.map(assetIdIn).filter((id) => id !== null)]
  if (named.length === 0) return []
  const whereNamed = { organizationId: organization.id, id: { in: named } }
  await db.asset.updateMany({ where: { ...whereNamed, unusedSince: { not: null } }, data: { unusedSince: null } })
  const found = await db.asset.findMany({ where: whereNamed, select: { id: true }, orderBy: { id: 'asc' } })
  return found.map(({ id }) => id)
}
