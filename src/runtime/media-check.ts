import { randomUUID } from 'node:crypto'
import type { FastifyBaseLogger } from 'fastify'
import type { MediaStore } from '../domain/context.ts'
import { createWatchedCheck } from './watched-check.ts'

/** A store that costs by the request is not asked each time somebody asks whether the service is ready. */
const TRUSTED_FOR_MS = 15_000

/** Checks that photos and recordings can be kept: puts a byte into the store, and takes it out. It rejects with StoreUnavailable. */
export function createMediaCheck(media: MediaStore, log: FastifyBaseLogger): () => Promise<void> {
  const key = `ready/${randomUUID()}`
  const check = async () => {
    await media.put(key, Buffer.of(1))
    await media.delete(key)
  }
  return createWatchedCheck(check, {
    trustedForMs: TRUSTED_FOR_MS,
    onFailure: (err) =>
      log.error({ err }, 'photos and recordings can not be kept: check MEDIA_URL, DATA_DIR, their credentials and rights'),
    onRecovery: () => log.info('photos and recordings can be kept again'),
  })
}
