import { type Static, Type } from '@sinclair/typebox'
import { DECIMAL } from './decimal.ts'

const closed = { additionalProperties: false }
const Decimal = Type.String({ pattern: DECIMAL })
/** Percent of the question's points. */
const share = Type.Integer({ minimum: 1, maximum: 100 })

/** The unit is shown after the field, and not typed. */
export const SpecSchema = Type.Object({ unit: Type.Optional(Type.String({ minLength: 1, maxLength: 40 })) }, closed)

export const KeySchema = Type.Object(
  {
    /** The best matching share counts. */
    answers: Type.Array(
      Type.Union([
        Type.Object(
          {
            value: Decimal,
            /** `by` is an absolute number, or percent of the value. */
            tolerance: Type.Optional(
              Type.Object({ by: Decimal, in: Type.Union([Type.Literal('absolute'), Type.Literal('percent')]) }, closed),
            ),
            share,
          },
          closed,
        ),
        Type.Object({ from: Decimal, to: Decimal, share }, closed),
      ]),
      { minItems: 1, maxItems: 50 },
    ),
  },
  closed,
)

/** The number as the candidate typed it. */
export const AnswerSchema = Type.String({ maxLength: 100 })

export type Spec = Static<typeof SpecSchema>
export type Key = Static<typeof KeySchema>
