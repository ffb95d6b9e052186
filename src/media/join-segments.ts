import { stat } from 'node:fs/promises'
import { containerOf } from '../domain/files/type-of-content.ts'
import type { Remuxed } from '../domain/submissions/media/join-recording.ts'
import { copyByFfmpeg } from './ffmpeg.ts'
import { canBeRead, remux, type Segment } from './remux.ts'
import { mendSegment, readBeginning } from './tolerate/mend.ts'

/** Who reads the segments first: the library, with what was written wrongly mended; or ffmpeg, which passes on what it can read. */
export type Way = 'mended' | 'by ffmpeg'

/**
 * Makes the segments of a recording one file, see {@link remux}. A segment that the library can't read is passed through ffmpeg, where that
 * is installed.
 *
 * @param segments paths of files, in the order in which they were recorded.
 * @param to beside it there is room for what is made of the segments.
 * @throws Error as {@link remux}.
 */
export async function joinSegments(segments: string[], to: string, way: Way): Promise<Remuxed> {
  const prepared: Segment[] = []
  for (const [place, segment] of segments.entries()) {
    const beside = `${to}-${place}`
    const passed = way === 'by ffmpeg' ? await passOn(segment, beside) : null
    prepared.push(passed ?? (await prepare(segment, beside)))
  }
  return remux(prepared, to)
}

async function prepare(path: string, beside: string): Promise<Segment> {
  const segment = await mend(path, beside)
  if (await canBeRead(segment.path)) return segment
  return (await passOn(path, `${beside}-passed`)) ?? segment
}

/** One that can't be mended is left as it is. What the system refuses says nothing about it. */
async function mend(path: string, beside: string): Promise<Segment> {
  const { size } = await stat(path)
  try {
    const mended = mendSegment(path, beside)
    return mended ? { path: beside, ...mended } : { path, lost: [], bytes: size }
  } catch (error) {
    if (error instanceof Error && 'syscall' in error) throw error
    return { path, lost: [], bytes: size }
  }
}

/** @returns null where ffmpeg makes nothing of it. What it has left out is not known: it is said to be missing at the end. */
async function passOn(path: string, to: string): Promise<Segment | null> {
  const { size } = await stat(path)
  const container = containerOf(readBeginning(path))
  if (!container) return null
  const isPassed = await copyByFfmpeg(path, to, container === 'video/webm' ? 'webm' : 'mp4', size)
  return isPassed && (await canBeRead(to)) ? { path: to, lost: [Infinity], bytes: size } : null
}
