import { unzipSync } from 'fflate'
import type { Archive } from '../../src/domain/archives/archives.ts'
import { getArchive } from '../../src/domain/archives/archives.ts'
import { startDownload } from '../../src/domain/archives/download-archive.ts'
import type { Context } from '../../src/domain/context.ts'
import { waitUntil } from './wait-until.ts'

/** Waits until the service's worker has created the archive. */
export const waitForArchive = (ctx: Context, id: string): Promise<Archive> =>
  waitUntil('the archive', async () => {
    const archive = await getArchive(ctx, id)
    return archive.finishedAt ? archive : undefined
  })

/** Id of a session that does not exist, for downloads without the portal. */
const SESSION = '01900000-0000-7000-8000-000000000001'

/** Returns the files of an archive by name. They are unpacked by fflate, independently of our own ZIP code. */
export async function readArchive(ctx: Context, id: string): Promise<Record<string, Buffer>> {
  await waitForArchive(ctx, id)
  const { download } = await startDownload(ctx, id, SESSION)
  const pieces: Uint8Array[] = []
  for await (const piece of download!.content) pieces.push(piece)
  await download!.end(false)
  return unzip(Buffer.concat(pieces))
}

export const unzip = (bytes: Uint8Array): Record<string, Buffer> =>
  Object.fromEntries(Object.entries(unzipSync(bytes)).map(([name, content]) => [name, Buffer.from(content)]))

/** Returns the text files of an archive. */
export const textsOf = (files: Record<string, Buffer>): [name: string, text: string][] =>
  Object.entries(files)
    .filter(([name]) => /\.(json|ndjson|html)$/.test(name))
    .map(([name, content]) => [name, content.toString()])
