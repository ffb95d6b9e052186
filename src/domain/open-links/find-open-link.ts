import type { Prisma } from '../../generated/prisma/client.ts'
import { loadZones } from '../concurrency/load-zones.ts'
import { type Context, enterOrganization, type ServiceContext } from '../context.ts'
import { LANGUAGE_SOURCES } from '../languages/choose-language.ts'
import { BRAND } from '../ports/brand.ts'
import { zoneOf } from '../time/zones.ts'
import { type Closure, findClosure } from './link-state.ts'

/** Everything that the pages and mails of an open link show. */
export const LINK_INCLUDE = {
  assessment: {
    include: {
      organization: {
        select: {
          ...BRAND,
          tier: true,
          senderName: true,
          replyTo: true,
          timeZone: true,
          suspension: { select: { id: true } },
          ...LANGUAGE_SOURCES.organization,
        },
      },
      languages: LANGUAGE_SOURCES.assessment.languages,
    },
  },
} satisfies Prisma.OpenLinkInclude

export type ShownLink = Prisma.OpenLinkGetPayload<{ include: typeof LINK_INCLUDE }>

/** True if visitors can open the link. The pages of any other link are a 404. */
export const isVisible = ({ isOn, assessment }: ShownLink): boolean =>
  isOn && assessment.audience === 'public' && assessment.organization.suspension === null

/** The open link with that token, and why it is closed, if it is. Null if visitors cannot open it. */
export async function findOpenLink(
  service: ServiceContext,
  token: string,
): Promise<{ link: ShownLink; closure: Closure | null } | null> {
  const link = await service.db.openLink.findUnique({ where: { token }, include: LINK_INCLUDE, relationLoadStrategy: 'join' })
  if (!link || !isVisible(link)) return null
  await loadZones(service.db, [zoneOf({ timeZone: null, organization: link.assessment.organization })])
  return { link, closure: await findClosure(asVisitor(service, link), link, link.assessment) }
}

/** The organization's context in the link's mode, with its visitor as the actor. */
export const asVisitor = (service: ServiceContext, { mode, assessment: { organization } }: ShownLink): Context =>
  enterOrganization({ ...service, actor: { kind: 'visitor' } }, organization, mode)
