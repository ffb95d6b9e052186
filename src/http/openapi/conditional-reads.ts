import { Type } from '@sinclair/typebox'
import type { Components } from './components.ts'
import { COUNTED, showHeaders } from './headers.ts'

/** The header by which clients ask for an answer only if it is another than theirs. */
export const IfNoneMatch = Type.Object({
  'If-None-Match': Type.Optional(
    Type.String({
      description:
        'The `ETag` of an answer that the client has: while it would be sent the same, it is told so by a 304 without a body, which counts against the rate limit as any answer does.',
    }),
  ),
})

/** What who has the newest answer is told. */
export const describeNotModified = (components: Components): object =>
  components.put('responses', 'NotModified', {
    description: 'What the client has is what would be sent',
    headers: showHeaders([...COUNTED, 'ETag'], components),
  })
