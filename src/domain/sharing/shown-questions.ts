import { scopeWhere } from '../../db/queries.ts'
import { anyOf } from '../../db/query.ts'
import type { MediaFile, Prisma } from '../../generated/prisma/client.ts'
import type { Context } from '../context.ts'
import { chooseAnswer } from '../submissions/choose-answer.ts'
import { gradesOf } from '../submissions/grading/results.ts'
import { listAnswerFiles } from '../submissions/list-answer-files.ts'
import { newestRelease } from '../submissions/newest-release.ts'
import type { ResultPart } from '../submissions/result-parts.ts'
import { joinText, readSegments } from '../submissions/transcripts/segments.ts'
import { isUuid } from '../text/uuid.ts'

/** @property mediaId null: it can't be downloaded, because it is being checked, or the check has failed. */
export type ShownFile = { mediaId: string | null; name: string; bytes: number }
/** @property text of a written answer, `transcript` of a recorded one; null: not shown, or none. @property files shown with written answers. */
export type ShownAnswer = {
  text: string | null
  files: ShownFile[]
  recording: { mediaId: string; contentType: string; milliseconds: number | null } | null
  transcript: string | null
}
/** A question with points as released. No comments, no graders. @property answer null: nothing of it is shown. */
export type ShownQuestion = {
  number: number
  script: string
  scriptFormat: string
  sourceLanguage: string | null
  points: number | null
  ofPoints: number
  answer: ShownAnswer | null
}

const include = {
  paper: {
    orderBy: { number: 'asc' },
    include: {
      attempts: {
        include: { media: { include: { transcript: true } }, files: { orderBy: [{ createdAt: 'asc' }, { id: 'asc' }] } },
        orderBy: [{ createdAt: 'asc' }, { id: 'asc' }],
      },
    },
  },
  releases: newestRelease,
} satisfies Prisma.SubmissionInclude
type Question = Prisma.SubmissionGetPayload<{ include: typeof include }>['paper'][number]

/** Questions of released results by submission, without a permission check. @param shows all that is read of answers. */
export async function readShownQuestions(
  ctx: Context,
  submissionIds: string[],
  shows: readonly ResultPart[],
): Promise<Map<string, ShownQuestion[]>> {
  const where = { ...scopeWhere(ctx), id: anyOf(submissionIds), releasedAt: { not: null } }
  const found = await ctx.db.submission.findMany({ where, include })
  return new Map(
    found.map(({ id, paper, releases: [release] }) => {
      const grades = release ? gradesOf(release) : []
      const questions = paper.map((question) => {
        const { number, script, scriptFormat, sourceLanguage, points } = question
        const grade = grades.find((candidate) => candidate.number === number)
        const gradedPoints = { points: grade?.points ?? null, ofPoints: grade?.ofPoints ?? points }
        return { ...{ number, script, scriptFormat, sourceLanguage }, ...gradedPoints, answer: toShownAnswer(question, shows) }
      })
      return [id, questions]
    }),
  )
}

function toShownAnswer({ attempts }: Question, shows: readonly ResultPart[]): ShownAnswer | null {
  const answer = chooseAnswer(attempts)
  if (!answer) return null
  const { kind, text, media } = answer
  const isPlayable = media?.state === 'ready' && /^(audio|video)\//.test(media.contentType)
  const isReady = media?.transcript?.state === 'ready'
  const isShownText = kind === 'text' && shows.includes('answers')
  const files = isShownText ? listAnswerFiles(answer).map(toShownFile) : []
  const shown = {
    text: isShownText && files.length === 0 ? text : null,
    recording:
      isPlayable && shows.includes('recordings')
        ? { mediaId: media.id, contentType: media.contentType, milliseconds: media.milliseconds }
        : null,
    transcript: isReady && shows.includes('transcripts') ? joinText(readSegments(media.transcript!.segments)) : null,
  }
  return files.length > 0 || Object.values(shown).some((part) => part !== null) ? { ...shown, files } : null
}

const toShownFile = ({ id, state, fileName, bytes }: MediaFile): ShownFile => ({
  mediaId: state === 'ready' ? id : null,
  name: fileName ?? '',
  bytes: Number(bytes),
})

/**
 * Recording or file that is the answer to a question, if `shows` has its part; null: earlier attempts, photos, captures, and other submissions'
 * files.
 */
export async function findShownMedia(
  ctx: Context,
  submissionIds: string[],
  mediaId: string,
  shows: readonly ResultPart[],
): Promise<MediaFile | null> {
  if (!isUuid(mediaId)) return null
  const scope = { organizationId: ctx.organization.id }
  const where = { ...scope, id: mediaId, kind: 'answer', state: 'ready', submissionId: anyOf(submissionIds) } as const
  const media = await ctx.db.mediaFile.findFirst({ where })
  if (!media || !shows.includes(media.attemptId === null ? 'recordings' : 'answers')) return null
  const isOfAttempt = media.attemptId === null ? { mediaId } : { id: media.attemptId }
  const attempt = await ctx.db.answerAttempt.findFirst({ where: { ...scope, ...isOfAttempt } })
  if (!attempt) return null
  const attempts = await ctx.db.answerAttempt.findMany({
    where: { ...scope, submissionId: attempt.submissionId, questionNumber: attempt.questionNumber },
    orderBy: [{ createdAt: 'asc' }, { id: 'asc' }],
  })
  const answer = chooseAnswer(attempts)
  if (answer?.id !== attempt.id) return null
  return media.attemptId === null || listAnswerFiles({ ...answer, files: [media] }).length > 0 ? media : null
}
