import { FILE_PART_BYTES } from '../../../../domain/limits.ts'
import type { PartKey, PartStore } from './part-store.ts'
import type { Recording, RecordingEvent } from './recording.ts'

export type Dispatch = (recording: Recording, event: RecordingEvent) => void

/** @returns functions that store parts, then send them. */
export function addParts(store: Pick<PartStore, 'put'>, dispatch: Dispatch, send: (recording: Recording, part: PartKey) => void) {
  /** @returns its key; null if the recording has failed. */
  async function storePart(recording: Recording, segment: number, bytes: ArrayBuffer, end: number): Promise<PartKey | null> {
    const part = { mediaId: recording.mediaId, segment, number: recording.segments[segment] ?? 0 }
    dispatch(recording, { is: 'recorded', segment, end })
    if (recording.state === 'failed') return null
    await store.put({ ...part, bytes, end })
    return part
  }

  return {
    /** Adds the next part of the segment. @param end milliseconds of the recording up to the end of this part. */
    async add(recording: Recording, segment: number, bytes: ArrayBuffer, end: number): Promise<void> {
      const part = await storePart(recording, segment, bytes, end)
      if (part) send(recording, part)
    },
    /** Adds a whole file. Stores all parts before sending the first, so that the upload survives a closed tab or a changed file. */
    async addFile(recording: Recording, file: Blob): Promise<void> {
      const parts: PartKey[] = []
      for (let from = 0; from < file.size; from += FILE_PART_BYTES) {
        const end = Math.min(file.size, from + FILE_PART_BYTES)
        const part = await storePart(recording, 0, await file.slice(from, end).arrayBuffer(), end)
        if (!part) return
        parts.push(part)
      }
      for (const part of parts) send(recording, part)
    },
  }
}
