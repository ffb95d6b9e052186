import path from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { StoreUnavailable } from '../domain/errors.ts'
import type { MediaStore } from '../domain/ports/media-store.ts'
import { openFolder } from './folder.ts'

/** Milliseconds that callers wait. */
const ANSWERS_WITHIN_MS = 8_000

/**
 * Opens the media store without connecting yet. All failures are StoreUnavailable, and arrive within seconds even if a disk or server hangs. Only
 * files, which may be large, may take longer, see s3.ts.
 *
 * @param mediaUrl `s3://bucket/prefix?endpoint=…&region=…`; undefined: a folder in the data folder.
 */
export async function openMediaStore(
  { mediaUrl, dataDir }: { mediaUrl: string | undefined; dataDir: string },
  answersWithinMs = ANSWERS_WITHIN_MS,
): Promise<MediaStore> {
  const store = await openUrl(mediaUrl, dataDir)
  const inTime = <T>(answer: Promise<T>) => Promise.race([answer, rejectAfterTimeout(answersWithinMs)])
  return {
    put: (key, content) =>
      orStoreUnavailable(content instanceof Uint8Array ? inTime(store.put(key, content)) : store.put(key, content)),
    get: (key, range) => orStoreUnavailable(inTime(store.get(key, range))),
    size: (key) => orStoreUnavailable(inTime(store.size(key))),
    list: () => listed(store),
    delete: (key) => orStoreUnavailable(store.delete(key)),
    deletePrefix: (prefix) => orStoreUnavailable(store.deletePrefix(prefix)),
    free: () => orStoreUnavailable(inTime(store.free())),
  }
}

async function openUrl(mediaUrl: string | undefined, dataDir: string): Promise<MediaStore> {
  if (mediaUrl === undefined) return openFolder(path.resolve(dataDir, 'media'))
  const { openS3 } = await import('./s3.ts') // the S3 client is a large, optional package
  return openS3(new URL(mediaUrl))
}

async function* listed(store: MediaStore): AsyncGenerator<{ key: string; bytes: number }[]> {
  try {
    yield* store.list()
  } catch (error) {
    throw new StoreUnavailable(error)
  }
}

const orStoreUnavailable = <T>(answer: Promise<T>): Promise<T> =>
  answer.catch((error) => {
    throw new StoreUnavailable(error)
  })

async function rejectAfterTimeout(milliseconds: number): Promise<never> {
  await sleep(milliseconds, undefined, { ref: false })
  throw new Error('no answer in time')
}
