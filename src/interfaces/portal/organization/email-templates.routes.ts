import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { Context } from '../../../domain/context.ts'
import { requireAssessment } from '../../../domain/loaders/require-assessment.ts'
import { TEMPLATE_KINDS, type TemplateKind } from '../../../domain/mails/candidate-mails.ts'
import {
  findFallbackText,
  findTemplateIssues,
  readLetterhead,
  readMailTemplate,
  readMainLanguage,
  saveMailTemplate,
  saveMainLanguage,
  tidyTemplate,
  withFallbackText,
} from '../../../domain/mails/mail-templates.ts'
import { EXAMPLE_NAMES, type ExampleName, type TestedText } from '../../../domain/mails/member-emails.ts'
import type { TextPlace, WrittenText } from '../../../domain/mails/template-places.ts'
import { testMailText } from '../../../domain/organization/test-mail-text.ts'
import type { Brand } from '../../../domain/ports/brand.ts'
import type { Scheme } from '../../../html/brand.ts'
import { html, toText } from '../../../html/html.ts'
import { emptyForm, type Form, readFields, submit, valuesOf } from '../kit/forms.ts'
import { formatIssue } from '../kit/issue-messages.ts'
import { pathOf, show } from '../kit/layout.ts'
import { submitOnce } from '../kit/once.ts'
import { queryOf } from '../kit/paging.ts'
import { emailTemplatePage, queryFor } from './email-templates.page.ts'

/**
 * Sample data of a preview.
 *
 * @property scheme color scheme; undefined for the browser's.
 */
type PreviewInput = TestedText & { organization: Brand; zone: string; invitationText: string; scheme?: Scheme }
/** Renders a sample mail as text and HTML. */
export type PreviewText = (input: PreviewInput) => {
  subject: string
  text: string
  html: string
}

/** The service's own text of an email, as a template. */
type DefaultText = (kind: TemplateKind, language: string) => WrittenText

/** Texts of emails, which the portal shows and does not write. */
export type MailTextSource = { previewText: PreviewText; defaultText: DefaultText }

type Route = { Params: { assessmentId?: string } }
type Request = FastifyRequest<Route>

/** Policy of the frame with a mail: no scripts, and nothing is loaded except the logo. */
export const FRAME_POLICY = "sandbox; default-src 'none'; style-src 'unsafe-inline'; img-src 'self'; frame-ancestors 'self'"
const NOTICES = new Map([
  ['saved', 'The text is saved. Emails that are sent from now on have it.'],
  ['main', 'Saved.'],
])

/** Email templates of an organization and, under the same addresses, of one assessment. */
export function emailTemplateRoutes(app: FastifyInstance, texts: MailTextSource): void {
  for (const address of ['/settings/words', '/assessments/:assessmentId/words']) addRoutes(app, address, texts)
  app.post<Route>('/settings/words/main', (request, reply) =>
    submit(request, reply, {
      page: (form) => page(request, form, texts, { query: form.values }),
      async work(values) {
        await saveMainLanguage(request.ctx, readFields(values, 'mainLanguage').mainLanguage || null)
        return `${homeOf(request)}${queryFor(placeIn(request, values))}&done=main`
      },
    }),
  )
}

function addRoutes(app: FastifyInstance, address: string, texts: MailTextSource): void {
  app.get<Route>(address, async (request, reply) => {
    const query = queryOf(request)
    return show(request, reply, await page(request, emptyForm, texts, { query, notice: NOTICES.get(query.get('done') ?? '') }))
  })

  app.post<Route>(address, (request, reply) =>
    submit(request, reply, {
      page: (form) => page(request, form, texts, { query: form.values }),
      async work(values) {
        const place = placeIn(request, values)
        await saveMailTemplate(request.ctx, place, {
          ...(await readText(request.ctx, place, values)),
          seen: Number(values.get('seen')),
        })
        return `${homeOf(request)}${queryFor(place)}&done=saved`
      },
    }),
  )

  app.get<Route>(`${address}/preview`, async (request, reply) => {
    const place = placeIn(request, queryOf(request))
    return sendPreview(request, reply, { place, who: 'plain', template: await readMailTemplate(request.ctx, place) })
  })

  app.post<Route>(`${address}/preview`, async (request, reply) => {
    const values = valuesOf(request)
    const asText = values.get('part') === 'text'
    const place = placeIn(request, values)
    const typedText = await readText(request.ctx, place, values)
    return sendPreview(request, reply, { place, who: exampleNameIn(values), template: typedText, asText })
  })

  // The form is shown again with what was typed, which may not be saved yet.
  app.post<Route>(`${address}/test`, (request, reply) =>
    submitOnce(request, reply, {
      page: (form) => page(request, form, texts, { query: form.values }),
      async work(ctx, values) {
        const place = placeIn(request, values)
        const address = await testMailText(ctx, place, { who: exampleNameIn(values), ...(await readText(ctx, place, values)) })
        return page(request, { values, issues: [] }, texts, {
          query: values,
          notice: `A test is on its way to ${address}. Nothing is saved.`,
        })
      },
    }),
  )

  /** Typed text; empty if it equals the default, so that the default stays in use. */
  async function readText(ctx: Context, place: TextPlace, values: URLSearchParams): Promise<WrittenText> {
    const typedText = readFields(values, 'subject', 'body')
    const [typed, initial] = [tidyTemplate(typedText), await findDefault(ctx, place, texts)]
    return typed.subject === initial.subject && typed.body === initial.body ? { subject: '', body: '' } : typedText
  }

  async function sendPreview(
    { ctx }: Request,
    reply: FastifyReply,
    { place, who, template, asText = false }: { place: TextPlace; who: ExampleName; template: WrittenText; asText?: boolean },
  ): Promise<FastifyReply> {
    const { timeZone, invitationText, ...organization } = await readLetterhead(ctx)
    const { kind, assessmentId } = place
    const assessment = assessmentId === null ? null : await requireAssessment(ctx, assessmentId)
    const text = tidyTemplate(template)
    const issues = findTemplateIssues(kind, text)
    const example = { organization, zone: timeZone, invitationText: invitationText ?? '', kind, assessment, who }
    const mail = issues.length === 0 ? texts.previewText({ ...example, ...(await withFallbackText(ctx, place, text)) }) : null
    const content = mail
      ? asText
        ? framed(html`<pre>${`Subject: ${mail.subject}\n\n${mail.text}`}</pre>`)
        : mail.html
      : framed(html`<p>${issues.map(formatIssue).join(' ')}</p>`)
    return reply.header('content-security-policy', FRAME_POLICY).type('text/html; charset=utf-8').send(content)
  }
}

/** The text that emails have where nothing is written. */
async function findDefault(ctx: Context, place: TextPlace, { defaultText }: MailTextSource): Promise<WrittenText> {
  return tidyTemplate((await findFallbackText(ctx, place)) ?? defaultText(place.kind, place.language))
}

type PageOptions = { query: URLSearchParams; notice?: string | undefined }

async function page(request: Request, form: Form, texts: MailTextSource, { query, notice }: PageOptions) {
  const { ctx } = request
  const place = placeIn(request, query)
  const template = await readMailTemplate(ctx, place)
  const { assessmentId: id } = place
  return emailTemplatePage(form, {
    ctx,
    home: homeOf(request),
    place,
    template,
    initial: template.body === '' ? await findDefault(ctx, place, texts) : template,
    assessment: id === null ? null : { id, name: await requireAssessment(ctx, id) },
    standIn: await findFallbackText(ctx, place),
    ...(await readMainLanguage(ctx)),
    notice,
  })
}

const framed = (body: ReturnType<typeof html>): string =>
  toText(html`<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>Preview</title><style>pre{white-space:pre-wrap;overflow-wrap:break-word}</style></head><body>${body}</body></html>`)

const homeOf = ({ ctx, params: { assessmentId } }: Request): string =>
  pathOf(ctx, assessmentId === undefined ? 'settings/words' : `assessments/${assessmentId}/words`)

/** The text named by the address; the first one if it is invalid. */
function placeIn({ ctx, params }: Request, query: URLSearchParams): TextPlace {
  const { codes } = ctx.deps.languages
  return {
    kind: TEMPLATE_KINDS.find((kind) => kind === query.get('kind')) ?? 'invitation',
    language: codes.find((code) => code === query.get('language')) ?? codes[0] ?? 'en',
    assessmentId: params.assessmentId?.toLowerCase() ?? null, // texts are stored by id in lower case
  }
}

const exampleNameIn = (values: URLSearchParams): ExampleName =>
  EXAMPLE_NAMES.find((name) => name === values.get('who')) ?? 'plain'
