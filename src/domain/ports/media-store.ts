import type { Readable } from 'node:stream'

/**
 * Store of photos and recordings. Keys are words of lower-case letters, digits, and hyphens, joined by slashes. Only pages that
 * have checked the reader serve from it.
 */
export type MediaStore = {
  /** Stores or replaces the content, atomically. Once it resolves, the content survives a crash. */
  put: (key: string, content: Uint8Array | StoredFile) => Promise<void>
  /** Bytes from `start` to `end`, both included; null if the key does not exist. The caller reads or destroys the stream. */
  get: (key: string, range?: { start: number; end: number }) => Promise<Readable | null>
  /** Size in bytes; null if the key does not exist. */
  size: (key: string) => Promise<number | null>
  /** All files, in batches. Files added or deleted during the iteration may be missing or included. */
  list: () => AsyncIterable<{ key: string; bytes: number }[]>
  /** Succeeds if the key does not exist. */
  delete: (key: string) => Promise<void>
  /** The prefix ends with a slash. */
  deletePrefix: (prefix: string) => Promise<void>
  /** Free space in bytes; Infinity if unknown. */
  free: () => Promise<number>
}
/** A file on this machine's disk. */
export type StoredFile = { path: string; bytes: number }
