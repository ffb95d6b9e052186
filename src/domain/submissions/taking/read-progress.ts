import type { AnswerAttempt, MediaKind } from '../../../generated/prisma/client.ts'
import { isSimultaneous } from '../../assessments/simultaneous.ts'
import { chooseAnswer, isAnswered } from '../choose-answer.ts'
import { findNeeds, findPhotos } from '../find-needs.ts'
import { countSegments } from '../media/settle-recordings.ts'
import { missingToStart, type Needs, type RequiredPhoto } from '../needs.ts'
import { attemptLimitOf, playLimitOf } from './attempt-limits.ts'
import { isInterrupted } from './interrupted-attempt.ts'
import type { SubmissionQuestion, SubmissionSection } from './paper.ts'
import { findPosition, readSections } from './position.ts'
import type { CandidateSession, PreparedSession } from './session.ts'

export type Preparation = {
  needs: Needs
  photos: Record<RequiredPhoto, boolean>
  /** See missingToStart. */
  missing: string[]
  /** Percent of a question's points that a wrong choice costs; 0: none. */
  penaltyPercent: number
}

export async function readPreparation({ ctx, invite, submission }: CandidateSession): Promise<Preparation> {
  const needs = await findNeeds(ctx, invite, submission && submission.state !== 'preparing' ? submission.id : null)
  const photos = submission ? await findPhotos(ctx, submission.id) : { id_photo: false, face_photo: false }
  const penaltyPercent = await findPenalty(ctx, invite)
  return { needs, photos, missing: missingToStart({ needs, submission, photos, waived: invite.waivedChecks }), penaltyPercent }
}

async function findPenalty(
  { db, deps, organization }: CandidateSession['ctx'],
  { assessmentId, assessment }: CandidateSession['invite'],
): Promise<number> {
  if (assessment.penaltyPercent === 0) return 0
  const costing = [...deps.kinds].flatMap(([word, kind]) => (kind.penalizes ? [word] : []))
  const where = { organizationId: organization.id, assessmentId, points: { gt: 0 }, version: { responseType: { in: costing } } }
  return (await db.question.count({ where })) > 0 ? assessment.penaltyPercent : 0
}

export type CandidateProgress = {
  /** Number of questions. */
  of: number
  open: OpenQuestion | undefined
  /** The number of the one that can be opened now; undefined while one is open, and at the end. */
  next: SubmissionQuestion | undefined
  /** The section of either, or the open one at whose overview the candidate is. Unless it is open, it can be opened now. */
  section: SectionProgress | null
  /** True after the deadline. */
  isOver: boolean
  /** True if the time, not the candidate, ended the last question. */
  wasCutByClock: boolean
  /** The numbers of those without an answer. */
  unanswered: number[]
}

/** @property of number of sections. @property isFree true if the candidate goes back and forth. */
export type SectionProgress = Pick<SubmissionSection, 'number' | 'name' | 'intro' | 'timeLimit' | 'openedAt' | 'closesAt'> & {
  of: number
  isFree: boolean
  questions: { number: number; isAnswered: boolean; isMarked: boolean }[]
}

export type OpenQuestion = SubmissionQuestion & {
  playsLeft: number
  /** Attempts at a recording. */
  attemptsLeft: number
  text: Pick<AnswerAttempt, 'text' | 'revision' | 'value'> | null
  /** Null for a question without a kind. */
  version: { responseType: string; spec: unknown } | null
  /** The recordings that were begun, oldest first. */
  attempts: Pick<AnswerAttempt, 'id' | 'mediaId' | 'kind' | 'state'>[]
  /** Selectable attempts, oldest first. */
  answers: PossibleAnswer[]
  interrupted: InterruptedAttempt | null
  /** True if an interrupted attempt with little saved may be started over. */
  mayStartOver: boolean
  /** True if an attempt was interrupted, cut off, or started over. */
  hadInterruption: boolean
}

/** The attempt that can be continued. @property contentType empty where nothing has arrived. */
export type InterruptedAttempt = { mediaId: string; kind: AnswerAttempt['kind']; contentType: string }

/** An attempt that may be the answer, see answer.ts. */
export type PossibleAnswer = Pick<AnswerAttempt, 'id' | 'mediaId' | 'kind' | 'wasInterrupted' | 'restarted'> & {
  /** Length of the recording; null until it is known, and for texts. */
  milliseconds: number | null
  /** True if the recording can be played. */
  isReady: boolean
  /** True for the attempt that counts. */
  counts: boolean
}

export async function readProgress({ ctx, submission }: PreparedSession): Promise<CandidateProgress> {
  const { db, deps, organization } = ctx
  const now = deps.clock()
  const key = { organizationId: organization.id, submissionId: submission.id }
  const paper = await db.submissionQuestion.findMany({ where: key, orderBy: { number: 'asc' } })
  const attempts = await db.answerAttempt.findMany({
    where: key,
    include: { media: { select: { bytes: true, milliseconds: true, state: true, contentType: true } } },
    orderBy: [{ createdAt: 'asc' }, { id: 'asc' }],
  })
  const sections = await readSections(db, key, paper)
  const { open, next, section } = findPosition(paper, sections, now)
  const version = open?.versionId ? await findVersion(open.versionId) : null
  const mayContinue = !open || (await isContinuable(open))
  const isOver = submission.deadlineAt !== null && submission.deadlineAt <= now
  // An unfinished recording counts as an answer with the parts that have arrived.
  const isAnswer = (attempt: (typeof attempts)[number]) =>
    isAnswered(attempt) || (attempt.state === 'recording' && (attempt.media?.bytes ?? 0n) > 0n)
  const answered = new Set(attempts.filter(isAnswer).map(({ questionNumber }) => questionNumber))
  return {
    of: paper.length,
    open: open && describe(open),
    next: isOver ? undefined : next,
    section: section && !isOver ? describeSection(section) : null,
    isOver,
    wasCutByClock: isOver && (!submission.isDeadlineOfQuestion || isEndedByClock(paper.at(-1))),
    unanswered: paper.map(({ number }) => number).filter((number) => !answered.has(number)),
  }

  function describeSection({ navigation, ...section }: SubmissionSection): SectionProgress {
    const questions = paper.filter(({ sectionNumber }) => sectionNumber === section.number)
    return {
      ...section,
      of: sections.length,
      isFree: navigation === 'free',
      questions: questions.map(({ number, isMarked }) => ({ number, isMarked, isAnswered: answered.has(number) })),
    }
  }

  /** A simultaneous recording is continued once. */
  async function isContinuable(question: SubmissionQuestion): Promise<boolean> {
    const attempt = attempts.findLast(({ questionNumber }) => questionNumber === question.number)
    if (!isSimultaneous(question) || !attempt?.mediaId) return true
    return (await countSegments(ctx, attempt.mediaId)) < 2
  }

  function findVersion(id: string) {
    const where = { organizationId_id: { organizationId: organization.id, id } }
    return db.questionVersion.findUniqueOrThrow({ where, select: { responseType: true, spec: true } })
  }

  function describe(question: SubmissionQuestion): OpenQuestion {
    const attemptsOfQuestion = attempts.filter(({ questionNumber }) => questionNumber === question.number)
    const recordings = attemptsOfQuestion.filter(({ kind }) => kind !== 'text')
    const text = attemptsOfQuestion.find(({ kind }) => kind === 'text')
    const answer = chooseAnswer(attemptsOfQuestion)
    const interrupted = recordings.findLast(isInterrupted)
    return {
      ...question,
      playsLeft: Math.max(0, playLimitOf(question, submission) - question.plays),
      attemptsLeft: Math.max(0, attemptLimitOf(question, submission) - recordings.filter(({ restarted }) => !restarted).length),
      text: text ? { text: text.text, revision: text.revision, value: text.value } : null,
      version,
      attempts: recordings,
      answers: attemptsOfQuestion.filter(isAnswered).map((attempt) => ({
        ...attempt,
        milliseconds: attempt.media?.milliseconds ?? null,
        isReady: attempt.media?.state === 'ready',
        counts: attempt === answer,
      })),
      interrupted:
        interrupted?.media && mayContinue
          ? { mediaId: interrupted.mediaId!, kind: interrupted.kind, contentType: interrupted.media.contentType }
          : null,
      mayStartOver: !isSimultaneous(question) && !recordings.some(({ restarted }) => restarted),
      hadInterruption: recordings.some(
        ({ interruptions, wasInterrupted, restarted }) => interruptions > 0 || wasInterrupted || restarted,
      ),
    }
  }
}

const isEndedByClock = (question: SubmissionQuestion | undefined): boolean =>
  !question?.closedAt || question.closedAt.getTime() === question.closesAt?.getTime()

/** A recording that is still being uploaded, with the parts that have arrived. */
export type Upload = {
  mediaId: string
  kind: MediaKind
  bytes: number
  /** Null for a recording. */
  fileName: string | null
  /** Question that a file answers; null for a recording. */
  questionNumber: number | null
  segments: { segment: number; parts: number[] }[]
}

export async function listUploads({ ctx, submission }: PreparedSession): Promise<Upload[]> {
  const where = { organizationId: ctx.organization.id, submissionId: submission.id, state: 'uploading' } as const
  const media = await ctx.db.mediaFile.findMany({
    where,
    include: {
      attempt: { select: { questionNumber: true } },
      parts: { select: { segment: true, number: true }, orderBy: [{ segment: 'asc' }, { number: 'asc' }] },
    },
    orderBy: [{ createdAt: 'asc' }, { id: 'asc' }],
  })
  return media.map(({ id, kind, bytes, fileName, attempt, parts }) => ({
    ...{ mediaId: id, kind, bytes: Number(bytes), fileName, questionNumber: attempt?.questionNumber ?? null },
    segments: bySegment(parts),
  }))
}

function bySegment(parts: { segment: number; number: number }[]): Upload['segments'] {
  const segments = Map.groupBy(parts, ({ segment }) => segment)
  return [...segments].map(([segment, inIt]) => ({ segment, parts: inIt.map(({ number }) => number) }))
}
