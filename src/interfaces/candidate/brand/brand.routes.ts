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
      // During an upgrade, a page may ask for a stylesheet of another release. It gets the current one, which is not cached under that hash.
      const isAsked = file === stylesheet.file
      reply.header('cache-control', isAsked ? 'public, max-age=31536000, immutable' : 'no-store')
      return reply.type('text/css; charset=utf-8').send(stylesheet.content)
    },
  })
}

/** Icon made from the logo, and cached for good like it. The policy makes a directly opened icon inert. */
async function sendIcon(system: ServiceContext, reply: FastifyReply, logo: Asset, plate: string): Promise<FastifyReply> {
  const content = await buffer(await readAsset(system, logo))
  reply.headers({
    'cache-control': 'public, max-age=31536000, immutable',
    'content-security-policy': "default-src 'none'; img-src data:; sandbox",
    'x-content-type-options': 'nosniff',
  })
  return reply.type('image/svg+xml').send(drawIcon(plate, { contentType: logo.contentType, content }))
}
