import { createReadStream } from 'node:fs'
import { Readable } from 'node:stream'
import {
  DeleteObjectCommand,
  DeleteObjectsCommand,
  GetObjectCommand,
  HeadObjectCommand,
  ListObjectsV2Command,
  NoSuchKey,
  NotFound,
  PutObjectCommand,
  S3Client,
} from '@aws-sdk/client-s3'
import type { MediaStore } from '../domain/ports/media-store.ts'
import { checkKey, checkPrefix } from './key.ts'

const CONNECT_MS = 5_000
/** Milliseconds without any traffic. */
const SILENCE_MS = 20_000
/** Milliseconds for small requests, and until a response begins. Callers wait as long, see store.ts. */
const ANSWERS_WITHIN_MS = 8_000

/**
 * Media store in an S3 bucket or a compatible service. Credentials come from the SDK's usual environment variables.
 *
 * @param url `s3://bucket/prefix?endpoint=…&region=…`. Endpoints use path-style addresses, which most other servers expect.
 * @param silenceMs a request fails after so many milliseconds without traffic.
 */
export function openS3({ hostname: bucket, pathname, searchParams }: URL, silenceMs = SILENCE_MS): MediaStore {
  const endpoint = searchParams.get('endpoint')
  const region = searchParams.get('region')
  const client = new S3Client({
    ...(endpoint && { endpoint, forcePathStyle: true }),
    ...(region && { region }),
    // Not all servers support the SDK's additional checksums.
    requestChecksumCalculation: 'WHEN_REQUIRED',
    responseChecksumValidation: 'WHEN_REQUIRED',
    requestHandler: { connectionTimeout: CONNECT_MS, socketTimeout: silenceMs },
  })
  const root = pathname.replace(/^\/+|\/+$/g, '')
  const withRoot = (path: string) => (root ? `${root}/${path}` : path)
  const object = (key: string) => ({ Bucket: bucket, Key: withRoot(checkKey(key)) })
  return {
    async put(key, content) {
      const isBytes = content instanceof Uint8Array
      const body = isBytes ? { Body: content } : { Body: createReadStream(content.path), ContentLength: content.bytes }
      const signal = isBytes && { abortSignal: AbortSignal.timeout(ANSWERS_WITHIN_MS) }
      await client.send(new PutObjectCommand({ ...object(key), ...body }), { ...signal })
    },
    async get(key, range) {
      const rangeHeader = range && { Range: `bytes=${range.start}-${range.end}` }
      const giveUp = new AbortController()
      const timer = setTimeout(() => giveUp.abort(), ANSWERS_WITHIN_MS)
      const command = new GetObjectCommand({ ...object(key), ...rangeHeader })
      const found = await client
        .send(command, { abortSignal: giveUp.signal })
        .catch((error) => {
          if (error instanceof NoSuchKey) return null
          throw error
        })
        .finally(() => clearTimeout(timer))
      return found && (found.Body instanceof Readable ? found.Body : Readable.from([]))
    },
    async size(key) {
      const signal = { abortSignal: AbortSignal.timeout(ANSWERS_WITHIN_MS) }
      const found = await client.send(new HeadObjectCommand(object(key)), signal).catch((error) => {
        if (error instanceof NotFound) return null
        throw error
      })
      return found?.ContentLength ?? null
    },
    async *list() {
      for (let ContinuationToken: string | undefined; ; ) {
        const command = new ListObjectsV2Command({ Bucket: bucket, Prefix: withRoot(''), ContinuationToken })
        const { Contents = [], NextContinuationToken } = await client.send(command)
        yield Contents.map(({ Key, Size = 0 }) => ({ key: Key!.slice(withRoot('').length), bytes: Size }))
        ContinuationToken = NextContinuationToken
        if (ContinuationToken === undefined) return
      }
    },
    async delete(key) {
      await client.send(new DeleteObjectCommand(object(key)))
    },
    async deletePrefix(prefix) {
      const listed = { Bucket: bucket, Prefix: withRoot(checkPrefix(prefix)) }
      for (;;) {
        const { Contents = [] } = await client.send(new ListObjectsV2Command(listed))
        if (Contents.length === 0) return
        const Objects = Contents.map(({ Key }) => ({ Key: Key! }))
        const { Errors = [] } = await client.send(new DeleteObjectsCommand({ Bucket: bucket, Delete: { Objects, Quiet: true } }))
        if (Errors.length > 0) throw new Error(`The store does not delete: ${Errors[0]!.Code}`)
      }
    },
    free: async () => Infinity,
  }
}
