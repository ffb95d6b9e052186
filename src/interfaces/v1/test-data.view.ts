import { type Static, Type } from '@sinclair/typebox'
import { MAX_ANSWER_LENGTH, MAX_COMMENT_LENGTH } from '../../domain/limits.ts'
import type { Deletion } from '../../domain/test-data/delete-test-data.ts'
import { SIMULATIONS } from '../../domain/test-data/simulate.ts'
import type { SimulatedAnswers } from '../../domain/test-data/simulated-answers.ts'
import { StringEnum, Text } from '../../http/schema/field-types.ts'
import { NAME } from '../../http/schema/schema-keywords.ts'

// Beyond v1.md: operations on test data only.

/** More questions than an assessment has. */
const MOST_QUESTIONS = 1_000
const QuestionNumber = () => Type.Integer({ minimum: 1, description: 'Number of the question, from 1' })

export const SimulationBody = Type.Object(
  {
    action: StringEnum(SIMULATIONS, { description: 'The action to simulate' }),
    answers: Type.Optional(
      Type.Array(
        Type.Object({
          number: QuestionNumber(),
          text: Text({ maxLength: MAX_ANSWER_LENGTH, description: 'The candidate’s text' }),
        }),
        { maxItems: MOST_QUESTIONS, description: 'Written answers. Missing answers, and all recordings, are generated' },
      ),
    ),
    grades: Type.Optional(
      Type.Array(
        Type.Object({
          number: QuestionNumber(),
          points: Type.Number({ minimum: 0, description: 'In steps of 0.5' }),
          comment: Type.Optional(Text({ maxLength: MAX_COMMENT_LENGTH })),
        }),
        { maxItems: MOST_QUESTIONS, description: 'Grades. Answers without one get four fifths of their points' },
      ),
    ),
  },
  {
    [NAME]: 'Simulation',
    examples: [
      {
        action: 'release',
        answers: [{ number: 1, text: 'I would ask first.' }],
        grades: [{ number: 1, points: 4.5, comment: 'To the point.' }],
      },
    ],
  },
)

export const toGiven = ({ answers = [], grades = [] }: Static<typeof SimulationBody>): SimulatedAnswers => ({ answers, grades })

const Count = (description: string) => Type.Integer({ minimum: 0, description })

export const DeletionView = Type.Object(
  {
    deleted: Type.Object({
      invites: Count('Test invites, with their mails and tags'),
      submissions: Count('Submissions, with grades and results'),
      media: Count('Its photos and recordings'),
      lists: Count('Lists of candidates, and batches'),
    }),
    remaining: Count('Test invites that are still being deleted'),
  },
  {
    [NAME]: 'TestDataDeletion',
    description: 'Counts of deleted rows, and of those still being deleted',
    examples: [{ deleted: { invites: 100, submissions: 61, media: 14, lists: 1 }, remaining: 900 }],
  },
)

export const presentDeletion = ({ remaining, ...deleted }: Deletion): Static<typeof DeletionView> => ({ deleted, remaining })
