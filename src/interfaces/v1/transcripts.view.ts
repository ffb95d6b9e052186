import { type Static, Type } from '@sinclair/typebox'
import type { AnswerTranscript } from '../../domain/submissions/reading/list-transcripts.ts'
import { TRANSCRIPT_STATES } from '../../domain/submissions/transcripts/read-transcripts.ts'
import { DateTime, isoTimeOrNull, Nullable, StringEnum } from '../../http/schema/field-types.ts'
import { NAME } from '../../http/schema/schema-keywords.ts'

// Beyond v1.md: transcripts of recorded answers.

const SegmentView = Type.Object({
  startMs: Nullable(Type.Integer({ description: 'Milliseconds from the beginning of the recording; null if unknown' })),
  endMs: Nullable(Type.Integer()),
  text: Type.String(),
  uncertain: Type.Boolean({ description: 'Whether the words are probably wrong' }),
})

const TranscriptView = Type.Object({
  questionNumber: Type.Integer({ description: 'Number of the question whose answer it is of' }),
  state: StringEnum(TRANSCRIPT_STATES, {
    description: 'pending: not made yet; silent: nothing is heard in the recording; failed: it could not be made',
  }),
  madeBy: StringEnum(['machine', 'machine_and_person'], { description: 'machine_and_person: a grader has corrected it' }),
  language: Type.String({ description: 'Two or three letters; empty if unknown' }),
  model: Type.String({ description: 'Model of the speech recognition; empty before' }),
  segments: Type.Array(SegmentView),
  correctedAt: Nullable(DateTime()),
  completedAt: Nullable(DateTime()),
})

export const TranscriptsView = Type.Object(
  { transcripts: Type.Array(TranscriptView, { description: 'In the order of the questions' }) },
  {
    [NAME]: 'Transcripts',
    examples: [
      {
        transcripts: [
          {
            questionNumber: 1,
            state: 'ready',
            madeBy: 'machine',
            language: 'en',
            model: 'whisper-1',
            segments: [{ startMs: 2400, endMs: 4100, text: 'First I listen.', uncertain: false }],
            correctedAt: null,
            completedAt: '2026-03-05T10:26:00.000Z',
          },
        ],
      },
    ],
  },
)

export const presentTranscripts = (transcripts: AnswerTranscript[]): Static<typeof TranscriptsView> => ({
  transcripts: transcripts.map(({ questionNumber, state, language, model, segments, correctedAt, completedAt }) => ({
    ...{ questionNumber, state, language, model },
    madeBy: correctedAt ? 'machine_and_person' : 'machine',
    segments: segments.map(({ isUncertain, ...segment }) => ({ ...segment, uncertain: isUncertain })),
    correctedAt: isoTimeOrNull(correctedAt),
    completedAt: isoTimeOrNull(completedAt),
  })),
})
