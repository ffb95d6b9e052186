import type { FastifyInstance } from 'fastify'
import { findBrand, findLogo } from '../../../domain/brand/find-brand.ts'
import type { ServiceContext } from '../../../domain/context.ts'
import { DomainError } from '../../../domain/errors.ts'
import { stylesheetOf } from '../../../http/pages/brand.ts'
import { sendLogo } from '../../../http/sending/send-media.ts'

type Route = { Params: { organizationId: string; file: string } }

/** What an organization's brand loads: its stylesheet, and its logo, which mails show, too. Their addresses have their hashes. */
export function brandRoutes(app: FastifyInstance, { system }: { system: ServiceContext }): void {
  app.route<Route>({
    method: ['GET', 'HEAD'],
    url: '/brand/:organizationId/:file',
    async handler(request, reply) {
      const { organizationId, file } = request.params
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
