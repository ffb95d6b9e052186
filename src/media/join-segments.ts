import { stat } from 'node:fs/promises'
import { containerOf } from '../domain/files/type-of-content.ts'
import type { Remuxed } from '../domain/submissions/media/join-recording.ts'
import { copyByFfmpeg } from './ffmpeg.ts'
import { canBeRead, remux, type Segment } from './remux.ts'
import { readStart, repairSegment } from './repair/repair-segment.ts'

/** Reads segments with the library after repairing them, or with ffmpeg, which copies what it can read. */
export type JoinMethod = 'repaired' | 'ffmpeg'

/**
 * Joins a recording's segments into one file, see {@link remux}. Segments that the library can't read go through ffmpeg, if installed.
 *
 * @param segments paths in recording order.
 * @param to output path. Temporary files are created beside it.
 * @throws Error as {@link remux}.
 */
export async function joinSegments(segments: string[], to: string, method: JoinMethod): Promise<Remuxed> {
  const prepared: Segment[] = []
  for (const [index, segment] of segments.entries()) {
    const draft = `${to}-${index}`
    const copied = method === 'ffmpeg' ? await copyThroughFfmpeg(segment, draft) : null
    prepared.push(copied ?? (await prepare(segment, draft)))
  }
  return remux(prepared, to)
}

async function prepare(path: string, draft: string): Promise<Segment> {
  const segment = await repairIfPossible(path, draft)
  if (await canBeRead(segment.path)) return segment
  return (await copyThroughFfmpeg(path, `${draft}-passed`)) ?? segment
}

/** Repairs a segment if possible; otherwise returns it unchanged. System errors are thrown: they say nothing about the segment. */
async function repairIfPossible(path: string, draft: string): Promise<Segment> {
  const { size } = await stat(path)
  try {
    const repaired = repairSegment(path, draft)
    return repaired ? { path: draft, ...repaired } : { path, lost: [], bytes: size }
  } catch (error) {
    if (error instanceof Error && 'syscall' in error) throw error
    return { path, lost: [], bytes: size }
  }
}

/** @returns null if ffmpeg can't read it. It is unknown what ffmpeg left out, so the loss is recorded at the end. */
async function copyThroughFfmpeg(path: string, to: string): Promise<Segment | null> {
  const { size } = await stat(path)
  const container = containerOf(readStart(path))
  if (!container) return null
  const isCopied = await copyByFfmpeg(path, to, container === 'video/webm' ? 'webm' : 'mp4', size)
  return isCopied && (await canBeRead(to)) ? { path: to, lost: [Infinity], bytes: size } : null
}
