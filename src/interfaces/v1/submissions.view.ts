import { type Static, Type } from '@sinclair/typebox'
import type { Context } from '../../domain/context.ts'
import { LINKED_FOR_MS } from '../../domain/secrets/media-tokens.ts'
import { chooseAnswer } from '../../domain/submissions/choose-answer.ts'
import type { ReleasedGrade } from '../../domain/submissions/grading/release-result.ts'
import { gradesOf, type Result, toResult } from '../../domain/submissions/grading/results.ts'
import { listAnswerFiles } from '../../domain/submissions/list-answer-files.ts'
import {
  type ListedSubmission,
  SUBMISSION_STATES,
  type WholeSubmission,
} from '../../domain/submissions/reading/list-submissions.ts'
import { DateTime, isoTime, isoTimeOrNull, Nullable, StringEnum, Uuid } from '../../http/schema/field-types.ts'
import { MEDIA_TYPES, NAME } from '../../http/schema/schema-keywords.ts'

// Beyond v1.md: submissions and their released grades.

const MEDIA_STATES = ['pending', 'ready', 'failed', 'deleted'] as const
const TAKE_KINDS = ['text', 'audio', 'video'] as const

const result = {
  version: 1,
  points: 7.5,
  ofPoints: 10,
  percent: 75,
  comment: 'Clear and quick',
  message: 'Well done',
  toCandidate: true,
  releasedAt: '2026-03-09T14:00:00.000Z',
}
const example = {
  id: '0197a3f2-6c1e-7b52-9d0a-3f1c2b4d5e90',
  inviteId: '0197a3f2-6c1e-7b52-9d0a-3f1c2b4d5e73',
  assessmentId: '0197a3f2-6c1e-7b52-9d0a-3f1c2b4d5e71',
  state: 'released',
  startedAt: '2026-03-05T10:00:00.000Z',
  deadlineAt: '2026-03-05T10:30:00.000Z',
  submittedAt: '2026-03-05T10:24:00.000Z',
  result,
}

const ResultView = Type.Object(
  {
    version: Type.Integer({ description: 'Rises with each release' }),
    points: Type.Number(),
    ofPoints: Type.Number(),
    percent: Nullable(Type.Integer({ description: 'null if no question has points' })),
    comment: Type.String({ description: 'For the organization' }),
    message: Type.String({ description: 'For the candidate; may be empty' }),
    toCandidate: Type.Boolean({
      description: 'Whether the candidate sees the points and the message on the page behind their link',
    }),
    releasedAt: DateTime(),
    band: Type.Optional(Type.String({ description: 'Name of its band at the release; absent without one' })),
    knockedOut: Type.Optional(
      Type.Array(Type.Integer(), {
        description: 'Numbers of the questions whose required percentage was missed at the release; absent without any',
      }),
    ),
  },
  { description: 'The last release, also while it is graded again; null before' },
)

const summary = {
  id: Uuid(),
  inviteId: Uuid(),
  assessmentId: Uuid(),
  state: StringEnum(SUBMISSION_STATES, {
    description:
      'in_progress; submitted: waiting for grading, the first time or (with a result) again; released: the result is available',
  }),
  startedAt: Nullable(DateTime()),
  deadlineAt: Nullable(DateTime('null: no limit')),
  submittedAt: Nullable(DateTime()),
  result: Nullable(ResultView),
}

export const SubmissionView = Type.Object(summary, { [NAME]: 'Submission', examples: [example] })

const MediaView = Type.Object(
  {
    url: Type.String({ format: 'uri', description: 'Works for 15 minutes without a key; supports ranges' }),
    expiresAt: DateTime('Until when the url is good'),
    contentType: Type.String(),
    bytes: Type.Integer(),
    milliseconds: Nullable(Type.Integer({ description: 'Its length' })),
  },
  {
    description:
      'The recording, usually within a minute of the answer; null before, for a text, and after deletion: `mediaState` says which',
  },
)
const AnswerView = Type.Object(
  {
    kind: StringEnum(TAKE_KINDS),
    text: Type.String({ description: 'Empty for a recording' }),
    media: Nullable(MediaView),
    mediaState: Nullable(
      StringEnum(MEDIA_STATES, {
        description:
          'State of the recording. pending: still being uploaded or prepared; failed: it could not be prepared, and its parts are kept for a while; null for a text',
      }),
    ),
    answeredAt: DateTime(),
    files: Type.Optional(
      Type.Array(
        Type.Object({
          name: Type.String({ description: 'On the candidate’s device' }),
          media: Nullable(MediaView),
          mediaState: StringEnum(MEDIA_STATES, { description: 'failed: also if it contains malware' }),
        }),
        { description: 'The files, if the question asks for files; `text` lists their names' },
      ),
    ),
  },
  { description: 'The candidate’s last recording, text, or choice; null if there is none' },
)
const GradeView = Type.Object(
  {
    points: Nullable(Type.Number({ description: 'null if the question has none' })),
    comment: Type.String(),
    by: Type.Optional(StringEnum(['key'], { description: 'Omitted if a person gave the points' })),
    keyNumber: Type.Optional(Type.Integer({ description: 'Number of the key that gave them' })),
    decidedBy: Type.Optional(
      StringEnum(['two_graders', 'admin', 'third_grader'], {
        description:
          'With two graders: the mean of both, or the decision of an admin or of a third grader because they were too far apart',
      }),
    ),
    rubric: Type.Optional(
      Type.Array(
        Type.Object({
          criterion: Type.String(),
          level: Nullable(Type.Integer({ description: 'From 1; null: none, or two graders chose different ones' })),
          text: Type.String({ description: 'Of the level' }),
          points: Nullable(Type.Number()),
          ofPoints: Type.Number(),
        }),
        { description: 'Chosen levels, if the question has a rubric' },
      ),
    ),
  },
  { description: 'As in the last release; null before' },
)
const SubmissionQuestionView = Type.Object({
  number: Type.Integer({ description: 'From 1' }),
  questionId: Uuid('It may have been changed or deleted since'),
  inputType: Type.String(),
  responseType: Type.String(),
  script: Type.String(),
  audioUrl: Type.String(),
  videoUrl: Type.String(),
  points: Type.Integer(),
  timeLimit: Type.Integer({ description: 'Seconds; 0: none' }),
  preparationTime: Type.Integer({ description: 'Seconds before answering begins; 0: none' }),
  openedAt: Nullable(DateTime()),
  answersAt: Nullable(DateTime('When answering begins after a preparation time; null without one')),
  closedAt: Nullable(DateTime()),
  answer: Nullable(AnswerView),
  grade: Nullable(GradeView),
})

export const SubmissionDetailView = Type.Object(
  {
    ...summary,
    questions: Type.Array(SubmissionQuestionView, { description: 'The questions as they were at the start, in their order' }),
  },
  {
    [NAME]: 'SubmissionDetail',
    examples: [
      {
        ...example,
        questions: [
          {
            number: 1,
            questionId: '0197a3f2-6c1e-7b52-9d0a-3f1c2b4d5e72',
            inputType: 'text',
            responseType: 'text',
            script: 'What would you do first?',
            audioUrl: '',
            videoUrl: '',
            points: 10,
            timeLimit: 0,
            preparationTime: 0,
            openedAt: '2026-03-05T10:00:10.000Z',
            answersAt: null,
            closedAt: '2026-03-05T10:24:00.000Z',
            answer: { kind: 'text', text: 'Listen.', media: null, mediaState: null, answeredAt: '2026-03-05T10:23:00.000Z' },
            grade: { points: 7.5, comment: 'To the point' },
          },
        ],
      },
    ],
  },
)

/** Not JSON. */
export const ReportView = Type.String({ description: 'The report', [MEDIA_TYPES]: ['application/pdf', 'text/html'] })

export const presentResult = (result: Result): Static<typeof ResultView> => ({
  version: result.version,
  points: result.points,
  ofPoints: result.ofPoints,
  percent: result.percent,
  comment: result.comment,
  message: result.message,
  toCandidate: result.toCandidate,
  releasedAt: isoTime(result.releasedAt),
  ...(result.band !== null && { band: result.band }),
  ...(result.knockedOut.length > 0 && { knockedOut: result.knockedOut }),
})

const resultOf = ({ releases: [newest] }: ListedSubmission): Result | null => (newest ? toResult(newest) : null)

export function presentSubmission(submission: ListedSubmission): Static<typeof SubmissionView> {
  const result = resultOf(submission)
  return {
    id: submission.id,
    inviteId: submission.inviteId,
    assessmentId: submission.assessmentId,
    state: SUBMISSION_STATES.find((state) => state === submission.state) ?? 'in_progress',
    startedAt: isoTimeOrNull(submission.startedAt),
    deadlineAt: isoTimeOrNull(submission.deadlineAt),
    submittedAt: isoTimeOrNull(submission.submittedAt),
    result: result && presentResult(result),
  }
}

export function presentSubmissionDetail(ctx: Context, submission: WholeSubmission): Static<typeof SubmissionDetailView> {
  const [release] = submission.releases
  const grades = release ? gradesOf(release) : []
  const questions = submission.paper.map((question) => {
    const answer = chooseAnswer(question.attempts)
    const grade = grades.find(({ number }) => number === question.number)
    return {
      number: question.number,
      questionId: question.questionId,
      inputType: question.inputType,
      responseType: question.responseType,
      script: question.script,
      audioUrl: question.audioUrl,
      videoUrl: question.videoUrl,
      points: question.points,
      timeLimit: question.timeLimit,
      preparationTime: question.preparationTime,
      openedAt: isoTimeOrNull(question.openedAt),
      answersAt: isoTimeOrNull(question.answersAt),
      closedAt: isoTimeOrNull(question.closedAt),
      answer: answer ? presentAnswer(ctx, answer) : null,
      grade: grade ? presentGrade(grade) : null,
    }
  })
  return { ...presentSubmission(submission), questions }
}

export const presentGrade = ({ points, comment, by, keyNumber, decidedBy, rubric }: ReleasedGrade) => ({
  points,
  comment,
  ...(by && { by }),
  ...(keyNumber !== undefined && { keyNumber }),
  ...(decidedBy && { decidedBy }),
  ...(rubric && { rubric }),
})

type Answer = WholeSubmission['paper'][number]['attempts'][number]

const presentAnswer = (ctx: Context, answer: Answer): Static<typeof AnswerView> => {
  const { kind, text, media, createdAt, completedAt } = answer
  const files = listAnswerFiles(answer)
  return {
    kind,
    text,
    media: media && presentMedia(ctx, media),
    mediaState: media && mediaStateOf(media),
    answeredAt: isoTime(completedAt ?? createdAt),
    ...(files.length > 0 && {
      files: files.map((file) => ({ name: file.fileName ?? '', media: presentMedia(ctx, file), mediaState: mediaStateOf(file) })),
    }),
  }
}

type Media = NonNullable<Answer['media']>

const mediaStateOf = (media: Media) => MEDIA_STATES.find((state) => state === media.state) ?? 'pending'

function presentMedia({ deps }: Context, { id, state, contentType, bytes, milliseconds }: Media) {
  if (state !== 'ready') return null
  const expiresAt = new Date(deps.clock().getTime() + LINKED_FOR_MS)
  const url = deps.links.mediaUrl({ mediaId: id, expiresAt })
  return { url, expiresAt: isoTime(expiresAt), contentType, bytes: Number(bytes), milliseconds }
}
