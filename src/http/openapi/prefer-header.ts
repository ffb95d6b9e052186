import { Type } from '@sinclair/typebox'

/** The header by which a client asks for an error instead of having unknown names ignored (RFC 7240). */
export const PreferHeader = Type.Object({
  Prefer: Type.Optional(
    Type.String({ description: '`handling=strict`: a field or parameter that does not exist is a 400, and is not ignored' }),
  ),
})
