import { randomUUID } from 'node:crypto'
import type { FastifyBaseLogger } from 'fastify'
import type { MediaStore } from '../domain/context.ts'
import { coalesce } from '../domain/work/coalesce.ts'

/** A store that costs by the request is not asked each time somebody asks whether the service is ready. */
const TRUSTED_FOR_MS = 15_000

/**
 * Whether photos and recordings can be kept: puts a byte into the store, and takes it out. What it finds stands in the log, once when the
 * store goes and once when it is back.
 *
 * @returns asks, unless the store did well a moment ago. Who asks while that goes on waits for the same answer: a store that hangs is not
 *   asked once more for each. @throws StoreUnavailable, from what is returned.
 */
export function createMediaCheck(media: MediaStore, log: FastifyBaseLogger): () => Promise<void> {
  const key = `ready/${randomUUID()}`
  let wellAt = Number.NEGATIVE_INFINITY
  let isWell = true
  return coalesce(async () => {
    if (performance.now() - wellAt < TRUSTED_FOR_MS) return
    try {
      await media.put(key, Buffer.of(1))
      await media.delete(key)
    } catch (err) {
      if (isWell)
        log.error({ err }, 'photos and recordings can not be kept: check MEDIA_URL, DATA_DIR, their credentials and rights')
      isWell = false
      throw err
    }
    if (!isWell) log.info('photos and recordings can be kept again')
    isWell = true
    wellAt = performance.now()
  })
}
