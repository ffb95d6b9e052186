import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { Context } from '../../../domain/context.ts'
import { EXAMPLE_NAMES, type ExampleName, type TestedText } from '../../../domain/mails/member-emails.ts'
import {
  findStandIn,
  findTemplateIssues,
  readLetterhead,
  readMailTemplate,
  readMainLanguage,
  saveMailTemplate,
  saveMainLanguage,
  tidyTemplate,
  withStandIn,
} from '../../../domain/members/mail-templates.ts'
import { testMailText } from '../../../domain/members/test-mail-text.ts'
import { html, toText } from '../../../html/html.ts'
import { emptyForm, type Form, readFields, submit, valuesOf } from '../kit/forms.ts'
import { wordIssue } from '../kit/issue-words.ts'
import { pathOf, show } from '../kit/layout.ts'
import { submitOnce } from '../kit/once.ts'
import { queryOf } from '../kit/paging.ts'
import { wordsPage } from './words.page.ts'

/** Renders an invitation for nobody, in both parts. */
export type PreviewInvitation = (asked: TestedText & { organization: string; zone: string; invitationText: string }) => {
  subject: string
  text: string
  html: string
}

/** Of the frame that holds a mail: nothing runs in it, and nothing is loaded. */
const FRAME_POLICY = "sandbox; default-src 'none'; style-src 'unsafe-inline'; img-src 'self'; frame-ancestors 'self'"
const NOTICES = new Map([
  ['saved', 'The text is saved. Invitations that are sent from now on have it.'],
  ['main', 'Saved.'],
])

export function wordsRoutes(app: FastifyInstance, previewInvitation: PreviewInvitation): void {
  const page = async ({ ctx }: FastifyRequest, form: Form, asked: { language: string; notice?: string | undefined }) => {
    const language = languageIn(ctx, asked.language)
    const template = await readMailTemplate(ctx, language)
    const standIn = await findStandIn(ctx, language)
    return wordsPage(form, { ctx, language, template, standIn, ...(await readMainLanguage(ctx)), notice: asked.notice })
  }

  app.get('/settings/words', async (request, reply) => {
    const query = queryOf(request)
    const notice = NOTICES.get(query.get('done') ?? '')
    return show(request, reply, await page(request, emptyForm, { language: query.get('language') ?? '', notice }))
  })

  app.post('/settings/words', (request, reply) =>
    submit(request, reply, {
      page: (form) => page(request, form, { language: form.values.get('language') ?? '' }),
      async work(values) {
        const text = readFields(values, 'language', 'subject', 'body')
        await saveMailTemplate(request.ctx, { ...text, seen: Number(values.get('seen')) })
        return `${pathOf(request.ctx, 'settings/words')}?${new URLSearchParams({ language: text.language, done: 'saved' })}`
      },
    }),
  )

  app.post('/settings/words/main', (request, reply) =>
    submit(request, reply, {
      page: (form) => page(request, form, { language: form.values.get('language') ?? '' }),
      async work(values) {
        const { language, mainLanguage } = readFields(values, 'language', 'mainLanguage')
        await saveMainLanguage(request.ctx, mainLanguage || null)
        return `${pathOf(request.ctx, 'settings/words')}?${new URLSearchParams({ language, done: 'main' })}`
      },
    }),
  )

  app.get('/settings/words/preview', async (request, reply) => {
    const language = languageIn(request.ctx, queryOf(request).get('language') ?? '')
    return sendPreview(request, reply, { language, who: 'plain', ...(await readMailTemplate(request.ctx, language)) })
  })

  app.post('/settings/words/preview', async (request, reply) => {
    const values = valuesOf(request)
    return sendPreview(request, reply, { ...readText(request.ctx, values), asText: values.get('part') === 'text' })
  })

  // What was typed stays: it may not be saved yet.
  app.post('/settings/words/test', (request, reply) =>
    submitOnce(request, reply, {
      page: (form) => page(request, form, { language: form.values.get('language') ?? '' }),
      async work(ctx, values) {
        const text = readText(ctx, values)
        const notice = `A test is on its way to ${await testMailText(ctx, text)}. Nothing is saved.`
        return page(request, { values, issues: [] }, { language: text.language, notice })
      },
    }),
  )

  async function sendPreview(
    { ctx }: FastifyRequest,
    reply: FastifyReply,
    { asText = false, ...given }: TestedText & { asText?: boolean },
  ): Promise<FastifyReply> {
    const { name, timeZone, invitationText } = await readLetterhead(ctx)
    const text = { ...given, ...tidyTemplate(given) }
    const issues = findTemplateIssues(text)
    const letterhead = { organization: name, zone: timeZone, invitationText: invitationText ?? '' }
    const mail = issues.length === 0 ? previewInvitation({ ...letterhead, ...text, ...(await withStandIn(ctx, text)) }) : null
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

const languageIn = ({ deps }: Context, asked: string): string =>
  deps.languages.codes.find((code) => code === asked) ?? deps.languages.codes[0] ?? 'en'
const whoIn = (asked: string): ExampleName => EXAMPLE_NAMES.find((one) => one === asked) ?? 'plain'

/** What the form holds, for who the example is. */
function readText(ctx: Context, values: URLSearchParams): TestedText {
  const { language, who, ...text } = readFields(values, 'language', 'who', 'subject', 'body')
  return { language: languageIn(ctx, language), who: whoIn(who), ...text }
}
