import { createHash } from 'node:crypto'
import { createReadStream } from 'node:fs'
import type { ServiceContext } from '../domain/context.ts'
import { fileOf, partOf } from '../domain/files/media-keys.ts'
import { importedId } from '../domain/text/uuid.ts'
import type { ExportSource } from './export-source.ts'
import { type Destination, importedKey } from './import-row.ts'
import { type MediaLine, nameOfMedia } from './media-list.ts'
import { TransferError } from './transfer-error.ts'

/**
 * Puts files into the store, below the new organization's folder.
 *
 * @throws TransferError for a file whose content does not match the manifest; errors of the store.
 */
export async function importMedia(
  { deps }: ServiceContext,
  source: ExportSource,
  { files, to, onProgress }: { files: ReadonlyMap<string, MediaLine>; to: Destination; onProgress: (files: number) => void },
): Promise<void> {
  let importedFiles = 0
  for (const line of files.values()) {
    if ('erased' in line) continue
    await source.withPath(nameOfMedia(line), async (path, name) => {
      if ((await hashOf(path)) !== line.sha256) throw new TransferError(`${name} does not match the manifest.`)
      await deps.media.put(toKey(line, to), { path, bytes: line.bytes })
    })
    onProgress(++importedFiles)
  }
}

function toKey({ id, part, sha256 }: MediaLine & { sha256: string }, to: Destination): string {
  const key = importedKey(to, importedId(to.organizationId, to.exportedId, id))
  return part ? partOf(key, { ...part, sha256: Buffer.from(sha256, 'hex') }) : fileOf(key)
}

async function hashOf(path: string): Promise<string> {
  const hash = createHash('sha256')
  for await (const chunk of createReadStream(path)) hash.update(chunk as Buffer)
  return hash.digest('hex')
}
