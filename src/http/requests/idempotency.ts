import { createHash } from 'node:crypto'
import { Type } from '@sinclair/typebox'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { modeOf } from '../../domain/authorization/author.ts'
import { doOnce } from '../../domain/concurrency/do-once.ts'
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

/** Schema of the header, for the documents; beyond the original ones. */
export const IdempotencyHeaders = Type.Object({
  'Idempotency-Key': Type.Optional(
    Type.String({
      pattern: KEY_PATTERN,
      description:
        'Makes a retry safe: for 24 hours the same key with the same request is answered as the first time, with `Idempotent-Replayed: true`, and nothing is done again.',
    }),
  ),
})

/**
 * What a handler answers with: presented, not yet serialized. A body that shows a secret is encrypted where it is kept for a
 * retry, and kept by nobody on the way.
 */
export type Answer<Body extends object> = { status: number; body: Body; isSecret?: boolean }

/**
 * Computes the fingerprint of each request with an Idempotency-Key from what the client sent, before validation fills in defaults and
 * converts numbers.
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
 * Answers a POST, once for each Idempotency-Key when the client sends one.
 *
 * @param work does all its writing through the context it is given.
 * @param locate for a 201: path of the created resource, for `Location`.
 * @param once doOnce or, of work that takes longer than a transaction may, doRepeatable.
 * @throws DomainError invalid for a malformed key, idempotency_key_reused; HttpError malformed_request when there is something to
 *   locate and the client has not said where it found the service; whatever the work throws.
 */
export async function answerOnce<Body extends object>(
  request: FastifyRequest,
  reply: FastifyReply,
  work: (ctx: Context) => Promise<Answer<Body>>,
  locate?: (body: Body) => string,
  once: typeof doOnce = doOnce,
): Promise<FastifyReply> {
  const origin = locate && requestOrigin(request) // before the work, which must not be lost for the lack of it
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
    // By the route's own serializer, so that a replay is the first answer to the byte.
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

/** JSON whose objects have their members in one order, at every depth. */
function canonicalJson(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(canonicalJson).join(',')}]`
  if (typeof value === 'object' && value !== null) {
    const members = Object.entries(value).map(([name, member]) => `${JSON.stringify(name)}:${canonicalJson(member)}`)
    return `{${members.sort().join(',')}}`
  }
  // A number too large to be one is infinite here, which JSON would make null.
  return typeof value === 'number' ? String(value) : JSON.stringify(value)
}
