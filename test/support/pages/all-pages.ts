import type { Browser, BrowserContext, BrowserContextOptions } from 'playwright-core'
import { loadDemo } from '../../../src/demo/load-demo.ts'
import { inviteMember } from '../../../src/domain/members/invite-member.ts'
import { mailboxPath } from '../../../src/interfaces/mailbox/access.ts'
import { links } from '../links.ts'
import { asOperator, joinAs, PASSWORD, visit } from '../portal.ts'
import { type Service, startService } from '../service.ts'
import { listCandidatePages } from './candidate-pages.ts'
import { listPortalPages } from './portal-pages.ts'
import { listPages, type ShownPage, type Viewer } from './shown.ts'

/** A service with the demo organization, and all of its pages. */
export type Gallery = {
  service: Service
  origin: string
  pages: ShownPage[]
  /** Opens a browser context that is signed in as the viewer. */
  openAs: (browser: Browser, viewer: Viewer, options?: BrowserContextOptions) => Promise<BrowserContext>
}

/** Settings that some pages require. */
const SETTINGS = { ATS_GREENHOUSE: 'on', ATS_ASHBY: 'https://ashby.invalid' }

/**
 * Starts a service and lists its pages: the portal's for admins, graders, and clients, the candidates', mails, and the documentation. The caller
 * closes the service.
 */
export async function openGallery(): Promise<Gallery> {
  const service = await startService(SETTINGS)
  const origin = await service.app.listen({ port: 0, host: '127.0.0.1' })
  const { organization, portalLink } = (await loadDemo(service.system))!
  const admin = visit(service)
  await admin.post(new URL(portalLink.url).pathname, { firstName: 'Priya', lastName: 'Raman', password: PASSWORD })
  const settings = `/portal/${organization.id}/settings`
  await admin.post(`${settings}/webhooks`, { url: 'https://ats.northwind.example/hooks', mode: 'live', description: 'Into HR' })
  await admin.post(`${settings}/ats/greenhouse/keys`, { mode: 'live' })
  const grader = await joinAs(service, organization, { email: 'jonas.keller@northwind.example', roles: ['grader'] })
  const client = await joinAs(service, organization, { email: 'dana.cole@northwind.example', roles: ['client'] })
  await inviteMember(asOperator(service, organization), { email: 'lee.park@northwind.example', roles: ['grader'], mails: true })
  await showToClient(service, organization.id, client.email)
  const cookies: Record<Viewer, string | undefined> = {
    admin: admin.cookie(),
    grader: grader.cookie(),
    client: client.cookie(),
    anybody: undefined,
  }
  const pages = [
    ...(await listPortalPages(service, organization.id)),
    ...(await listCandidatePages(service)),
    ...(await listMails(service)),
    ...listDocs(),
  ]
  const openAs: Gallery['openAs'] = async (browser, viewer, options) => {
    const context = await browser.newContext({ ...options, baseURL: origin })
    const [name, value] = cookies[viewer]?.split('=') ?? []
    if (name && value) await context.addCookies([{ name, value, url: origin, httpOnly: true, sameSite: 'Lax' }])
    await context.request.get(mailboxPath(service.site.secretKeys)) // sets the mailbox's cookie
    return context
  }
  return { service, origin, pages, openAs }
}

/** Shares all assessments with a client, so that they can see them. */
async function showToClient({ db }: Service, organizationId: string, email: string): Promise<void> {
  const member = await db.member.findFirstOrThrow({ where: { organizationId, email } })
  for (const assessment of await db.assessment.findMany({ where: { organizationId } }))
    await links(db).addClients(assessment, member)
}

/** Lists the mailbox and one mail of each kind. */
async function listMails({ db }: Service): Promise<ShownPage[]> {
  const invitation = await db.inviteEmail.findFirst({ where: { state: 'captured' } })
  const toMember = await db.memberEmail.findFirst()
  const home = '/dev/mailbox'
  const mails = {
    'mail-invitation': invitation && `/${invitation.id}?part=html`,
    'mail-member': toMember && `/${toMember.id}?part=html`,
  }
  return [
    ...listPages('anybody', home, { mailbox: '', mail: invitation && `/${invitation.id}` }),
    ...listPages('anybody', home, mails).map((page) => ({ ...page, isMail: true })),
  ]
}

const listDocs = (): ShownPage[] =>
  listPages('anybody', '/docs', {
    docs: '',
    'docs-guide': '/guides/quick-start',
    'docs-webhooks': '/guides/webhooks',
    'docs-changes': '/changes',
    'docs-v1': '/v1',
    'docs-invites': '/v1/invites',
    'docs-objects': '/alternate/objects',
    'docs-search': '/search?q=webhook',
  })
