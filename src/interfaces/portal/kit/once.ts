import { createHash, randomUUID } from 'node:crypto'
import type { FastifyReply, FastifyRequest } from 'fastify'
import {
  type StoredResponse,
  withIdempotencyKey,
  withIdempotencyKeyForLongWork,
} from '../../../domain/concurrency/idempotency.ts'
import type { Context } from '../../../domain/context.ts'
import { isUuid } from '../../../domain/text/uuid.ts'
import { type Html, html } from '../../../html/html.ts'
import { type Form, refuseForm, valuesOf } from './forms.ts'
import { type Page, render, sendPage } from './layout.ts'

/** Idempotency key of a form: pressing its button repeatedly acts once. */
export const onceField = (): Html => html`<input type="hidden" name="once" value="${randomUUID()}">`

type Options = {
  /** Does the work with the given context. @returns the address to redirect to, or a page that can be shown only now. */
  work: (ctx: Context, values: URLSearchParams) => Promise<string | Page>
  page: (form: Form) => Page | Promise<Page>
  /** The form as it was sent, if its values have changed since. */
  sent?: unknown
  /** True for work in several transactions that does nothing when repeated: it is not wrapped in one long transaction. */
  isRepeatable?: boolean
}

/**
 * Handles a form with a {@link onceField}. For a day the same form with the same values gets the first response: a redirect, or the page,
 * which may show a secret. Changed values make it a different form.
 */
export async function submitOnce(
  request: FastifyRequest,
  reply: FastifyReply,
  { work, page, sent, isRepeatable = false }: Options,
): Promise<FastifyReply> {
  const values = valuesOf(request)
  try {
    const { code, text } = await answerOnce(request, values, { work, sent: sent ?? [...values], isRepeatable })
    return code === 303 ? reply.redirect(text, 303) : sendPage(reply, text)
  } catch (error) {
    return refuseForm(request, reply, { error, values, page })
  }
}

type OnceRequest = Pick<Options, 'work' | 'sent' | 'isRepeatable'>

async function answerOnce(
  request: FastifyRequest,
  values: URLSearchParams,
  { work, sent, isRepeatable }: OnceRequest,
): Promise<StoredResponse> {
  const { ctx, signedIn, originalUrl } = request
  const answer = async (ctx: Context): Promise<StoredResponse> => {
    const next = await work(ctx, values)
    if (typeof next === 'string') return { code: 303, text: next }
    return {
      code: 200,
      text: await render({ ctx: { ...ctx, signal: request.ctx.signal }, signedIn, originalUrl }, next),
      isSecret: true,
    }
  }
  if (!isUuid(values.get('once') ?? '')) return answer(ctx)
  // Includes the actor's roles: with other ones, they may no longer see the first response.
  const fingerprint = createHash('sha256')
    .update(JSON.stringify([ctx.actor, originalUrl, sent]))
    .digest()
  // The space keeps it apart from keys that API clients choose.
  const run = isRepeatable ? withIdempotencyKeyForLongWork : withIdempotencyKey
  return run(ctx, { key: `form ${fingerprint.toString('base64url')}`, fingerprint: new Uint8Array(fingerprint) }, answer)
}
