// Where parts of recordings wait until the service has them: in the browser's database, so that they survive a closed tab; where that is
// refused, as in some private windows, or is full, in memory.

export type PartKey = { mediaId: string; segment: number; number: number }
export type Part = PartKey & {
  bytes: ArrayBuffer
  /** Milliseconds of the recording up to the end of this part. */
  end: number
}

type Row = Part & { base: string }

const STORE = 'parts'
const KEY = ['base', 'mediaId', 'segment', 'number']

export type PartStore = Awaited<ReturnType<typeof openPartStore>>

/** @param base what tells this session's parts from others' in the same browser. */
export async function openPartStore(base: string) {
  const database = await openDatabase().catch(() => null)
  const inMemory = new Map<string, Part>()
  let keepsAll = database !== null
  const nameOf = ({ mediaId, segment, number }: PartKey) => `${mediaId}/${segment}/${number}`
  const keyOf = ({ mediaId, segment, number }: PartKey) => [base, mediaId, segment, number]
  const rangeOf = (...first: string[]) => IDBKeyRange.bound([base, ...first], [base, ...first, []])
  const refuse = () => {
    keepsAll = false
  }

  return {
    /** Whether all that was put survives a closed tab. */
    keepsAll: () => keepsAll,
    async put(part: Part): Promise<void> {
      const row: Row = { base, ...part }
      const isKept =
        database &&
        (await change(database, (rows) => rows.put(row)).then(
          () => true,
          () => refuse(),
        ))
      if (!isKept) inMemory.set(nameOf(part), part)
    },
    async get(key: PartKey): Promise<Part | undefined> {
      return (
        inMemory.get(nameOf(key)) ?? (database ? read<Part | undefined>(database, (rows) => rows.get(keyOf(key))) : undefined)
      )
    },
    async remove(key: PartKey): Promise<void> {
      inMemory.delete(nameOf(key))
      if (database) await change(database, (rows) => rows.delete(keyOf(key))).catch(refuse)
    },
    /** Those that an earlier page has left, without what is in them. */
    async list(): Promise<PartKey[]> {
      if (!database) return []
      const keys = await read<IDBValidKey[]>(database, (rows) => rows.getAllKeys(rangeOf())).catch(() => [])
      return (keys as [string, string, number, number][]).map(([, mediaId, segment, number]) => ({ mediaId, segment, number }))
    },
    /** Forgets a recording. */
    async drop(mediaId: string): Promise<void> {
      for (const [name, part] of inMemory) if (part.mediaId === mediaId) inMemory.delete(name)
      if (database) await change(database, (rows) => rows.delete(rangeOf(mediaId))).catch(refuse)
    },
  }
}

const ask = <Result>(request: IDBRequest<Result>): Promise<Result> =>
  new Promise((resolve, reject) => {
    request.onsuccess = () => resolve(request.result)
    request.onerror = () => reject(request.error)
  })

/** @throws DOMException, also where the browser has closed the database meanwhile. */
const read = async <Result>(database: IDBDatabase, act: (rows: IDBObjectStore) => IDBRequest): Promise<Result> =>
  ask(act(database.transaction(STORE, 'readonly').objectStore(STORE)))

/** @returns when it is kept: what does not fit is refused only at the end of its transaction. @throws DOMException as read. */
async function change(database: IDBDatabase, act: (rows: IDBObjectStore) => IDBRequest): Promise<void> {
  const transaction = database.transaction(STORE, 'readwrite')
  act(transaction.objectStore(STORE))
  await new Promise<void>((resolve, reject) => {
    transaction.oncomplete = () => resolve()
    transaction.onabort = () => reject(transaction.error)
  })
}

/** @throws DOMException where the browser refuses it. */
async function openDatabase(): Promise<IDBDatabase> {
  const request = indexedDB.open('recordings', 1)
  request.onupgradeneeded = () => request.result.createObjectStore(STORE, { keyPath: KEY })
  return ask(request)
}
