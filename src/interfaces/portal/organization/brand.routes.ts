import type { FastifyInstance, FastifyRequest } from 'fastify'
import { changeColors, changeLogo, findColorIssues, readBrand, removeLogo, tidyColors } from '../../../domain/brand/brand.ts'
import { MAX_PICTURE_BYTES } from '../../../domain/limits.ts'
import { readLetterhead, readMailTemplate, withStandIn } from '../../../domain/mails/mail-templates.ts'
import type { Brand } from '../../../domain/ports/brand.ts'
import { brandStylesheet } from '../../../html/brand.ts'
import { emptyForm, type Form, readFields, readSeen, submit } from '../kit/forms.ts'
import { portalHeaders } from '../kit/headers.ts'
import { pathOf, show } from '../kit/layout.ts'
import { queryOf } from '../kit/paging.ts'
import { readUploads } from '../kit/uploads.ts'
import { requireRight } from '../sign-in/turn-away.ts'
import { BRAND_SETTINGS, brandPage, framedHead } from './brand.page.ts'
import { FRAME_POLICY, type PreviewText } from './words.routes.ts'

const POLICY = 'content-security-policy'
/** The page's script draws a picture that was chosen, which may be of any kind, as PNG. */
const DRAWS = portalHeaders[POLICY].replace("img-src 'self'", "img-src 'self' blob:")
/** Of the frame that holds a page's head, with its stylesheet and fonts: nothing runs in it. */
const HEAD_POLICY =
  "sandbox allow-same-origin; default-src 'none'; style-src 'self' 'unsafe-inline'; font-src 'self'; img-src 'self'; frame-ancestors 'self'"
/** Characters of what is typed. */
const MOST_TYPED = 4 * 1024

export function brandRoutes(app: FastifyInstance, previewText: PreviewText): void {
  app.register(async (scope) => {
    // Before anything is read.
    requireRight(scope, 'manage_settings')
    // Of a picture that is too large for a logo it is said so in the form, up to that of a photo.
    readUploads(scope, 'logo', MOST_TYPED)

    const page = async ({ ctx }: FastifyRequest, form: Form, done = '') => {
      const brand = await readBrand(ctx)
      return brandPage(form, { ctx, brand, shown: withTyped(brand, form.values), done })
    }
    const saved = ({ ctx }: FastifyRequest): string => `${pathOf(ctx, BRAND_SETTINGS)}?done=saved`
    const draws = async (_request: unknown, reply: { header: (name: string, value: string) => unknown }) => {
      reply.header(POLICY, DRAWS)
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
      const organization = withTyped(stored, query)
      reply.type('text/html; charset=utf-8')
      if (query.get('part') !== 'mail')
        return reply.header(POLICY, HEAD_POLICY).send(framedHead(organization, scheme, brandStylesheet(organization)))
      const language = ctx.deps.languages.codes[0] ?? 'en'
      const place = { kind: 'invitation', assessmentId: null, language } as const
      const text = await withStandIn(ctx, place, await readMailTemplate(ctx, place))
      const asked = { organization, zone, invitationText: invitationText ?? '', scheme, who: 'plain', assessment: null } as const
      return reply.header(POLICY, FRAME_POLICY).send(previewText({ ...asked, kind: place.kind, ...text }).html)
    })
  })
}

const readColors = (values: URLSearchParams) => readFields(values, 'primaryColor', 'backgroundColor')
const hasTyped = (values: URLSearchParams): boolean => values.has('primaryColor') || values.has('backgroundColor')

/** With the colours that were typed, where there are any; what is no colour is none. */
const withTyped = <Shown extends Brand>(brand: Shown, values: URLSearchParams): Shown => {
  if (!hasTyped(values)) return brand
  const colors = readColors(values)
  return { ...brand, ...(findColorIssues(colors).length === 0 && tidyColors(colors)) }
}
