import type { Service } from '../service.ts'
import { listPages, type ShownPage } from './shown.ts'

/** Lists the portal's pages of an organization for an admin, a grader, and a client, with one row for each page that takes an id. */
export async function listPortalPages(service: Service, organizationId: string): Promise<ShownPage[]> {
  const home = `/portal/${organizationId}`
  return [
    ...listPages('anybody', '/portal', { 'sign-in': '/sign-in', forgot: '/forgot', 'dead-link': '/join/x' }),
    ...listPages('admin', home, await findAddresses(service, organizationId)),
    ...listPages('admin', '/portal', { organizations: '', prove: '/prove', 'unknown-page': `/${organizationId}/nowhere` }),
    ...listPages('grader', home, { 'grader-home': '/', 'grader-invites': '/invites', 'grader-grading': '/grading' }),
    ...listPages('client', home, { 'client-home': '/', 'client-invites': '/invites', 'client-results': '/results' }),
  ]
}

async function findAddresses({ db }: Service, organizationId: string) {
  const where = { organizationId }
  const find = { where, select: { id: true } } as const
  const [assessment, tag, member] = await Promise.all([
    db.assessment.findFirstOrThrow({ ...find, where: { ...where, invites: { some: {} } } }),
    db.tag.findFirstOrThrow(find),
    db.member.findFirstOrThrow(find),
  ])
  const [webhook, connection, apiKey] = await Promise.all([
    db.webhookEndpoint.findFirst(find),
    db.atsConnection.findFirst(find),
    db.apiKey.findFirst(find),
  ])
  const question = await db.question.findFirstOrThrow({ where: { ...where, assessmentId: assessment.id } })
  const asked = await db.questionVersion.findFirst({ where: { ...where, lockedAt: { not: null } }, orderBy: { id: 'asc' } })
  const submitted = await db.submission.findFirst({ where: { ...where, state: 'submitted' } })
  const released = await db.submission.findFirst({ where: { ...where, state: 'released' } })
  const pending = await db.invite.findFirstOrThrow({ where: { ...where, status: 'pending' } })
  const completed = submitted?.inviteId ?? released?.inviteId
  return {
    home: '/',
    invites: '/invites',
    'invite-pending': `/invites/${pending.id}`,
    'invite-completed': completed && `/invites/${completed}`,
    'invite-released': released && `/invites/${released.inviteId}`,
    'new-invite': '/invites/new',
    'invite-many': '/invites/batches',
    assessments: '/assessments',
    'new-assessment': '/assessments/new',
    assessment: `/assessments/${assessment.id}`,
    'assessment-edit': `/assessments/${assessment.id}/edit`,
    'assessment-open-link': `/assessments/${assessment.id}/open-link`,
    'assessment-invites': `/assessments/${assessment.id}/invites`,
    'assessment-results': `/assessments/${assessment.id}/results`,
    'assessment-statistics': `/assessments/${assessment.id}/statistics`,
    'assessment-preview': `/assessments/${assessment.id}/preview`,
    question: `/assessments/${assessment.id}/questions/${question.id}`,
    'new-section': `/assessments/${assessment.id}/sections/new`,
    'new-pool': `/assessments/${assessment.id}/pools/new`,
    'answer-key': asked && `/keys/${asked.id}`,
    library: '/questions',
    'library-import': '/questions/imports/new',
    'library-export': '/questions/export',
    grading: '/grading?queue=all',
    sheet: submitted && `/grading/${submitted.id}`,
    release: submitted && `/grading/${submitted.id}/release`,
    submission: submitted && `/invites/${submitted.inviteId}/submission`,
    results: '/results',
    result: released && `/results/${released.id}`,
    report: `/results/assessments/${assessment.id}`,
    members: '/members',
    'member-invite': '/members/invite',
    member: `/members/${member.id}`,
    tags: '/tags',
    tag: `/tags/${tag.id}`,
    integrations: '/settings/integrations',
    'api-key': apiKey && `/settings/integrations/${apiKey.id}`,
    webhooks: '/settings/webhooks',
    webhook: webhook && `/settings/webhooks/${webhook.id}`,
    deliveries: webhook && `/settings/webhooks/${webhook.id}/deliveries`,
    ats: '/settings/ats',
    'ats-connection': connection && `/settings/ats/connections/${connection.id}`,
    settings: '/settings',
    organization: '/settings/organization',
    languages: '/settings/languages',
    'selection-rates': '/settings/selection-rates',
    'single-sign-on': '/settings/sign-in',
    'new-provider': '/settings/sign-in/new',
    candidates: '/candidates',
    security: '/settings/security',
    suppressions: '/settings/suppressions',
    erasures: '/settings/erasures',
    'erase-organization': '/settings/erase-organization',
    archives: '/archives',
    'export-organization': '/settings/export',
    'own-archive': '/account/archive',
    'candidate-archive': `/candidates/${pending.id}/archive`,
    'member-archive': `/members/${member.id}/archive`,
    'erase-member': `/members/${member.id}/erase`,
    retention: '/settings/retention',
    reminders: '/settings/reminders',
    brand: '/settings/brand',
    words: '/settings/words',
    links: '/settings/links',
    'assessment-words': `/assessments/${assessment.id}/words?kind=released`,
    'audit-log': '/settings/audit-log',
    account: '/account',
  }
}
