import { createHash, randomUUID } from 'node:crypto'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { type Answer, doOnce, doRepeatable } from '../../../domain/concurrency/do-once.ts'
import type { Context } from '../../../domain/context.ts'
import { isUuid } from '../../../domain/values/uuid.ts'
import { type Html, html } from '../../../html/html.ts'
import { type Form, refuseForm, valuesOf } from './forms.ts'
import { type Page, render, sendPage } from './layout.ts'

/** Makes a form one that is done once, however often its button is pressed: its page, as it was sent, names it. */
export const onceField = (): Html => html`<input type="hidden" name="once" value="${randomUUID()}">`

type Options = {
  /** Does it, writing through the context it is given. @returns the address to go on to, or a page that can be shown only now. */
  work: (ctx: Context, values: URLSearchParams) => Promise<string | Page>
  page: (form: Form) => Page | Promise<Page>
  /** All that the form held as it came, where its values are others by now. */
  sent?: unknown
  /** True for work in many transactions of its own that does nothing when repeated: it is not held together by one long transaction. */
  isRepeatable?: boolean
}

/**
 * Does what a form with a {@link onceField} asks for, as submit does. The same form with the same in it, within a day, is answered what the
 * first was: an address to go on to, or the page, which may show a secret. A form that was gone back to and changed is another.
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

type Asked = Pick<Options, 'work' | 'sent' | 'isRepeatable'>

async function answerOnce(
  request: FastifyRequest,
  values: URLSearchParams,
  { work, sent, isRepeatable }: Asked,
): Promise<Answer> {
  const { ctx, signedIn, originalUrl } = request
  const answer = async (ctx: Context): Promise<Answer> => {
    const next = await work(ctx, values)
    if (typeof next === 'string') return { code: 303, text: next }
    return {
      code: 200,
      text: await render({ ctx: { ...ctx, onGone: request.ctx.onGone }, signedIn, originalUrl }, next),
      isSecret: true,
    }
  }
  if (!isUuid(values.get('once') ?? '')) return answer(ctx)
  // By the actor with their roles: who has other ones now may not see what was shown.
  const fingerprint = createHash('sha256')
    .update(JSON.stringify([ctx.actor, originalUrl, sent]))
    .digest()
  // The space keeps it apart from the keys that clients choose.
  const run = isRepeatable ? doRepeatable : doOnce
  return run(ctx, { key: `form ${fingerprint.toString('base64url')}`, fingerprint: new Uint8Array(fingerprint) }, answer)
}
