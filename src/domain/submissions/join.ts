import { createHash } from 'node:crypto'
import { createReadStream, createWriteStream } from 'node:fs'
import { mkdtemp, rm, stat } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import type { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import type { MediaPart } from '../../generated/prisma/client.ts'
import type { ServiceContext } from '../context.ts'
import { inTransaction } from '../transaction.ts'
import { fileOf, folderOf, type Media, partOf, partsFolderOf } from './media.ts'

/** What a recording is, once it is one file. */
export type Remuxed = { contentType: string; milliseconds: number }
/** Makes segments one file that has a length and can be sought. @throws Error for what is no recording. */
export type Remux = (segments: string[], to: string) => Promise<Remuxed>

/**
 * Makes a complete recording one file. The parts are deleted when the file has been read back and is known. Killed at any point, and done
 * again, it ends with the same.
 *
 * @throws Error when another try may succeed.
 */
export async function joinRecording(system: ServiceContext, mediaId: string, remux: Remux): Promise<void> {
  const media = await system.db.media.findUnique({ where: { id: mediaId } })
  if (!media) return
  if (media.state === 'ready') return forgetParts(system, media)
  if (media.state !== 'joining') return
  const folder = await mkdtemp(path.join(tmpdir(), 'recording-'))
  try {
    const segments = await fetchSegments(system, media, folder)
    const file = path.join(folder, 'joined')
    const remuxed = await remux(segments, file).catch((err) => ({ err }))
    if ('err' in remuxed) return await giveUp(system, media, remuxed.err)
    await keep(system, media, file, remuxed)
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}

/** Marks a recording as one that could not be joined, however often it was tried. Its parts stay. */
export async function giveUpRecording(system: ServiceContext, mediaId: string): Promise<void> {
  const media = await system.db.media.findUnique({ where: { id: mediaId } })
  if (media) await giveUp(system, media, undefined)
}

async function giveUp({ db, deps }: ServiceContext, { id, organizationId }: Media, err: unknown): Promise<void> {
  const { count } = await db.media.updateMany({ where: { organizationId, id, state: 'joining' }, data: { state: 'failed' } })
  if (count === 0) return
  deps.metrics.recordingJoined('failed')
  deps.log.error({ err, mediaId: id, organizationId }, 'a recording can not be joined: its parts are kept')
}

/** Writes each segment to a file: its parts in order, up to the first that has not arrived. */
async function fetchSegments(system: ServiceContext, media: Media, folder: string): Promise<string[]> {
  const parts = await system.db.mediaPart.findMany({
    where: { organizationId: media.organizationId, mediaId: media.id },
    orderBy: [{ segment: 'asc' }, { number: 'asc' }],
  })
  const files: string[] = []
  for (const [segment, inIt] of Map.groupBy(parts, (part) => part.segment)) {
    const gap = inIt.findIndex(({ number }, place) => number !== place)
    const whole = gap < 0 ? inIt : inIt.slice(0, gap)
    if (whole.length === 0) continue
    const file = path.join(folder, String(segment))
    await pipeline(readParts(system, media, whole), createWriteStream(file))
    files.push(file)
  }
  return files
}

async function* readParts({ deps }: ServiceContext, { key }: Media, parts: MediaPart[]): AsyncGenerator<Buffer> {
  for (const part of parts) {
    const content = await deps.media.get(partOf(key, part))
    if (!content) throw new Error('A part of a recording is not in the store')
    yield* content
  }
}

/** Puts the file into the store, reads it back, and tells that it is there. */
async function keep(system: ServiceContext, media: Media, file: string, { contentType, milliseconds }: Remuxed): Promise<void> {
  const { deps } = system
  const { id, organizationId, submissionId } = media
  const bytes = (await stat(file)).size
  await deps.media.put(fileOf(media.key), { path: file, bytes })
  const stored = await deps.media.get(fileOf(media.key))
  if (!stored || (await digest(stored)) !== (await digest(createReadStream(file))))
    throw new Error('The store gives back something else')
  const isKept = await inTransaction(system, async ({ db }) => {
    const { count } = await db.media.updateMany({
      where: { organizationId, id, state: 'joining' },
      data: { state: 'ready', contentType, milliseconds, bytes },
    })
    if (count > 0)
      await db.submission.updateMany({
        where: { organizationId, id: submissionId },
        data: { mediaBytes: { increment: BigInt(bytes) - media.bytes } },
      })
    return count > 0
  })
  if (isKept) deps.metrics.recordingJoined('done')
  const now = await system.db.media.findUnique({ where: { id }, select: { state: true } })
  if (now?.state === 'ready') return forgetParts(system, media)
  await deps.media.deletePrefix(folderOf(media.key)) // it was deleted meanwhile
}

async function forgetParts({ db, deps }: ServiceContext, { id, organizationId, key }: Media): Promise<void> {
  await deps.media.deletePrefix(partsFolderOf(key))
  await db.mediaPart.deleteMany({ where: { organizationId, mediaId: id } })
}

async function digest(content: Readable): Promise<string> {
  const hash = createHash('sha256')
  await pipeline(content, hash)
  return hash.digest('hex')
}
