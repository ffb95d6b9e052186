import { Type } from '@sinclair/typebox'
import type { Components } from './components.ts'
import { COUNTED, showHeaders } from './headers.ts'

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
    headers: showHeaders([...COUNTED, 'ETag'], components),
  })
