import { Type } from '@sinclair/typebox'
import { wholeQuestion } from '../../domain/assessments/questions.ts'
import { DateTime, Uuid } from '../../http/schema/field-types.ts'
import { NAME } from '../../http/schema/schema-keywords.ts'
import { createViewBuilder } from '../../http/schema/view.ts'

const { computed, view } = createViewBuilder(wholeQuestion)
const LanguageCode = Type.String({ description: 'Language code; empty when there is none' })

/** v1.md, Question. */
export const questionView = view(
  {
    id: Uuid(),
    order: Type.Integer({ description: 'Place within the assessment' }),
    inputType: Type.String({ description: 'How the question is put, e.g. text, audio, video' }),
    script: Type.String({ description: 'Text of the question; empty when there is none' }),
    audioUrl: Type.String({ description: 'Empty when there is none' }),
    videoUrl: Type.String({ description: 'Empty when there is none' }),
    responseType: Type.String({ description: 'How it is answered, e.g. text, audio, video' }),
    points: Type.Integer(),
    timeLimit: Type.Integer({ description: 'Seconds; 0 when there is no limit' }),
    sourceLanguage: computed(LanguageCode, ['sourceLanguage'], ({ sourceLanguage }) => sourceLanguage ?? ''),
    targetLanguage: computed(LanguageCode, ['targetLanguage'], ({ targetLanguage }) => targetLanguage ?? ''),
    createdAt: DateTime(),
    updatedAt: DateTime(),
  },
  {
    [NAME]: 'Question',
    examples: [
      {
        id: '0197a3f2-6c1e-7b52-9d0a-3f1c2b4d5e72',
        order: 1,
        inputType: 'audio',
        script: 'A customer reports a late delivery. What do you say?',
        audioUrl: 'https://media.example.com/q/late-delivery.mp3',
        videoUrl: '',
        responseType: 'audio',
        points: 10,
        timeLimit: 90,
        sourceLanguage: 'en',
        targetLanguage: '',
        createdAt: '2026-02-01T10:00:00.000Z',
        updatedAt: '2026-02-01T10:00:00.000Z',
      },
    ],
  },
)
