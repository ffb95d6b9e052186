import { type Static, Type } from '@sinclair/typebox'

const closed = { additionalProperties: false }
/** Random letters, so that neither ids nor their order say what fits what. */
const Id = Type.String({ pattern: '^[a-z]{8}$' })
const Named = Type.Object({ id: Id, text: Type.String({ minLength: 1, maxLength: 1_000 }) }, closed)
const choiceOfPrompt = Type.Record(Id, Id, { additionalProperties: false, maxProperties: 20 })

export const SpecSchema = Type.Object(
  {
    prompts: Type.Array(Named, { maxItems: 20 }),
    /** Some may fit no prompt, and some several. */
    choices: Type.Array(Named, { maxItems: 20 }),
    /** Prompts and choices alike. */
    shuffle: Type.Boolean(),
  },
  closed,
)

/** The id of the right choice, by the id of its prompt. */
export const KeySchema = Type.Object({ pairs: choiceOfPrompt }, closed)

/** The id of the choice, by the id of its prompt: without those that nothing was chosen for. */
export const AnswerSchema = choiceOfPrompt

export type Spec = Static<typeof SpecSchema>
export type Key = Static<typeof KeySchema>
export type Answer = Static<typeof AnswerSchema>
