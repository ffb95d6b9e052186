import { type Static, type TSchema, Type } from '@sinclair/typebox'

/** A named schema (one with an `$id`, added to the app) by reference: the document shows it once, under its name. */
export const ref = <T extends TSchema>(schema: T) => Type.Unsafe<Static<T>>({ $ref: `${schema.$id}#` })
