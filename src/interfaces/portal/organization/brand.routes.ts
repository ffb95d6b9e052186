import type { FastifyInstance, FastifyRequest } from 'fastify'
import { changeColors, changeLogo, findColorIssues, readBrand, removeLogo, tidyColors } from '../../../domain/brand/brand.ts'
import { MAX_PICTURE_BYTES } from '../../../domain/limits.ts'
import { readLetterhead, readMailTemplate, withFallbackText } from '../../../domain/mails/mail-templates.ts'
import type { Brand } from '../../../domain/ports/brand.ts'
import { brandStylesheet } from '../../../html/brand.ts'
import { emptyForm, type Form, readFields, readSeen, submit } from '../kit/forms.ts'
import { portalHeaders } from '../kit/headers.ts'
import { pathOf, show } from '../kit/layout.ts'
import { queryOf } from '../kit/paging.ts'
import { readUploads } from '../kit/uploads.ts'
import { requireRight } from '../sign-in/turn-away.ts'
import { BRAND_SETTINGS, brandPage, framedHead } from './brand.page.ts'
import { FRAME_POLICY, type PreviewText } from './email-templates.routes.ts'

const POLICY = 'content-security-policy'
/** The page's script reads the chosen picture from a blob URL and draws it as PNG. */
const DRAWING_POLICY = portalHeaders[POLICY].replace("img-src 'self'", "img-src 'self' blob:")
/** Policy of the frame with the preview: no scripts; only its stylesheet, fonts, and pictures. */
const HEAD_POLICY =
  "sandbox allow-same-origin; default-src 'none'; style-src 'self' 'unsafe-inline'; font-src 'self'; img-src 'self'; frame-ancestors 'self'"
/** Most characters of the text fields. */
const MOST_TYPED = 4 * 1024

export function brandRoutes(app: FastifyInstance, previewText: PreviewText): void {
  app.register(async (scope) => {
    // Checked before the body is read.
    requireRight(scope, 'manage_settings')
    // Files up to the size of a photo are read, so that the form can show the error for a logo that is too large.
    readUploads(scope, 'logo', MOST_TYPED)

    const page = async ({ ctx }: FastifyRequest, form: Form, done = '') => {
      const brand = await readBrand(ctx)
      return brandPage(form, { ctx, brand, shown: withTypedColors(brand, form.values), done })
    }
    const saved = ({ ctx }: FastifyRequest): string => `${pathOf(ctx, BRAND_SETTINGS)}?done=saved`
    const draws = async (_request: unknown, reply: { header: (name: string, value: string) => unknown }) => {
      reply.header(POLICY, DRAWING_POLICY)
    }

    scope.get('/settings/brand', { onRequest: draws }, async (request, reply) => {
      const query = queryOf(request)
      if (!hasTyped(query)) return show(request, reply, await page(request, emptyForm, query.get('done') ?? ''))
      const issues = findColorIssues(readColors(query))
      return show(request, reply, await page(request, { values: query, issues }), issues.length > 0 ? 422 : 200)
    })

    scope.post('/settings/brand', { onRequest: draws }, (request, reply) =>
      submit(request, reply, {
        page: (form) => page(request, form),
        async work(values) {
          await changeColors(request.ctx, readColors(values), readSeen(values))
          return saved(request)
        },
      }),
    )

    scope.post('/settings/brand/logo', { onRequest: draws, bodyLimit: MAX_PICTURE_BYTES + MOST_TYPED }, (request, reply) =>
      submit(request, reply, {
        page: (form) => page(request, { ...emptyForm, issues: form.issues }),
        async work() {
          await changeLogo(request.ctx, Buffer.from(request.upload?.bytes ?? ''))
          return saved(request)
        },
      }),
    )

    scope.post('/settings/brand/logo/remove', async (request, reply) => {
      await removeLogo(request.ctx)
      return reply.redirect(saved(request), 303)
    })

    scope.get('/settings/brand/preview', async (request, reply) => {
      const { ctx } = request
      const query = queryOf(request)
      const scheme = query.get('scheme') === 'dark' ? 'dark' : 'light'
      const { timeZone: zone, invitationText, ...stored } = await readLetterhead(ctx)
      const organization = withTypedColors(stored, query)
      reply.type('text/html; charset=utf-8')
      if (query.get('part') !== 'mail')
        return reply.header(POLICY, HEAD_POLICY).send(framedHead(organization, scheme, brandStylesheet(organization)))
      const language = ctx.deps.languages.codes[0] ?? 'en'
      const place = { kind: 'invitation', assessmentId: null, language } as const
      const text = await withFallbackText(ctx, place, await readMailTemplate(ctx, place))
      const example = {
        organization,
        zone,
        invitationText: invitationText ?? '',
        scheme,
        who: 'plain',
        assessment: null,
      } as const
      return reply.header(POLICY, FRAME_POLICY).send(previewText({ ...example, kind: place.kind, ...text }).html)
    })
  })
}

const readColors = (values: URLSearchParams) => readFields(values, 'primaryColor', 'backgroundColor')
const hasTyped = (values: URLSearchParams): boolean => values.has('primaryColor') || values.has('backgroundColor')

/** The brand with the typed colors, if there are any; invalid ones are ignored. */
const withTypedColors = <Shown extends Brand>(brand: Shown, values: URLSearchParams): Shown => {
  if (!hasTyped(values)) return brand
  const colors = readColors(values)
  return { ...brand, ...(findColorIssues(colors).length === 0 && tidyColors(colors)) }
}
