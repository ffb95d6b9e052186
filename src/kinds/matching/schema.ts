import { type Static, Type } from '@sinclair/typebox'

const closed = { additionalProperties: false }
/** Letters that reveal neither the order nor the key. */
const Id = Type.String({ pattern: '^[a-z]{8}$' })
const Named = Type.Object({ id: Id, text: Type.String({ minLength: 1, maxLength: 1_000 }) }, closed)
const choiceOfPrompt = Type.Record(Id, Id, { additionalProperties: false, maxProperties: 20 })

export const SpecSchema = Type.Object(
  {
    prompts: Type.Array(Named, { maxItems: 20 }),
    /** A choice may fit no prompt, or several. */
    choices: Type.Array(Named, { maxItems: 20 }),
    /** Prompts and choices. */
    shuffle: Type.Boolean(),
  },
  closed,
)

/** Ids of the right choices by prompt id. */
export const KeySchema = Type.Object({ pairs: choiceOfPrompt }, closed)

/** Ids of the chosen choices by prompt id, without unanswered prompts. */
export const AnswerSchema = choiceOfPrompt

export type Spec = Static<typeof SpecSchema>
export type Key = Static<typeof KeySchema>
export type Answer = Static<typeof AnswerSchema>
