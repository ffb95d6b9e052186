import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import {
  findTemplateIssues,
  type MailTemplate,
  readLetterhead,
  readMailTemplate,
  saveMailTemplate,
  tidyTemplate,
} from '../../../domain/members/mail-templates.ts'
import type { Brand } from '../../../domain/values/brand.ts'
import type { Scheme } from '../../../html/brand.ts'
import { html, toText } from '../../../html/html.ts'
import { emptyForm, type Form, submit, valuesOf } from '../kit/forms.ts'
import { wordIssue } from '../kit/issue-words.ts'
import { pathOf, show } from '../kit/layout.ts'
import { queryOf } from '../kit/paging.ts'
import { PREVIEWED, type Previewed, wordsPage } from './words.page.ts'

type Asked = {
  organization: Brand
  language: string
  zone: string
  invitationText: string
  template: Pick<MailTemplate, 'subject' | 'body'> | null
  who: Previewed
  /** As which of them it is shown; undefined: as the reader's browser prefers. */
  scheme?: Scheme
}
/** Renders an invitation for nobody, in both parts. */
export type PreviewInvitation = (asked: Asked) => { subject: string; text: string; html: string }

/** Of the frame that holds a mail: nothing runs in it, and nothing is loaded but a logo. */
export const FRAME_POLICY = "sandbox; default-src 'none'; style-src 'unsafe-inline'; img-src 'self'; frame-ancestors 'self'"

export function wordsRoutes(app: FastifyInstance, previewInvitation: PreviewInvitation): void {
  const page = async ({ ctx }: FastifyRequest, form: Form, asked: { language: string; done?: string }) => {
    const language = languageIn(ctx.deps.languages.codes, asked.language)
    return wordsPage(form, { ctx, language, template: await readMailTemplate(ctx, language), done: asked.done ?? '' })
  }

  app.get('/settings/words', async (request, reply) => {
    const query = queryOf(request)
    return show(
      request,
      reply,
      await page(request, emptyForm, { language: query.get('language') ?? '', done: query.get('done') ?? '' }),
    )
  })

  app.post('/settings/words', (request, reply) =>
    submit(request, reply, {
      page: (form) => page(request, form, { language: form.values.get('language') ?? '' }),
      async work(values) {
        const language = values.get('language') ?? ''
        const text = { subject: values.get('subject') ?? '', body: values.get('body') ?? '' }
        await saveMailTemplate(request.ctx, { language, seen: Number(values.get('seen')), ...text })
        return `${pathOf(request.ctx, 'settings/words')}?language=${language}&done=saved`
      },
    }),
  )

  app.get('/settings/words/preview', async (request, reply) => {
    const language = languageIn(request.ctx.deps.languages.codes, queryOf(request).get('language') ?? '')
    return sendPreview(request, reply, { language, who: 'plain', ...(await readMailTemplate(request.ctx, language)) })
  })

  app.post('/settings/words/preview', async (request, reply) => {
    const values = valuesOf(request)
    const language = languageIn(request.ctx.deps.languages.codes, values.get('language') ?? '')
    const text = tidyTemplate({ subject: values.get('subject') ?? '', body: values.get('body') ?? '' })
    const who = whoIn(values.get('who') ?? '')
    return sendPreview(request, reply, { language, who, asText: values.get('part') === 'text', ...text })
  })

  async function sendPreview(
    { ctx }: FastifyRequest,
    reply: FastifyReply,
    {
      language,
      who,
      asText = false,
      subject,
      body,
    }: { language: string; who: Previewed; asText?: boolean; subject: string; body: string },
  ): Promise<FastifyReply> {
    const { timeZone, invitationText, ...organization } = await readLetterhead(ctx)
    const issues = findTemplateIssues({ subject, body })
    const template = body === '' ? null : { subject, body }
    const asked = { organization, language, zone: timeZone, invitationText: invitationText ?? '', template, who }
    const mail = issues.length === 0 ? previewInvitation(asked) : null
    const page = mail
      ? asText
        ? framed(html`<pre>${`Subject: ${mail.subject}\n\n${mail.text}`}</pre>`)
        : mail.html
      : framed(html`<p>${issues.map(wordIssue).join(' ')}</p>`)
    return reply.header('content-security-policy', FRAME_POLICY).type('text/html; charset=utf-8').send(page)
  }
}

const framed = (body: ReturnType<typeof html>): string =>
  toText(html`<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>Preview</title><style>pre{white-space:pre-wrap;overflow-wrap:break-word}</style></head><body>${body}</body></html>`)

const languageIn = (codes: readonly string[], asked: string): string => codes.find((code) => code === asked) ?? codes[0] ?? 'en'
const whoIn = (asked: string): Previewed => (Object.hasOwn(PREVIEWED, asked) ? (asked as Previewed) : 'plain')
