import { createHash } from 'node:crypto'
import { createReadStream, createWriteStream } from 'node:fs'
import { rm, stat } from 'node:fs/promises'
import path from 'node:path'
import type { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import type { MediaPart } from '../../generated/prisma/client.ts'
import type { ServiceContext } from '../context.ts'
import { inTransaction } from '../transaction.ts'
import { makeJoinFolder } from './join-folder.ts'
import { fileOf, folderOf, type Media, partOf, partsFolderOf } from './media.ts'

/**
 * What a recording is, once it is one file and that was measured: its bytes and their SHA-256, in hexadecimal; where each segment ends in
 * it, in milliseconds, null for one that can't be read; and where something within a segment could not be read.
 */
export type Remuxed = {
  contentType: string
  milliseconds: number
  bytes: number
  sha256: string
  ends: (number | null)[]
  cuts: number[]
}
/**
 * Makes segments one file that has a length and can be sought.
 *
 * @throws UnreadableRecording where the segments are at fault; Error where another try may succeed.
 */
export type Remux = (segments: string[], to: string) => Promise<Remuxed>

/** A recording can't be joined by its own fault: it is none, or takes more time, memory or room than one of its size may. */
export class UnreadableRecording extends Error {}

/** A segment as far as it can be put together; without a file, where nothing can. */
type Fetched = { file: string | null; isCut: boolean }

/**
 * Makes a complete recording one file. Where parts are missing it is cut: a segment ends with the last part before the first that has not
 * arrived, and those behind it follow. The parts are deleted when the file has been read back and is known. Killed at any point, and done
 * again, it ends with the same.
 *
 * @throws Error when another try may succeed.
 */
export async function joinRecording(system: ServiceContext, mediaId: string, remux: Remux): Promise<void> {
  const media = await system.db.media.findUnique({ where: { id: mediaId } })
  if (!media) return
  if (media.state === 'ready') return forgetParts(system, media)
  if (media.state !== 'joining') return
  const folder = await makeJoinFolder(system.deps.log)
  try {
    const segments = await fetchSegments(system, media, folder)
    const file = path.join(folder, 'joined')
    const files = segments.map((segment) => segment.file).filter((found) => found !== null)
    const remuxed = await remux(files, file).catch((err) => {
      if (err instanceof UnreadableRecording) return { err }
      throw err
    })
    if ('err' in remuxed) return await giveUp(system, media, remuxed.err)
    await keep(system, media, file, { ...remuxed, cuts: findCuts(segments, remuxed) })
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
async function fetchSegments(system: ServiceContext, media: Media, folder: string): Promise<Fetched[]> {
  const parts = await system.db.mediaPart.findMany({
    where: { organizationId: media.organizationId, mediaId: media.id },
    orderBy: [{ segment: 'asc' }, { number: 'asc' }],
  })
  const bySegment = Map.groupBy(parts, ({ segment }) => segment)
  const count = Math.max(media.toldParts.length, (parts.at(-1)?.segment ?? -1) + 1)
  const segments: Fetched[] = []
  for (let segment = 0; segment < count; segment++) {
    const inIt = bySegment.get(segment) ?? []
    const whole = inIt.filter(({ number }, place) => number === place)
    const isCut = whole.length < inIt.length || whole.length < (media.toldParts[segment] ?? 1)
    const file = whole.length > 0 ? path.join(folder, String(segment)) : null
    if (file) await pipeline(readParts(system, media, whole), createWriteStream(file))
    segments.push({ file, isCut })
  }
  return segments
}

/** Where something is missing in the file: within segments, behind one that was cut, and in place of one of which there is nothing. */
function findCuts(segments: Fetched[], { ends, cuts: within }: Pick<Remuxed, 'ends' | 'cuts'>): number[] {
  const cuts = new Set<number>(within)
  const read = ends.values()
  let position = 0
  for (const { file, isCut } of segments) {
    const end = file === null ? null : (read.next().value ?? null)
    position = end ?? position
    if (isCut || (file !== null && end === null)) cuts.add(position)
  }
  return [...cuts].sort((a, b) => a - b)
}

async function* readParts({ deps }: ServiceContext, { key }: Media, parts: MediaPart[]): AsyncGenerator<Buffer> {
  for (const part of parts) {
    const content = await deps.media.get(partOf(key, part))
    if (!content) throw new Error('A part of a recording is not in the store')
    yield* content
  }
}

type Joined = Pick<Remuxed, 'contentType' | 'milliseconds'> & { cuts: number[] }

/** Puts the file into the store, reads it back, and tells that it is there. */
async function keep(system: ServiceContext, media: Media, file: string, joined: Joined): Promise<void> {
  const { deps } = system
  const { id, organizationId, submissionId } = media
  const { contentType, milliseconds, cuts } = joined
  const bytes = (await stat(file)).size
  await deps.media.put(fileOf(media.key), { path: file, bytes })
  const stored = await deps.media.get(fileOf(media.key))
  if (!stored || (await digest(stored)) !== (await digest(createReadStream(file))))
    throw new Error('The store gives back something else')
  const isKept = await inTransaction(system, async ({ db }) => {
    const { count } = await db.media.updateMany({
      where: { organizationId, id, state: 'joining' },
      data: { state: 'ready', contentType, milliseconds, cuts, bytes },
    })
    if (count > 0)
      await db.submission.updateMany({
        where: { organizationId, id: submissionId },
        data: { mediaBytes: { increment: BigInt(bytes) - media.bytes } },
      })
    return count > 0
  })
  if (isKept) deps.metrics.recordingJoined('done')
  if (isKept && cuts.length > 0)
    deps.log.warn({ mediaId: id, organizationId, cuts }, 'a recording was joined without what is missing of it')
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
