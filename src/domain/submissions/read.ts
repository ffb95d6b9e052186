import type { MediaKind, Take } from '../../generated/prisma/client.ts'
import { missingToStart, type Needs, type Photo } from './needs.ts'
import { findPosition, type PaperQuestion } from './paper.ts'
import { findNeeds, findPhotos } from './prepared.ts'
import type { PreparedSession, Session } from './session.ts'

/** What a candidate's page shows before the start. */
export type Preparation = {
  needs: Needs
  photos: Record<Photo, boolean>
  /** What is missing for the start, see missingToStart. */
  missing: string[]
}

export async function readPreparation({ ctx, invite, submission }: Session): Promise<Preparation> {
  const needs = await findNeeds(ctx, invite, submission && submission.state !== 'preparing' ? submission.id : null)
  const photos = submission ? await findPhotos(ctx, submission.id) : { id_photo: false, face_photo: false }
  return { needs, photos, missing: missingToStart({ needs, submission, photos, waived: invite.waivedChecks }) }
}

/** Where a candidate is in the paper. */
export type Progress = {
  /** How many questions there are. */
  of: number
  open: OpenQuestion | undefined
  /** The number of the one that can be opened now; undefined while one is open, and at the end. */
  next: PaperQuestion | undefined
  /** Whether the time for the whole is over. */
  isOver: boolean
  /** The numbers of those without an answer. */
  unanswered: number[]
}

export type OpenQuestion = PaperQuestion & {
  playsLeft: number
  /** Attempts at a recording. */
  takesLeft: number
  text: Pick<Take, 'text' | 'revision'> | null
  /** The recordings that were begun, oldest first. */
  takes: Pick<Take, 'id' | 'mediaId' | 'kind' | 'state'>[]
}

export async function readProgress({ ctx, submission }: PreparedSession): Promise<Progress> {
  const { db, deps, organization } = ctx
  const now = deps.clock()
  const own = { organizationId: organization.id, submissionId: submission.id }
  const paper = await db.paperQuestion.findMany({ where: own, orderBy: { number: 'asc' } })
  const takes = await db.take.findMany({
    where: { ...own, NOT: { kind: 'text', text: '' } },
    select: { id: true, questionNumber: true, kind: true, state: true, mediaId: true, media: { select: { bytes: true } } },
    orderBy: [{ createdAt: 'asc' }, { id: 'asc' }],
  })
  const { open, next } = findPosition(paper, now)
  const isOver = submission.deadlineAt !== null && submission.deadlineAt <= now
  // A recording whose end is not told yet is an answer with what has arrived of it.
  const isAnswer = ({ state, media }: (typeof takes)[number]) =>
    state === 'complete' || (state === 'recording' && (media?.bytes ?? 0n) > 0n)
  const answered = new Set(takes.filter(isAnswer).map(({ questionNumber }) => questionNumber))
  return {
    of: paper.length,
    open: open && (await describe(open)),
    next: isOver ? undefined : next,
    isOver,
    unanswered: paper.map(({ number }) => number).filter((number) => !answered.has(number)),
  }

  async function describe(question: PaperQuestion): Promise<OpenQuestion> {
    const recordings = takes.filter(({ kind, questionNumber }) => kind !== 'text' && questionNumber === question.number)
    return {
      ...question,
      playsLeft: Math.max(0, submission.questionReplayLimit - question.plays),
      takesLeft: Math.max(0, submission.answerRecordLimit - recordings.length),
      text: await db.take.findFirst({
        where: { ...own, questionNumber: question.number, kind: 'text' },
        select: { text: true, revision: true },
      }),
      takes: recordings,
    }
  }
}

/** A recording that is still being uploaded, with the parts that have arrived. */
export type Upload = {
  mediaId: string
  kind: MediaKind
  bytes: number
  segments: { segment: number; parts: number[] }[]
}

export async function listUploads({ ctx, submission }: PreparedSession): Promise<Upload[]> {
  const where = { organizationId: ctx.organization.id, submissionId: submission.id, state: 'uploading' } as const
  const media = await ctx.db.media.findMany({
    where,
    include: { parts: { select: { segment: true, number: true }, orderBy: [{ segment: 'asc' }, { number: 'asc' }] } },
    orderBy: [{ createdAt: 'asc' }, { id: 'asc' }],
  })
  return media.map(({ id, kind, bytes, parts }) => ({ mediaId: id, kind, bytes: Number(bytes), segments: bySegment(parts) }))
}

function bySegment(parts: { segment: number; number: number }[]): Upload['segments'] {
  const segments = Map.groupBy(parts, ({ segment }) => segment)
  return [...segments].map(([segment, inIt]) => ({ segment, parts: inIt.map(({ number }) => number) }))
}
