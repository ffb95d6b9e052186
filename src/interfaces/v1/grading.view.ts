import { type Static, Type } from '@sinclair/typebox'
import { omitUndefined } from '../../domain/fields/omit-undefined.ts'
import { MAX_COMMENT_LENGTH, MAX_INTEGER } from '../../domain/limits.ts'
import type {
  GraderAssignment,
  GradesForMember,
  InviteGrading,
  ReleaseForMember,
} from '../../domain/submissions/grading/grade-for-members.ts'
import { DateTime, isoTime, Nullable, StringEnum, Text, Uuid } from '../../http/schema/field-types.ts'
import { NAME } from '../../http/schema/schema-keywords.ts'

// Beyond v1.md: grades before their release, and the actions of graders.

/** Most grades in one body. */
const MAX_GRADES = 500
const ROUND_NAMES = ['first', 'second', 'decision'] as const
const GRADING_STATES = ['ungraded', 'undecided', 'graded'] as const

export const GradingView = Type.Object(
  {
    submissionId: Uuid(),
    state: StringEnum(['submitted', 'released']),
    assignedGraderId: Nullable(Uuid('null: nobody')),
    secondGraderId: Nullable(Uuid('Of an assessment with two graders')),
    points: Type.Number({ description: 'Of the questions graded so far' }),
    ofPoints: Type.Number(),
    isGraded: Type.Boolean({ description: 'Whether it can be released' }),
    seen: DateTime('Send it back with grades, so that you don’t overwrite newer ones'),
    questions: Type.Array(
      Type.Object({
        number: Type.Integer(),
        ofPoints: Type.Integer(),
        state: StringEnum(GRADING_STATES, { description: 'undecided: the two graders’ points are too far apart' }),
        points: Nullable(Type.Number({ description: 'The points that count; null until graded' })),
        comment: Type.String(),
        grades: Type.Array(
          Type.Object({
            graderId: Uuid(),
            round: StringEnum(ROUND_NAMES, { description: 'decision: an admin’s, if there are two graders' }),
            points: Nullable(Type.Number()),
            comment: Type.String(),
            gradedAt: DateTime(),
          }),
          { description: 'The newest of each grader, oldest first' },
        ),
      }),
    ),
  },
  { [NAME]: 'Grading', description: 'State of the grading' },
)
export const ReleasedGrading = Type.Object(GradingView.properties, {
  [NAME]: 'MovedGrading',
  description: 'State of the grading now',
})

const member = 'Id of the member to save grades for. Default: the assigned grader'
const inName = { graderId: Type.Optional(Uuid(member)) }

export const GradersBody = Type.Object(
  {
    assignedGraderId: Type.Optional(Nullable(Uuid('null: nobody'))),
    secondGraderId: Type.Optional(Nullable(Uuid('If the assessment has two graders; null: nobody'))),
  },
  { [NAME]: 'Graders', minProperties: 1, examples: [{ assignedGraderId: '0197a3f2-6c1e-7b52-9d0a-3f1c2b4d5e70' }] },
)
export const GradesBody = Type.Object(
  {
    grades: Type.Array(
      Type.Object({
        number: Type.Integer({ minimum: 1, maximum: MAX_INTEGER, description: 'Of the question' }),
        points: Nullable(Type.Number({ minimum: 0, maximum: MAX_INTEGER, description: 'In steps of 0.5; null: not graded' })),
        comment: Type.Optional(Text({ maxLength: MAX_COMMENT_LENGTH })),
      }),
      { maxItems: MAX_GRADES, description: 'All are saved, or none' },
    ),
    ...inName,
    seen: Type.Optional(
      DateTime('The value that you read. If the grader has graded one of these questions since, nothing is saved (409)'),
    ),
  },
  { [NAME]: 'Grades', examples: [{ grades: [{ number: 1, points: 4.5, comment: 'Clear.' }] }] },
)
export const ReleaseBody = Type.Object(
  {
    toCandidate: Type.Boolean({ description: 'Whether the candidate sees the points and the message' }),
    comment: Type.Optional(Text({ maxLength: MAX_COMMENT_LENGTH, description: 'For the organization' })),
    message: Type.Optional(Text({ maxLength: MAX_COMMENT_LENGTH, description: 'For the candidate' })),
    points: Type.Optional(
      Type.Number({
        minimum: 0,
        maximum: Number.MAX_SAFE_INTEGER,
        description: 'The total that you read: if it has changed since, 409',
      }),
    ),
    ...inName,
  },
  { [NAME]: 'Release', examples: [{ toCandidate: true, message: 'Thank you.' }] },
)
export const ReopeningBody = Type.Object(inName, { [NAME]: 'Reopening', examples: [{}] })

export const toGraders = ({ assignedGraderId, secondGraderId }: Static<typeof GradersBody>): GraderAssignment =>
  omitUndefined({ assignedGraderId, secondGraderId })

export const toGrades = ({ grades, graderId, seen }: Static<typeof GradesBody>): GradesForMember => ({
  graderId,
  grades: grades.map(({ number, points, comment = '' }) => ({ number, points, comment })),
  seen: seen === undefined ? undefined : new Date(seen),
})

export const toRelease = (body: Static<typeof ReleaseBody>): ReleaseForMember => ({
  graderId: body.graderId,
  toCandidate: body.toCandidate,
  comment: body.comment ?? '',
  message: body.message ?? '',
  points: body.points,
})

export function presentGrading({ submission, questions, total, seen }: InviteGrading): Static<typeof GradingView> {
  return {
    submissionId: submission.id,
    state: submission.state === 'released' ? 'released' : 'submitted',
    assignedGraderId: submission.graderId,
    secondGraderId: submission.secondGraderId,
    points: total.points,
    ofPoints: total.ofPoints,
    isGraded: total.missing === null,
    seen: isoTime(seen),
    questions: questions.map(({ number, points, status, grades }) => ({
      number,
      ofPoints: points,
      state: status.state,
      points: status.state === 'graded' ? status.points : null,
      comment: status.state === 'graded' ? status.comment : '',
      grades: grades.map((grade) => ({
        graderId: grade.graderId,
        round: ROUND_NAMES[grade.round - 1]!,
        points: grade.points,
        comment: grade.comment,
        gradedAt: isoTime(grade.updatedAt),
      })),
    })),
  }
}
