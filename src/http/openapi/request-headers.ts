import { Type } from '@sinclair/typebox'
import type { Components } from './components.ts'
import { describeHeaders, STANDARD_HEADERS } from './headers.ts'

export const IfNoneMatch = Type.Object({
  'If-None-Match': Type.Optional(
    Type.String({
      description:
        'The `ETag` of an earlier answer. If the answer is still the same, the service sends 304 without a body. A 304 counts against the rate limit like any answer.',
    }),
  ),
})

export const describeNotModified = (components: Components): object =>
  components.put('responses', 'NotModified', {
    description: 'The client has the newest answer',
    headers: describeHeaders([...STANDARD_HEADERS, 'ETag'], components),
  })

/** RFC 7240. */
export const PreferHeader = Type.Object({
  Prefer: Type.Optional(
    Type.String({
      description: '`handling=strict`: unknown fields and parameters are answered with 400 instead of being ignored',
    }),
  ),
})
