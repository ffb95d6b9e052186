import { type Static, Type } from '@sinclair/typebox'

const closed = { additionalProperties: false }

export const SpecSchema = Type.Object({ lines: Type.Union([Type.Literal(1), Type.Literal(3)]) }, closed)

export const KeySchema = Type.Object(
  {
    /** The best matching share counts. `*` stands for any characters, or none. */
    accepted: Type.Array(
      Type.Object(
        { text: Type.String({ minLength: 1, maxLength: 500 }), share: Type.Integer({ minimum: 1, maximum: 100 }) },
        closed,
      ),
      { minItems: 1, maxItems: 50 },
    ),
    caseSensitive: Type.Boolean(),
    /** Accents of Latin and Greek letters; quotes, brackets, and punctuation at the ends of words. */
    ignore: Type.Object({ accents: Type.Boolean(), punctuation: Type.Boolean() }, closed),
    /** Grading of texts that are not accepted: wrong, or by people. */
    otherwise: Type.Union([Type.Literal('wrong'), Type.Literal('people')]),
  },
  closed,
)

export const AnswerSchema = Type.String({ maxLength: 500 })

export type Spec = Static<typeof SpecSchema>
export type Key = Static<typeof KeySchema>
