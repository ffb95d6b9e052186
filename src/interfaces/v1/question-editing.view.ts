import { type Static, type TSchema, Type } from '@sinclair/typebox'
import { EMPTY_QUESTION, type QuestionInput } from '../../domain/assessments/question-input.ts'
import { omitUndefined } from '../../domain/fields/omit-undefined.ts'
import { pick } from '../../domain/fields/pick.ts'
import { AMOUNTS, MAX_CODE_LENGTH, MAX_INTEGER, MAX_NAME_LENGTH, MAX_SCRIPT_LENGTH, MAX_URL_LENGTH } from '../../domain/limits.ts'
import { NonBlankText, Text } from '../../http/schema/field-types.ts'
import { NAME } from '../../http/schema/schema-keywords.ts'
import { seenUpdatedAt } from './assessment-settings.view.ts'
import { questionView } from './questions.view.ts'

// Beyond v1.md: the settings of a question.

const fields = {
  inputType: NonBlankText({
    maxLength: MAX_NAME_LENGTH,
    description: 'How it is asked: text, audio, video, or a value of your own. Default: text',
  }),
  responseType: NonBlankText({ maxLength: MAX_NAME_LENGTH, description: 'How it is answered. Default: text' }),
  script: Text({ maxLength: MAX_SCRIPT_LENGTH, description: 'Text of the question, unless audio or video asks it' }),
  audioUrl: Text({ maxLength: MAX_URL_LENGTH, description: 'Begins with https://; empty: none' }),
  videoUrl: Text({ maxLength: MAX_URL_LENGTH, description: 'Begins with https://; empty: none' }),
  points: Type.Integer({ ...AMOUNTS, description: '0: it is not graded' }),
  timeLimit: Type.Integer({ ...AMOUNTS, description: 'Seconds; 0: no limit' }),
  sourceLanguage: Text({ maxLength: MAX_CODE_LENGTH, description: 'Code of the question’s language; empty: none' }),
  targetLanguage: Text({ maxLength: MAX_CODE_LENGTH, description: 'Code of the answer’s language; empty: none' }),
  // The API has no formatted scripts, preparation times, or simultaneous answers: the documented question could not show them.
} satisfies Record<Exclude<keyof QuestionInput, 'scriptFormat' | 'preparationTime' | 'simultaneous' | 'rubric'>, TSchema>
const NAMES = Object.keys(fields) as (keyof typeof fields)[]
const optionalFields = Type.Partial(Type.Object(fields)).properties

export const NewQuestionBody = Type.Object(optionalFields, {
  [NAME]: 'NewQuestion',
  examples: [{ script: 'What would you do first?', points: 10, timeLimit: 300 }],
})
export const QuestionChangeBody = Type.Object(
  { ...optionalFields, updatedAt: seenUpdatedAt },
  { [NAME]: 'QuestionChange', minProperties: 1, examples: [{ points: 5 }] },
)
export const QuestionPlaceBody = Type.Object(
  {
    place: Type.Integer({ minimum: 1, maximum: MAX_INTEGER, description: 'From 1; beyond the end: the last place' }),
    order: Type.Optional(
      Type.Integer({
        minimum: 0,
        maximum: MAX_INTEGER,
        description: 'The value that you read. If somebody has moved the question since, it is not moved (409)',
      }),
    ),
  },
  { [NAME]: 'QuestionPlace', examples: [{ place: 1 }] },
)
export const OneQuestion = Type.Object({ question: questionView.schema }, { [NAME]: 'OneQuestion', description: 'The question' })

export const MovedQuestion = Type.Object(
  { question: questionView.schema },
  { [NAME]: 'MovedQuestion', description: 'The question as it is now' },
)

export const toNewQuestion = (body: Static<typeof NewQuestionBody>): QuestionInput => ({
  ...EMPTY_QUESTION,
  ...toQuestionChange(body),
})

export const toQuestionChange = (body: Static<typeof NewQuestionBody>): Partial<QuestionInput> => omitUndefined(pick(body, NAMES))
