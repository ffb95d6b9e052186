import { randomUUID } from 'node:crypto'
import type { FastifyBaseLogger } from 'fastify'
import type { MediaStore } from '../domain/ports/media-store.ts'
import { createWatchedCheck } from './watched-check.ts'

/** Milliseconds: object stores charge for requests, so not every readiness check asks the store. */
const TRUSTED_FOR_MS = 15_000

/** Checks that media can be stored, by putting and deleting one byte. @returns a check that rejects with StoreUnavailable. */
export function createMediaCheck(media: MediaStore, log: FastifyBaseLogger): () => Promise<void> {
  const key = `ready/${randomUUID()}`
  const check = async () => {
    await media.put(key, Buffer.of(1))
    await media.delete(key)
  }
  return createWatchedCheck(check, {
    trustedForMs: TRUSTED_FOR_MS,
    onFailure: (err) =>
      log.error({ err }, 'photos and recordings cannot be stored: check MEDIA_URL, DATA_DIR, credentials, and permissions'),
    onRecovery: () => log.info('photos and recordings can be stored again'),
  })
}
