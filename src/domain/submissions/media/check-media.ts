import type { Prisma } from '../../../generated/prisma/client.ts'
import type { Asset } from '../../assets/assets.ts'
import type { ServiceContext } from '../../context.ts'
import { fileOf, partOf } from '../../files/media-keys.ts'
import type { MediaFile } from './media.ts'

/** Result of a check. `missing`: not in the store; `wrong`: another length. */
export type MediaCheck = {
  files: number
  parts: number
  bytes: number
  missing: LostFile[]
  wrong: LostFile[]
  /** Files without a row; null if only a sample was checked. Nothing is deleted. */
  strays: { files: number; bytes: number } | null
}
/** `found`: bytes in the store; null where there is nothing. */
type LostFile = { mediaId: string; organizationId: string; key: string; expected: number; found: number | null }
type ExpectedFile = Omit<LostFile, 'found'>

/** Rows of one statement, and files that are asked for at a time. */
const ROWS = 1_000
const AT_ONCE = 16

/**
 * Checks that the store has every file of the database at its length: the files of ready media, and the parts of others. Changes
 * nothing.
 *
 * @param options.sample checks this many random files only, and no files without a row.
 * @throws StoreUnavailable
 */
export async function checkMedia(system: ServiceContext, { sample }: { sample?: number } = {}): Promise<MediaCheck> {
  const check: MediaCheck = { files: 0, parts: 0, bytes: 0, missing: [], wrong: [], strays: null }
  if (sample !== undefined) {
    check.files = await checkFiles(system, check, (await findSample(system, sample)).map(toExpectedFile))
    return check
  }
  for await (const media of readReady(system)) check.files += await checkFiles(system, check, media.map(toExpectedFile))
  for await (const assets of readAssets(system)) check.files += await checkFiles(system, check, assets.map(toExpectedFile))
  for await (const parts of readParts(system)) check.parts += await checkFiles(system, check, parts)
  check.strays = await countStrays(system)
  return check
}

const toExpectedFile = ({ id, organizationId, key, bytes }: MediaFile | Asset): ExpectedFile => ({
  mediaId: id,
  organizationId,
  key: fileOf(key),
  expected: Number(bytes),
})

/** @returns how many were looked for. */
async function checkFiles({ deps }: ServiceContext, check: MediaCheck, files: ExpectedFile[]): Promise<number> {
  for (let i = 0; i < files.length; i += AT_ONCE) {
    const batch = files.slice(i, i + AT_ONCE)
    const sizes = await Promise.all(batch.map(({ key }) => deps.media.size(key)))
    for (const [at, file] of batch.entries()) {
      const found = sizes[at] ?? null
      check.bytes += found ?? 0
      if (found !== file.expected) check[found === null ? 'missing' : 'wrong'].push({ ...file, found })
    }
  }
  return files.length
}

async function* readReady({ db }: ServiceContext): AsyncGenerator<MediaFile[]> {
  for (let last: string | undefined; ; ) {
    const after = last === undefined ? {} : { id: { gt: last } }
    const media = await db.mediaFile.findMany({ where: { state: 'ready', ...after }, orderBy: { id: 'asc' }, take: ROWS })
    yield media
    last = media.at(-1)?.id
    if (media.length < ROWS) return
  }
}

/** Media of questions. */
async function* readAssets({ db }: ServiceContext): AsyncGenerator<Asset[]> {
  for (let last: Asset | undefined; ; ) {
    const after: Prisma.AssetWhereInput = last
      ? { OR: [{ organizationId: { gt: last.organizationId } }, { organizationId: last.organizationId, id: { gt: last.id } }] }
      : {}
    const orderBy: Prisma.AssetOrderByWithRelationInput[] = [{ organizationId: 'asc' }, { id: 'asc' }]
    const assets = await db.asset.findMany({ where: { state: 'ready', ...after }, orderBy, take: ROWS })
    yield assets
    last = assets.at(-1)
    if (assets.length < ROWS) return
  }
}

/** Parts of recordings that are not joined, or never will be. */
async function* readParts({ db }: ServiceContext): AsyncGenerator<ExpectedFile[]> {
  for (let last: string | undefined; ; ) {
    const after = last === undefined ? {} : { id: { gt: last } }
    const media = await db.mediaFile.findMany({
      where: { state: { in: ['uploading', 'joining', 'failed'] }, ...after },
      orderBy: { id: 'asc' },
      take: ROWS / 10,
      include: { parts: true },
    })
    yield media.flatMap(({ id, organizationId, key, parts }) =>
      parts.map((part) => ({ mediaId: id, organizationId, key: partOf(key, part), expected: part.bytes })),
    )
    last = media.at(-1)?.id
    if (media.length < ROWS / 10) return
  }
}

/** Files that are ready, at moments of their making chosen by chance: ids rise with the time. */
async function findSample({ db }: ServiceContext, size: number): Promise<MediaFile[]> {
  const ready = { state: 'ready' } as const
  const first = await db.mediaFile.findFirst({ where: ready, orderBy: { id: 'asc' } })
  const last = await db.mediaFile.findFirst({ where: ready, orderBy: { id: 'desc' } })
  if (!first || !last) return []
  const [from, until] = [timeOf(first.id), timeOf(last.id)]
  const found = new Map([first, last].slice(0, size).map((media) => [media.id, media]))
  for (let i = found.size; i < size; i++) {
    const id = idAt(from + Math.random() * (until - from))
    const media = await db.mediaFile.findFirst({ where: { ...ready, id: { gte: id } }, orderBy: { id: 'asc' } })
    if (media) found.set(media.id, media)
  }
  return [...found.values()]
}

/** Milliseconds since 1970, which an id begins with. */
const timeOf = (id: string): number => Number.parseInt(id.replace('-', '').slice(0, 12), 16)
const idAt = (time: number): string => {
  const hex = Math.floor(time).toString(16).padStart(12, '0')
  return `${hex.slice(0, 8)}-${hex.slice(8)}-7000-8000-000000000000`
}

/** Keys have two words; the service's own test files in the store have others. */
const MEDIA_KEY = /^([0-9a-f-]{36}\/[0-9a-f]{32})\//

async function countStrays({ db, deps }: ServiceContext): Promise<{ files: number; bytes: number }> {
  const strays = { files: 0, bytes: 0 }
  for await (const files of deps.media.list()) {
    const keyed = files.flatMap(({ key, bytes }) => {
      const mediaKey = MEDIA_KEY.exec(key)?.[1]
      return mediaKey === undefined ? [] : [{ mediaKey, bytes }]
    })
    const key = { in: [...new Set(keyed.map(({ mediaKey }) => mediaKey))] }
    const knownFiles = [
      ...(await db.mediaFile.findMany({ where: { key }, select: { key: true } })),
      ...(await db.asset.findMany({ where: { key }, select: { key: true } })),
      ...(await db.archive.findMany({ where: { key }, select: { key: true } })),
      ...(await db.deletedMediaFile.findMany({ where: { key }, select: { key: true } })),
    ]
    const isKnown = new Set(knownFiles.map((row) => row.key))
    for (const { mediaKey, bytes } of keyed) {
      if (isKnown.has(mediaKey)) continue
      strays.files++
      strays.bytes += bytes
    }
  }
  return strays
}
