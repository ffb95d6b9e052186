import { type Static, Type } from '@sinclair/typebox'

/** Random letters: neither ids nor their order reveal which option was written first. */
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
    /** For multiple choice: how many options candidates must tick. */
    least: Type.Optional(Type.Integer({ minimum: 0, maximum: 20 })),
    most: Type.Optional(Type.Integer({ minimum: 1, maximum: 20 })),
  },
  closed,
)

/**
 * `balanced`: share of right options that are ticked minus share of wrong options that are ticked. `exact`: all or nothing. `weights`: sum of the
 * ticked options in percent, limited to 0 to 100.
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

/** Ids of the ticked options. */
export const AnswerSchema = ids

export type Spec = Static<typeof SpecSchema>
export type Key = Static<typeof KeySchema>
export type Answer = Static<typeof AnswerSchema>
