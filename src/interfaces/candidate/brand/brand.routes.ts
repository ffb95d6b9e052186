import { buffer } from 'node:stream/consumers'
import type { FastifyInstance, FastifyReply } from 'fastify'
import { type Asset, readAsset } from '../../../domain/assets/assets.ts'
import { findBrand, findLogo } from '../../../domain/brand/find-brand.ts'
import type { ServiceContext } from '../../../domain/context.ts'
import { DomainError } from '../../../domain/errors.ts'
import { drawIcon, readIconFile, stylesheetOf } from '../../../http/pages/brand.ts'
import { sendLogo } from '../../../http/sending/send-media.ts'

type Route = { Params: { organizationId: string; file: string } }

/** An organization's stylesheet, icon, and logo, which mails show, too. Their addresses contain their hashes. */
export function brandRoutes(app: FastifyInstance, { system }: { system: ServiceContext }): void {
  app.route<Route>({
    method: ['GET', 'HEAD'],
    url: '/brand/:organizationId/:file',
    async handler(request, reply) {
      const { organizationId, file } = request.params
      const icon = readIconFile(file)
      if (icon) return sendIcon(system, reply, await findLogo(system, organizationId, icon.hash), icon.plate)
      if (!file.endsWith('.css')) return sendLogo(system, request, reply, await findLogo(system, organizationId, file))
      const stylesheet = stylesheetOf(await findBrand(system, organizationId))
      if (!stylesheet) throw new DomainError('media_not_found')
      // While the release changes, a page and its stylesheet may be of two: it is shown, and not kept under the other's hash.
      const isAsked = file === stylesheet.file
      reply.header('cache-control', isAsked ? 'public, max-age=31536000, immutable' : 'no-store')
      return reply.type('text/css; charset=utf-8').send(stylesheet.content)
    },
  })
}

/** The icon that is made of a logo, to be kept for good like it. Opened by itself it is a picture and nothing else. */
async function sendIcon(system: ServiceContext, reply: FastifyReply, logo: Asset, plate: string): Promise<FastifyReply> {
  const content = await buffer(await readAsset(system, logo))
  reply.headers({
    'cache-control': 'public, max-age=31536000, immutable',
    'content-security-policy': "default-src 'none'; img-src data:; sandbox",
    'x-content-type-options': 'nosniff',
  })
  return reply.type('image/svg+xml').send(drawIcon(plate, { contentType: logo.contentType, content }))
}
