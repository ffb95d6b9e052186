import type { Context } from '../domain/context.ts'
import type { Zip } from '../files/zip.ts'
import { exportTables } from './begin-export.ts'
import { describeMediaList, findFiles, isMediaTable, type MediaTable, readContent } from './export-media.ts'
import { batched, measureLines } from './json-lines.ts'
import { MANIFEST, type Manifest, MEDIA_LIST, tableFile, toManifestText } from './manifest.ts'
import { nameOfMedia } from './media-list.ts'
import type { ExportedName } from './tables.ts'

type ZipOptions = { movedTo: string | null; omitted?: ReadonlySet<ExportedName>; onProgress?: (files: number) => void }

/**
 * Adds everything of an organization to a ZIP. Memory grows by some 250 bytes for each photo and recording only, because nothing
 * can be read back.
 *
 * @throws errors of the database, the store, and the receiver of the ZIP.
 */
export async function exportToZip(ctx: Context, zip: Zip, { movedTo, omitted, onProgress }: ZipOptions): Promise<Manifest> {
  const ids: Record<MediaTable, string[]> = { assets: [], media_files: [] }
  const rows = await exportTables(
    ctx,
    movedTo,
    async (table, batches) => {
      const { bytes, facts } = measureLines(isMediaTable(table) ? collectIds(batches, ids[table]) : batches)
      await zip.addTextStream(tableFile(table), bytes)
      return facts()
    },
    omitted,
  )
  const lines: string[] = []
  for (const table of ['assets', 'media_files'] as const)
    for (const batch of batched(ids[table]))
      for (const { key, ...file } of await findFiles(ctx, table, batch)) {
        const content = await readContent(ctx, key)
        if (content) await zip.addStream(nameOfMedia(file), content.stream)
        lines.push(JSON.stringify({ ...file, ...(content?.facts() ?? { erased: true }) }))
        onProgress?.(lines.length)
      }
  const list = measureLines(batched(lines))
  await zip.addTextStream(MEDIA_LIST, list.bytes)
  const manifest = { ...rows, media: describeMediaList(lines, list.facts()) }
  await zip.add(MANIFEST, toManifestText(manifest))
  return manifest
}

async function* collectIds(batches: AsyncIterable<string[]>, ids: string[]): AsyncGenerator<string[]> {
  for await (const lines of batches) {
    for (const line of lines) ids.push((JSON.parse(line) as { id: string }).id)
    yield lines
  }
}
