import { type Static, Type } from '@sinclair/typebox'
import type { QuestionDefinition, VisibleDefinition } from '../../domain/assessments/define-question.ts'
import { Nullable } from '../../http/schema/field-types.ts'
import { NAME } from '../../http/schema/schema-keywords.ts'
import { kinds } from '../../kinds/index.ts'

// Beyond v1.md: spec and key of a question with a right answer.

/** JSON that the kind validates. */
const json = (description: string) => Type.Object({}, { additionalProperties: true, description })
const responseType = Type.String({
  enum: [...kinds.keys()],
  description: 'The kind; it becomes the responseType of the question',
})
const spec = json('Shown to candidates; its shape depends on the kind')

export const DefinitionBody = Type.Object(
  {
    responseType,
    spec,
    key: json('The right answer; its shape depends on the kind. Never returned'),
  },
  {
    [NAME]: 'QuestionDefinition',
    examples: [
      {
        responseType: 'short_text',
        spec: { lines: 1 },
        key: {
          accepted: [{ text: 'Oslo', share: 100 }],
          caseSensitive: false,
          ignore: { accents: false, punctuation: false },
          otherwise: 'people',
        },
      },
    ],
  },
)

export const OneDefinition = Type.Object(
  {
    definition: Nullable(
      Type.Object(
        {
          responseType,
          spec,
          keyNumber: Type.Integer({ description: 'Number of the current key' }),
          isAsked: Type.Boolean({
            description: 'Whether it was asked already; then changes apply to candidates who start later',
          }),
        },
        { [NAME]: 'ReadQuestionDefinition', description: 'null: answered by a text or a recording' },
      ),
    ),
  },
  { [NAME]: 'OneQuestionDefinition', description: 'The definition' },
)

export const toDefinition = (body: Static<typeof DefinitionBody>): QuestionDefinition => body

export const presentDefinition = (definition: VisibleDefinition | null): Static<typeof OneDefinition> => {
  if (definition === null) return { definition }
  const { responseType, spec, keyNumber, isSealed } = definition
  return { definition: { responseType, spec: spec as object, keyNumber, isAsked: isSealed } }
}
