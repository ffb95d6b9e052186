// Stores parts of recordings in IndexedDB, where they survive closing the tab.

import type { Part, PartDatabase, PartKey } from './part-store.ts'

type Row = Part & { base: string }

const STORE = 'parts'
const KEY = ['base', 'mediaId', 'segment', 'number']

/**
 * @param base address of the session, which separates its parts from those of other sessions in this browser.
 * @param onClosed called when the browser closes the database, for example because the user clears its data.
 * @throws DOMException if the browser provides no database for this page.
 */
export async function openPartDatabase(base: string, onClosed: () => void): Promise<PartDatabase> {
  const database = await openDatabase()
  database.addEventListener('close', onClosed)
  const keyOf = ({ mediaId, segment, number }: PartKey) => [base, mediaId, segment, number]
  const rangeOf = (...first: string[]) => IDBKeyRange.bound([base, ...first], [base, ...first, []])

  return {
    async put(part) {
      const row: Row = { base, ...part }
      await change(database, (rows) => rows.put(row))
    },
    get: (key) => read<Part | undefined>(database, (rows) => rows.get(keyOf(key))),
    remove: (key) => change(database, (rows) => rows.delete(keyOf(key))),
    async list() {
      const keys = await read<IDBValidKey[]>(database, (rows) => rows.getAllKeys(rangeOf()))
      return (keys as [string, string, number, number][]).map(([, mediaId, segment, number]) => ({ mediaId, segment, number }))
    },
    drop: (mediaId) => change(database, (rows) => rows.delete(rangeOf(mediaId))),
  }
}

const ask = <Result>(request: IDBRequest<Result>): Promise<Result> =>
  new Promise((resolve, reject) => {
    request.onsuccess = () => resolve(request.result)
    request.onerror = () => reject(request.error)
  })

async function read<Result>(database: IDBDatabase, act: (rows: IDBObjectStore) => IDBRequest): Promise<Result> {
  const transaction = database.transaction(STORE, 'readonly')
  return Promise.race([ask<Result>(act(transaction.objectStore(STORE))), whenAborted(transaction)])
}

/** Resolves at the end of the transaction, because a full disk is reported only then. */
async function change(database: IDBDatabase, act: (rows: IDBObjectStore) => IDBRequest): Promise<void> {
  const transaction = database.transaction(STORE, 'readwrite')
  act(transaction.objectStore(STORE))
  const done = new Promise<void>((resolve) => transaction.addEventListener('complete', () => resolve()))
  await Promise.race([done, whenAborted(transaction)])
}

const whenAborted = (transaction: IDBTransaction): Promise<never> =>
  new Promise((_, reject) => transaction.addEventListener('abort', () => reject(transaction.error ?? new Error('aborted'))))

async function openDatabase(): Promise<IDBDatabase> {
  const request = indexedDB.open('recordings', 1)
  request.onupgradeneeded = () => request.result.createObjectStore(STORE, { keyPath: KEY })
  return ask(request)
}
