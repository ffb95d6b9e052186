import { Type } from '@sinclair/typebox'

/** RFC 7240. */
export const PreferHeader = Type.Object({
  Prefer: Type.Optional(
    Type.String({ description: '`handling=strict`: unknown fields and parameters are answered with 400 instead of being ignored' }),
  ),
})
