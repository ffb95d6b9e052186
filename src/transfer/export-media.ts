import { createHash } from 'node:crypto'
import { appendFile, open, readFile, rename, rm, truncate } from 'node:fs/promises'
import path from 'node:path'
import type { Readable } from 'node:stream'
import { anyOfIds } from '../db/queries.ts'
import type { Context } from '../domain/context.ts'
import { fileOf, partOf } from '../domain/files/media-keys.ts'
import { openFolder } from './export-source.ts'
import { inBatches, readLines } from './json-lines.ts'
import { type FileFacts, type Manifest, MEDIA_LIST, type RowsManifest, tableFile } from './manifest.ts'
import { type MediaLine, nameOfMedia, parseMediaLine } from './media-list.ts'

const MEDIA_TABLES = ['assets', 'media_files'] as const
/** Tables whose rows have files. */
export type MediaTable = (typeof MEDIA_TABLES)[number]
export const isMediaTable = (table: string): table is MediaTable => MEDIA_TABLES.some((name) => name === table)

/** A file in the store. @property key null: its media file was erased. */
type StoredFile = Pick<MediaLine, 'id' | 'part'> & { key: string | null }

/**
 * Copies the files of the exported media, without a transaction. After an interruption it goes on with the files that its list does not have.
 * Media that have been erased since the rows were exported are listed as erased.
 */
export async function exportMedia(
  ctx: Context,
  folder: string,
  { tables }: RowsManifest,
  onProgress: (files: number) => void,
): Promise<Manifest['media']> {
  const list = path.join(folder, MEDIA_LIST)
  const doneFiles = await readDoneFiles(list)
  const source = openFolder(folder)
  for (const table of MEDIA_TABLES) {
    const lines = readLines(source, tableFile(table), tables[table]!)
    for await (const batch of inBatches(lines, (line) => line.length)) {
      const ids = batch.map((line) => (JSON.parse(line) as { id: string }).id)
      for (const file of await findFiles(ctx, table, ids)) {
        const name = nameOfMedia(file)
        if (doneFiles.has(name)) continue
        await appendFile(list, `${JSON.stringify(await copyFile(ctx, folder, file))}\n`, { mode: 0o600 })
        onProgress(doneFiles.add(name).size)
      }
    }
  }
  return measure(list)
}

/** Names of the files that were copied before an interruption. Removes a partial last line. */
async function readDoneFiles(list: string): Promise<Set<string>> {
  const text = await readFile(list, 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return ''
    throw error
  })
  const whole = text.slice(0, text.lastIndexOf('\n') + 1)
  await appendFile(list, '', { mode: 0o600 })
  await truncate(list, Buffer.byteLength(whole))
  return new Set(whole.split('\n').flatMap((line) => (line ? nameOfMedia(parseMediaLine(line)) : [])))
}

/** @throws errors of the store and the disk. */
async function copyFile(ctx: Context, folder: string, { key, ...place }: StoredFile): Promise<MediaLine> {
  const content = await readContent(ctx, key)
  if (!content) return { ...place, erased: true }
  const target = path.join(folder, nameOfMedia(place))
  const draft = `${target}.draft`
  await rm(draft, { force: true })
  {
    await using handle = await open(draft, 'wx', 0o600)
    for await (const chunk of content.stream) await handle.writeFile(chunk)
    await handle.sync()
  }
  await rename(draft, target)
  return { ...place, ...content.facts() }
}

/** Opens a file of the store. @returns null if it was erased. `facts` describes it once the stream has been read. */
export async function readContent({ deps }: Context, key: string | null) {
  const content: Readable | null = key === null ? null : await deps.media.get(key)
  if (!content) return null
  const hash = createHash('sha256')
  let bytes = 0
  async function* measured(chunks: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
    for await (const chunk of chunks) {
      hash.update(chunk)
      bytes += chunk.length
      yield chunk
    }
  }
  return { stream: measured(content), facts: () => ({ bytes, sha256: hash.digest('hex') }) }
}

/** Files of the rows with these ids. */
export const findFiles = (ctx: Context, table: MediaTable, ids: string[]): Promise<StoredFile[]> =>
  table === 'assets' ? findAssets(ctx, ids) : findMedia(ctx, ids)

async function findAssets({ db }: Context, ids: string[]): Promise<StoredFile[]> {
  const found = await db.selectFrom('assets').where('id', '=', anyOfIds(ids)).select(['id', 'key']).execute()
  const keys = new Map(found.map(({ id, key }) => [id, fileOf(key)]))
  return ids.map((id) => ({ id, key: keys.get(id) ?? null }))
}

/** Stored files of media, or their parts before they are joined. Media that were deleted before the export have none. */
async function findMedia({ db }: Context, ids: string[]): Promise<StoredFile[]> {
  const rows = db.selectFrom('mediaFiles').where('id', '=', anyOfIds(ids)).select(['id', 'key', 'state'])
  const media = new Map((await rows.execute()).map((mediaFile) => [mediaFile.id, mediaFile]))
  const parts = db.selectFrom('mediaFileParts').where('mediaId', '=', anyOfIds(ids))
  const partsOf = Map.groupBy(
    await parts.select(['mediaId', 'segment', 'number', 'sha256']).orderBy('segment').orderBy('number').execute(),
    ({ mediaId }) => mediaId,
  )
  return ids.flatMap((id): StoredFile[] => {
    const mediaFile = media.get(id)
    if (!mediaFile || mediaFile.state === 'deleted') return [{ id, key: null }]
    if (mediaFile.state === 'ready') return [{ id, key: fileOf(mediaFile.key) }]
    return (partsOf.get(id) ?? []).map(({ segment, number, sha256 }) => {
      const part = { segment, number }
      return { id, part, key: partOf(mediaFile.key, { ...part, sha256 }) }
    })
  })
}

async function measure(list: string): Promise<Manifest['media']> {
  const text = await readFile(list)
  const lines = text.toString('utf8').split('\n').filter(Boolean)
  return describeMediaList(lines, {
    rows: lines.length,
    bytes: text.length,
    sha256: createHash('sha256').update(text).digest('hex'),
  })
}

/** Part of the manifest about media. @param list facts of the file with these lines. */
export function describeMediaList(lines: string[], list: FileFacts): Manifest['media'] {
  const files = lines.map(parseMediaLine).flatMap((line) => ('erased' in line ? [] : line))
  return {
    list,
    files: files.length,
    bytes: files.reduce((sum, { bytes }) => sum + bytes, 0),
    erased: lines.length - files.length,
  }
}
