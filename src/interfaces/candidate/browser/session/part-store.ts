// Stores parts of recordings until the service has them: in IndexedDB, so that they survive a closed tab, and in memory, because
// the browser may clear, fill, or refuse the database at any moment, as in some private windows.

export type PartKey = { mediaId: string; segment: number; number: number }
export type Part = PartKey & {
  bytes: ArrayBuffer
  /** Milliseconds of the recording up to the end of this part. */
  end: number
}

/** Each function throws if the browser refuses, or has closed the database. */
export type PartDatabase = {
  put: (part: Part) => Promise<void>
  get: (key: PartKey) => Promise<Part | undefined>
  remove: (key: PartKey) => Promise<void>
  list: () => Promise<PartKey[]>
  /** Removes all parts of a recording. */
  drop: (mediaId: string) => Promise<void>
}

/** Most bytes of stored parts that are also kept in memory: more than ten minutes of video with sound. */
const COPIED_BYTES = 64 * 1024 * 1024

export type PartStore = ReturnType<typeof openPartStore>

/**
 * Never throws: if the database fails, parts are kept in memory only.
 *
 * @param database null if the browser has none for this page. @param onRefused called at the first failure of the database.
 * @param copiedBytes limit of stored parts that are also kept in memory.
 */
export function openPartStore(database: PartDatabase | null, onRefused: () => void, copiedBytes = COPIED_BYTES) {
  const inMemory = new Map<string, Part>()
  /** Bytes of the parts that are both in memory and in the database, oldest first. */
  const copies = new Map<string, number>()
  let copied = 0
  let keepsAll = database !== null
  const nameOf = ({ mediaId, segment, number }: PartKey) => `${mediaId}/${segment}/${number}`

  /** @returns null if the database has failed. */
  async function attempt<Result>(act: (database: PartDatabase) => Promise<Result>): Promise<Result | null> {
    if (!database) return null
    return act(database).catch(() => {
      refuse()
      return null
    })
  }

  /** Stops relying on the database: it may have lost stored parts. */
  function refuse(): void {
    copies.clear()
    copied = 0
    if (!keepsAll) return
    keepsAll = false
    onRefused()
  }

  function forget(name: string): void {
    inMemory.delete(name)
    copied -= copies.get(name) ?? 0
    copies.delete(name)
  }

  function noteCopy(name: string, bytes: number): void {
    if (!inMemory.has(name)) return // already uploaded
    copies.set(name, bytes)
    copied += bytes
    for (const oldest of copies.keys()) {
      if (copied <= copiedBytes) return
      forget(oldest)
    }
  }

  return {
    /** True if all parts survive a closed tab. */
    keepsAll: () => keepsAll,
    /** Called when the browser has closed the database. */
    refuse,
    async put(part: Part): Promise<void> {
      inMemory.set(nameOf(part), part)
      const isKept = await attempt((rows) => rows.put(part).then(() => true))
      if (isKept && keepsAll) noteCopy(nameOf(part), part.bytes.byteLength)
    },
    get: async (key: PartKey): Promise<Part | undefined> =>
      inMemory.get(nameOf(key)) ?? (await attempt((rows) => rows.get(key))) ?? undefined,
    async remove(key: PartKey): Promise<void> {
      forget(nameOf(key))
      await attempt((rows) => rows.remove(key))
    },
    /** Keys of the parts stored by earlier pages. */
    list: async (): Promise<PartKey[]> => (await attempt((rows) => rows.list())) ?? [],
    /** Deletes all parts of a recording. */
    async drop(mediaId: string): Promise<void> {
      for (const [name, part] of inMemory) if (part.mediaId === mediaId) forget(name)
      await attempt((rows) => rows.drop(mediaId))
    },
  }
}
