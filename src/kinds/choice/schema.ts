import { type Static, Type } from '@sinclair/typebox'

/** Random letters, so that neither ids nor their order say which option was written first. */
export const OptionId = Type.String({ pattern: '^[a-z]{8}$' })
const ids = Type.Array(OptionId, { uniqueItems: true, maxItems: 20 })
const closed = { additionalProperties: false }

export const SpecSchema = Type.Object(
  {
    options: Type.Array(
      Type.Object(
        {
          id: OptionId,
          text: Type.String({ minLength: 1, maxLength: 1_000 }),
          /** Keeps its place when the others are shuffled: "None of these". */
          fixed: Type.Optional(Type.Boolean()),
        },
        closed,
      ),
      { minItems: 2, maxItems: 20 },
    ),
    shuffle: Type.Boolean(),
    /** Of several: how many are to be ticked. */
    least: Type.Optional(Type.Integer({ minimum: 0, maximum: 20 })),
    most: Type.Optional(Type.Integer({ minimum: 1, maximum: 20 })),
  },
  closed,
)

/**
 * `balanced`: the part of the right ones that is ticked, less the part of the wrong ones that is; `exact`: all or nothing; `weights`: what
 * the ticked options sum up to, in percent, not below 0 and not above 100. Of one choice the chosen option's weight counts.
 */
export const KeySchema = Type.Union([
  Type.Object({ policy: Type.Union([Type.Literal('balanced'), Type.Literal('exact')]), right: ids }, closed),
  Type.Object(
    {
      policy: Type.Literal('weights'),
      weights: Type.Record(OptionId, Type.Integer({ minimum: -100, maximum: 100 }), { additionalProperties: false }),
    },
    closed,
  ),
])

/** The ids of the ticked options. */
export const AnswerSchema = ids

export type Spec = Static<typeof SpecSchema>
export type Key = Static<typeof KeySchema>
export type Answer = Static<typeof AnswerSchema>
