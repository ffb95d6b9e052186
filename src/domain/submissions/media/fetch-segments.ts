import { hash } from 'node:crypto'
import { open } from 'node:fs/promises'
import path from 'node:path'
import { buffer } from 'node:stream/consumers'
import type { ServiceContext } from '../../context.ts'
import { partOf } from '../../files/media-keys.ts'
import type { Joinable, JoinPart } from './joinable.ts'

/** The readable part of a segment; without a file if nothing is readable. */
export type FetchedSegment = { file: string | null; isCut: boolean }

/**
 * Writes each segment to a file: its parts in order, up to the first missing one.
 *
 * @returns null if a stored part is missing from the store. @throws Error if the store returns different content, or the disk is full.
 */
export async function fetchSegments(system: ServiceContext, media: Joinable, folder: string): Promise<FetchedSegment[] | null> {
  const parts = await media.readParts()
  const bySegment = Map.groupBy(parts, ({ segment }) => segment)
  const count = Math.max(media.declaredParts.length, (parts.at(-1)?.segment ?? -1) + 1)
  const segments: FetchedSegment[] = []
  for (let segment = 0; segment < count; segment++) {
    const inIt = bySegment.get(segment) ?? []
    const whole = inIt.filter(({ number }, place) => number === place)
    const isCut = whole.length < inIt.length || whole.length < (media.declaredParts[segment] ?? 1)
    const file = whole.length > 0 ? path.join(folder, String(segment)) : null
    if (file && !(await fetchParts(system, media, whole, file))) return null
    segments.push({ file, isCut })
  }
  return segments
}

/** @returns true if the store has all of them. */
async function fetchParts({ deps }: ServiceContext, { key }: Joinable, parts: JoinPart[], to: string): Promise<boolean> {
  await using file = await open(to, 'w')
  for (const part of parts) {
    const content = await deps.media.get(partOf(key, part))
    if (!content) return false
    const bytes = await buffer(content)
    if (hash('sha256', bytes, 'hex') !== Buffer.from(part.sha256).toString('hex'))
      throw new Error('The store gives back something else than the part of a recording that was sent')
    await file.writeFile(bytes) // behind the one before
  }
  return true
}

/** True if the store has lost a part. @throws Error if it does not respond. */
export async function lacksParts({ deps }: ServiceContext, { key, readParts }: Joinable): Promise<boolean> {
  const parts = await readParts()
  for (const part of parts) {
    const content = await deps.media.get(partOf(key, part), { start: 0, end: 0 })
    if (!content) return true
    content.destroy()
  }
  return parts.length === 0
}
