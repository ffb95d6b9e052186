import { createHash } from 'node:crypto'
import { Type } from '@sinclair/typebox'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { modeOf } from '../../domain/authorization/author.ts'
import { withIdempotencyKey } from '../../domain/concurrency/idempotency.ts'
import type { Context } from '../../domain/context.ts'
import { DomainError } from '../../domain/errors.ts'
import { requestOrigin } from '../addresses/address.ts'

declare module 'fastify' {
  interface FastifyRequest {
    /** The key and fingerprint that identify a retry; null without the header. */
    idempotency: { key: string; fingerprint: Uint8Array<ArrayBuffer> } | null
  }
}

const HEADER = 'idempotency-key'
const KEY_PATTERN = '^[\\x21-\\x7e]{1,255}$'

/** Header schema for the documents. It extends the original contract. */
export const IdempotencyHeaders = Type.Object({
  'Idempotency-Key': Type.Optional(
    Type.String({
      pattern: KEY_PATTERN,
      description:
        'Makes retries safe: for 24 hours, repeating a request with the same key returns the first answer with `Idempotent-Replayed: true`, and changes nothing.',
    }),
  ),
})

/**
 * Answer of a handler before serialization. With `isSecret`, the copy that is stored for a retry is encrypted, and the answer has
 * `Cache-Control: no-store`.
 */
export type HandlerAnswer<Body extends object> = { status: number; body: Body; isSecret?: boolean }

/**
 * Computes the fingerprint of each request with an Idempotency-Key before validation fills in defaults and converts numbers.
 */
export function fingerprintRequests(app: FastifyInstance): void {
  app.decorateRequest('idempotency', null)
  app.addHook('preValidation', (request, _reply, done) => {
    const key = request.headers[HEADER]?.toString()
    if (key !== undefined) request.idempotency = { key, fingerprint: fingerprint(request) }
    done()
  })
}

/**
 * Answers a POST. With an Idempotency-Key the work runs once, and retries get the stored answer.
 *
 * @param work must write through its context only.
 * @param locate path of the created resource for `Location`.
 * @param once withIdempotencyKey, or withIdempotencyKeyForLongWork for work that takes longer than a transaction may.
 * @throws DomainError invalid for a malformed key, idempotency_key_reused; HttpError malformed_request for an invalid `Host` if `locate` is
 *   given; errors of the work.
 */
export async function answerIdempotently<Body extends object>(
  request: FastifyRequest,
  reply: FastifyReply,
  work: (ctx: Context) => Promise<HandlerAnswer<Body>>,
  locate?: (body: Body) => string,
  once: typeof withIdempotencyKey = withIdempotencyKey,
): Promise<FastifyReply> {
  const origin = locate && requestOrigin(request) // may throw, so it comes before the work
  const showLocation = (body: Body) => {
    if (locate) reply.header('location', new URL(locate(body), origin).href)
  }
  const showSecret = (isSecret = false) => {
    if (isSecret) reply.header('cache-control', 'no-store')
  }
  const { idempotency } = request
  if (!idempotency) {
    const { status, body, isSecret } = await work(request.ctx)
    showLocation(body)
    showSecret(isSecret)
    return reply.code(status).send(body)
  }
  if (!new RegExp(KEY_PATTERN).test(idempotency.key))
    throw new DomainError('invalid', { issues: [{ field: 'Idempotency-Key', rule: 'idempotency-key' }] })
  const answer = await once(request.ctx, idempotency, async (ctx) => {
    const { status, body, isSecret = false } = await work(ctx)
    // The route's own serializer makes a replay identical to the first answer.
    return { code: status, text: String(reply.code(status).serialize(body)), isSecret }
  })
  if (answer.replayed) reply.header('idempotent-replayed', 'true')
  showLocation(JSON.parse(answer.text))
  showSecret(answer.isSecret)
  return reply
    .code(answer.code)
    .type('application/json; charset=utf-8')
    .serializer((text: string) => text)
    .send(answer.text)
}

const fingerprint = ({ ctx, method, url, body }: FastifyRequest): Uint8Array<ArrayBuffer> =>
  new Uint8Array(
    createHash('sha256')
      .update(canonicalJson([modeOf(ctx), method, url, body]))
      .digest(),
  )

/** JSON with sorted members at every depth. */
function canonicalJson(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(canonicalJson).join(',')}]`
  if (typeof value === 'object' && value !== null) {
    const members = Object.entries(value).map(([name, member]) => `${JSON.stringify(name)}:${canonicalJson(member)}`)
    return `{${members.sort().join(',')}}`
  }
  // JSON.stringify would turn Infinity, the value of a too large number, into null.
  return typeof value === 'number' ? String(value) : JSON.stringify(value)
}
