import type { MediaFilePart } from '../../../generated/prisma/client.ts'
import type { QueuedRef } from '../../concurrency/queued-ref.ts'
import type { ServiceContext } from '../../context.ts'
import { inTransaction } from '../../transaction.ts'
import type { Levels } from './levels.ts'
import { openTranscript } from './open-transcript.ts'
import { queueJoin } from './queue-join.ts'

/** A joined file. @property sha256 in hexadecimal. @property segmentEnds milliseconds of the file; empty: unknown. */
export type JoinedFile = {
  contentType: string
  milliseconds: number
  bytes: number
  sha256: string
  cuts: number[]
  segmentEnds: number[]
}

export type JoinPart = Pick<MediaFilePart, 'segment' | 'number' | 'sha256'>

/** Parts to join: a candidate's recording, or media of a question. */
export type Joinable = {
  id: string
  organizationId: string
  key: string
  state: string
  /** Null for a recording. A file's bytes stay as they are. */
  fileName: string | null
  contentType: string
  /** Number of parts per segment, as far as the page has declared it. */
  declaredParts: number[]
  /** Its parts in their order. */
  readParts: () => Promise<JoinPart[]>
  deleteParts: () => Promise<unknown>
  /** Counts a try that it made fail itself. @returns how many there were; undefined: it is gone. */
  countFault: () => Promise<number | undefined>
  /** Marks it as failed; `succeed` marks it as ready. @returns false if it did not wait to be joined. */
  fail: () => Promise<boolean>
  succeed: (joined: JoinedFile) => Promise<boolean>
  /** Stores the levels of a recorded answer; null where none are kept. */
  keepLevels: ((levels: Levels) => Promise<unknown>) | null
  /** Marks a file as infected; null where none are scanned. */
  reject: ((threat: string) => Promise<boolean>) | null
  readState: () => Promise<string | undefined>
  queueAgain: () => Promise<unknown>
}

/**
 * Recording or asset to join.
 *
 * @property assetOf the asset's organization; undefined for a recording. @property key prefix of its files, to delete what was stored after
 *   its row was deleted.
 */
export type JoinRef = { mediaId: string; organizationId: string; assetOf?: string | undefined; key: string }

/** @returns null: it is gone. */
export const findJoinable = (system: ServiceContext, { mediaId, organizationId, assetOf }: JoinRef): Promise<Joinable | null> =>
  assetOf === undefined ? findRecording(system, { id: mediaId, organizationId }) : findAsset(system, assetOf, mediaId)

const inOrder = [{ segment: 'asc' as const }, { number: 'asc' as const }]

async function findRecording(system: ServiceContext, { id, organizationId }: QueuedRef): Promise<Joinable | null> {
  const { db } = system
  const media = await db.mediaFile.findUnique({ where: { organizationId_id: { organizationId, id } } })
  if (!media) return null
  const { submissionId } = media
  const [joining, parts] = [{ organizationId, id, state: 'joining' } as const, { organizationId, mediaId: id }]
  return {
    ...media,
    readParts: () => db.mediaFilePart.findMany({ where: parts, orderBy: inOrder }),
    deleteParts: () => db.mediaFilePart.deleteMany({ where: parts }),
    async countFault() {
      const data = { failedJoins: { increment: 1 } }
      const [counted] = await db.mediaFile.updateManyAndReturn({ where: joining, data, select: { failedJoins: true } })
      return counted?.failedJoins
    },
    fail: async () => (await db.mediaFile.updateMany({ where: joining, data: { state: 'failed' } })).count > 0,
    succeed: ({ contentType, milliseconds, cuts, segmentEnds, bytes }) =>
      inTransaction(system, async (inside) => {
        const { db } = inside
        const isFile = media.fileName !== null
        const data = {
          state: 'ready',
          contentType,
          milliseconds: isFile ? null : milliseconds,
          cuts,
          segmentEnds,
          bytes,
          threat: null,
        } as const
        const { count } = await db.mediaFile.updateMany({ where: joining, data })
        const more = { mediaBytes: { increment: BigInt(bytes) - media.bytes } }
        if (count > 0) {
          await db.submission.updateMany({ where: { organizationId, id: submissionId }, data: more })
          if (!isFile) await openTranscript(inside, media)
        }
        return count > 0
      }),
    keepLevels:
      media.kind === 'answer' && media.fileName === null
        ? (levels) => db.mediaFile.updateMany({ where: { organizationId, id, state: 'ready' }, data: { levels } })
        : null,
    reject:
      media.fileName === null
        ? null
        : async (threat) => (await db.mediaFile.updateMany({ where: joining, data: { state: 'failed', threat } })).count > 0,
    readState: async () =>
      (await db.mediaFile.findUnique({ where: { organizationId_id: { organizationId, id } }, select: { state: true } }))?.state,
    queueAgain: () => inTransaction(system, (inside) => queueJoin(inside, media)),
  }
}

async function findAsset(system: ServiceContext, organizationId: string, id: string): Promise<Joinable | null> {
  const { db } = system
  const where = { organizationId_id: { organizationId, id } }
  const asset = await db.asset.findUnique({ where })
  if (!asset) return null
  const [joining, parts] = [
    { organizationId, id, state: 'joining' },
    { organizationId, assetId: id },
  ]
  return {
    ...asset,
    fileName: null,
    reject: null,
    readParts: () => db.assetPart.findMany({ where: parts, orderBy: inOrder }),
    deleteParts: () => db.assetPart.deleteMany({ where: parts }),
    async countFault() {
      const data = { failedJoins: { increment: 1 } }
      const [counted] = await db.asset.updateManyAndReturn({ where: joining, data, select: { failedJoins: true } })
      return counted?.failedJoins
    },
    fail: async () => (await db.asset.updateMany({ where: joining, data: { state: 'failed' } })).count > 0,
    async succeed({ contentType, milliseconds, bytes, sha256 }) {
      const data = { state: 'ready', contentType, milliseconds, bytes, sha256: new Uint8Array(Buffer.from(sha256, 'hex')) }
      return (await db.asset.updateMany({ where: joining, data })).count > 0
    },
    keepLevels: null,
    readState: async () => (await db.asset.findUnique({ where, select: { state: true } }))?.state ?? 'deleted',
    queueAgain: () => inTransaction(system, (inside) => queueAssetJoin(inside, asset)),
  }
}

/** Queues the joining of a question's audio or video, in the open transaction and before later recordings, because its author waits. */
export const queueAssetJoin = (
  { db, deps }: Pick<ServiceContext, 'db' | 'deps'>,
  { id, organizationId, key }: { id: string; organizationId: string; key: string },
) => deps.queue.enqueueRecording(db, { mediaId: id, organizationId, assetOf: organizationId, key, dueAt: deps.clock() })

/** A file that is still being joined so long after its upload ended has lost its job. */
const LOST_MS = 3_600_000

/** Queues lost jobs for questions' audio and video again. For the scheduled sweep. */
export async function requeueLostAssets(system: ServiceContext): Promise<void> {
  const now = system.deps.clock()
  const lost = await system.db.asset.updateManyAndReturn({
    where: { state: 'joining', completedAt: { lte: new Date(now.getTime() - LOST_MS) } },
    data: { completedAt: now },
    select: { id: true, organizationId: true, key: true },
  })
  for (const asset of lost) await queueAssetJoin(system, asset)
}
