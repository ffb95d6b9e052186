import { type Static, Type } from '@sinclair/typebox'
import type { ReleasedNote } from '../../domain/submissions/grading/notes.ts'
import { Nullable } from '../../http/schema/field-types.ts'
import { NAME } from '../../http/schema/schema-keywords.ts'

// Beyond v1.md: graders' notes on recorded answers.

const NoteView = Type.Object({
  questionNumber: Type.Integer({ description: 'Number of the question whose answer it is on' }),
  startMs: Type.Integer({ description: 'Milliseconds from the beginning of the recording' }),
  endMs: Nullable(Type.Integer({ description: 'End of a range; null for a moment' })),
  category: Type.String({ description: 'One of the organization’s categories; empty: none' }),
  text: Type.String(),
  pointsOff: Nullable(Type.Number({ description: 'For information: the points of the result are the grader’s' })),
})

export const NotesView = Type.Object(
  { notes: Type.Array(NoteView, { description: 'By question and time' }) },
  {
    [NAME]: 'GradingNotes',
    examples: [
      {
        notes: [
          { questionNumber: 1, startMs: 18000, endMs: null, category: 'Omission', text: 'The date is missing', pointsOff: 0.5 },
        ],
      },
    ],
  },
)

export const presentNotes = (notes: (ReleasedNote & { questionNumber: number })[]): Static<typeof NotesView> => ({
  notes: notes.map(({ questionNumber, startMs, endMs, category, text, pointsOff }) => ({
    ...{ questionNumber, startMs, endMs, category, text, pointsOff },
  })),
})
