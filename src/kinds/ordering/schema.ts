import { type Static, Type } from '@sinclair/typebox'

const closed = { additionalProperties: false }
/** Letters that reveal neither the order nor the key. */
const Id = Type.String({ pattern: '^[a-z]{8}$' })

/** The order of the items says nothing: each candidate gets another one. */
export const SpecSchema = Type.Object(
  {
    items: Type.Array(Type.Object({ id: Id, text: Type.String({ minLength: 1, maxLength: 500 }) }, closed), { maxItems: 20 }),
  },
  closed,
)

/** Ids of all items in the right order. */
export const KeySchema = Type.Object({ order: Type.Array(Id, { maxItems: 20 }) }, closed)

/** Place of each item by its id, from 1. Items without a place are left out. */
export const AnswerSchema = Type.Record(Id, Type.Integer({ minimum: 1, maximum: 20 }), {
  additionalProperties: false,
  maxProperties: 20,
})

export type Spec = Static<typeof SpecSchema>
export type Key = Static<typeof KeySchema>
export type Answer = Static<typeof AnswerSchema>
