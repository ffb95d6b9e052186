import { createHash } from 'node:crypto'
import { createReadStream, createWriteStream } from 'node:fs'
import { copyFile, rm } from 'node:fs/promises'
import path from 'node:path'
import type { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import type { ServiceContext } from '../../context.ts'
import { fileOf, folderOf, partsFolderOf } from '../../files/media-keys.ts'
import { type FetchedSegment, fetchSegments, lacksParts } from './fetch-segments.ts'
import { findJoinable, type Joinable, type JoinedFile, type JoinRef } from './joinable.ts'
import type { MeasureLevels } from './levels.ts'
import { makeJoinFolder } from './make-join-folder.ts'

/**
 * A joined and measured recording: bytes and SHA-256 in hexadecimal; the end of each segment in milliseconds, null for an
 * unreadable one; and the gaps within segments.
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

/** Scans a file. @returns the name of the malware that was found; null: none. @throws Error while the scanner can't say. */
export type ScanFile = (path: string) => Promise<string | null>

/** The recording itself is at fault: it is unreadable, or needs more time, memory, or space than a recording of its size may. */
export class UnreadableRecording extends Error {}

/** Attempts if the recording itself seems broken. The cause may still have been the machine. */
const TRIES = 2

/**
 * Joins the parts of a complete recording into one file. A segment ends before its first missing part; later segments follow. The parts are
 * deleted after the file was read back from the store and matches the measured one. Safe to repeat after a crash. A broken recording is
 * `failed` after {@link TRIES}, and its parts stay.
 *
 * @throws Error if a retry may succeed.
 */
export async function joinRecording(
  system: ServiceContext,
  ref: JoinRef,
  { remux, measureLevels, scanFile }: JoinTools,
): Promise<void> {
  const media = await findJoinable(system, ref)
  if (media?.state === 'ready') return deleteParts(system, media)
  // An earlier attempt may have stored the file.
  if (media === null || media.state === 'deleted') return system.deps.media.deletePrefix(folderOf(ref.key))
  if (media.state !== 'joining') return
  const folder = await makeJoinFolder(system.deps.log)
  try {
    const { file, ...joined } = await join(system, media, media.fileName === null ? remux : copyFileOf(media), folder)
    const threat = media.reject && scanFile ? await scanFile(file) : null
    if (threat !== null) return await rejectFile(system, media, threat)
    await recordJoined(system, media, joined)
    if (measureLevels) await keepLevels(system, media, () => measureLevels(file))
  } catch (error) {
    if (!(error instanceof UnreadableRecording && (await isLastTry(media)))) {
      system.deps.metrics.recordingJoined('retried')
      throw error
    }
    await giveUp(system, media, error)
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}

/**
 * @property measureLevels measures the joined file of a recorded answer. If that fails, its levels stay unknown. @property scanFile scans
 *   files that candidates chose; without it, none is scanned.
 */
export type JoinTools = { remux: Remux; measureLevels?: MeasureLevels; scanFile?: ScanFile | undefined }

/** A file that the candidate chose is one segment, and is not changed. */
const copyFileOf =
  ({ contentType }: Joinable): Remux =>
  async ([segment], to) => {
    if (segment === undefined) throw new UnreadableRecording('No part of the file is there')
    await copyFile(segment, to)
    return { ...(await digest(createReadStream(to))), contentType, milliseconds: 0, ends: [null], cuts: [] }
  }

/** The parts stay until the retention of answers ends, for the operator to look at. */
async function rejectFile({ deps }: ServiceContext, media: Joinable, threat: string): Promise<void> {
  await deps.media.delete(fileOf(media.key))
  if (!(await media.reject!(threat))) return
  const { id: mediaId, organizationId } = media
  deps.log.warn({ mediaId, organizationId, threat }, 'malware found in a file: downloads are blocked')
}

async function keepLevels({ deps }: ServiceContext, media: Joinable, measure: () => ReturnType<MeasureLevels>): Promise<void> {
  if (!media.keepLevels) return
  try {
    const levels = await measure()
    if (levels) await media.keepLevels(levels)
  } catch (err) {
    const { id: mediaId, organizationId } = media
    deps.log.warn({ err, mediaId, organizationId }, 'the levels of a recording could not be measured')
  }
}

/** Counts a try that the recording itself made fail. */
async function isLastTry(media: Joinable): Promise<boolean> {
  const faults = await media.countFault()
  return faults === undefined || faults >= TRIES
}

/** Handles a recording after the last retry, if the recording itself is not the cause: retries later, unless parts are lost. Parts stay. */
export async function giveUpRecording(system: ServiceContext, ref: JoinRef): Promise<void> {
  const media = await findJoinable(system, ref)
  if (media?.state !== 'joining') return
  const isLost = await lacksParts(system, media).catch(() => false) // a store that is away has lost nothing
  if (isLost) return giveUp(system, media, new Error('A part of the recording is not in the store'))
  const { id: mediaId, organizationId } = media
  system.deps.log.error({ mediaId, organizationId }, 'a recording could not be joined for a day: retrying')
  await media.queueAgain()
}

async function giveUp({ deps }: ServiceContext, media: Joinable, err: unknown): Promise<void> {
  if (!(await media.fail())) return
  deps.metrics.recordingJoined('failed')
  const { id: mediaId, organizationId } = media
  deps.log.error({ err, mediaId, organizationId }, 'a recording cannot be joined: its parts are kept')
}

/** Joins the segments and stores the file. @returns also the path of a local copy. */
async function join(
  system: ServiceContext,
  media: Joinable,
  remux: Remux,
  folder: string,
): Promise<JoinedFile & { file: string }> {
  const segments = await fetchSegments(system, media, folder)
  const file = path.join(folder, 'joined')
  if (!segments) return useStoredFile(system, media, remux, folder)
  const files = segments.map((segment) => segment.file).filter((found) => found !== null)
  const remuxed = await remux(files, file)
  await store(system, media, file, remuxed)
  return { ...remuxed, cuts: findCuts(segments, remuxed), segmentEnds: findSegmentEnds(segments, remuxed), file }
}

/**
 * Takes the file that is in the store already, where parts are not there any more: a backup has copied the database before the recording
 * was joined, and the store after it. It is read to its end to be measured.
 */
async function useStoredFile(
  { deps }: ServiceContext,
  media: Joinable,
  remux: Remux,
  folder: string,
): Promise<JoinedFile & { file: string }> {
  const content = await deps.media.get(fileOf(media.key))
  if (!content) throw new Error('A part of a recording is not in the store')
  const file = path.join(folder, 'whole')
  await pipeline(content, createWriteStream(file))
  const remuxed = await remux([file], path.join(folder, 'joined'))
  const { id, organizationId } = media
  deps.log.warn({ mediaId: id, organizationId }, 'parts of a recording are missing from the store: using its joined file')
  // The ends of several segments are not known from the joined file.
  const segmentEnds = media.declaredParts.length === 1 ? [remuxed.milliseconds] : []
  return { ...remuxed, segmentEnds, ...(await digest(createReadStream(file))), file }
}

/** Gaps in the file: within segments, after a cut one, and in place of an empty one. */
function findCuts(segments: FetchedSegment[], { ends, cuts: knownCuts }: Pick<Remuxed, 'ends' | 'cuts'>): number[] {
  const cuts = new Set<number>(knownCuts)
  const segmentEnds = ends.values()
  let position = 0
  for (const { file, isCut } of segments) {
    const end = file === null ? null : (segmentEnds.next().value ?? null)
    position = end ?? position
    if (isCut || (file !== null && end === null)) cuts.add(position)
  }
  return [...cuts].sort((a, b) => a - b)
}

/** End of each segment in the file. A segment that could not be read ends where it begins. */
function findSegmentEnds(segments: FetchedSegment[], { ends }: Pick<Remuxed, 'ends'>): number[] {
  const segmentEnds = ends.values()
  let position = 0
  return segments.map(({ file }) => {
    position = (file === null ? null : segmentEnds.next().value) ?? position
    return position
  })
}

/** Uploads the file and reads it back: it must match. */
async function store({ deps }: ServiceContext, { key }: Joinable, file: string, { bytes, sha256 }: Remuxed): Promise<void> {
  await deps.media.put(fileOf(key), { path: file, bytes })
  const stored = await deps.media.get(fileOf(key))
  if (!stored || (await digest(stored)).sha256 !== sha256) throw new Error('The store gives back something else')
}

/** Records that the file is ready. */
async function recordJoined(system: ServiceContext, media: Joinable, joined: JoinedFile): Promise<void> {
  const { deps } = system
  const { id: mediaId, organizationId } = media
  const { cuts } = joined
  const isKept = await media.succeed(joined)
  if (isKept) deps.metrics.recordingJoined('done')
  if (isKept && cuts.length > 0)
    deps.log.warn({ mediaId, organizationId, cuts }, 'a recording was joined without its missing parts')
  if ((await media.readState()) === 'ready') return deleteParts(system, media)
  await deps.media.deletePrefix(folderOf(media.key)) // it was deleted meanwhile
}

async function deleteParts({ deps }: ServiceContext, media: Joinable): Promise<void> {
  await deps.media.deletePrefix(partsFolderOf(media.key))
  await media.deleteParts()
}

async function digest(content: Readable): Promise<{ bytes: number; sha256: string }> {
  const hash = createHash('sha256')
  let bytes = 0
  for await (const piece of content) {
    bytes += piece.length
    hash.update(piece)
  }
  return { bytes, sha256: hash.digest('hex') }
}
