import { listPortalRoutes } from '../support/portal-routes.ts'
import type { BenchContext } from './beside.ts'
import type { Organization, Organizations } from './fill.ts'
import type { OrganizationRows } from './fill-organization.ts'
import type { Grading } from './fill-portal.ts'
import type { Figures, Target } from './measure.ts'
import type { ServerName } from './servers.ts'

/** A case that sends requests to its targets in turn. A goal bounds the first target, alone or relative to the others. */
export type RequestCase = { name: string; targets: Record<string, Target> }
/** A case that starts its own service while no other service runs. */
export type ServiceCase = { name: string; measure: (context: BenchContext) => Promise<Figures> }
export type Cases = (organizations: Organizations) => (RequestCase | ServiceCase)[]

const V1 = '/api/v1'
const ALTERNATE = '/api/alternate'
const INVITES = `${V1}/invites`
const ALTERNATE_INVITES = `${ALTERNATE}/assessment_invites`
const ALTERNATE_LISTS = ['assessment_invites', 'assessments', 'organization_users', 'tags']
const PAGE_SIZE = 20

const createTarget = (server: ServerName, organization: OrganizationRows, ...paths: string[]): Target => ({
  server,
  organization,
  requests: paths.map((path) => ({ path })),
})
/** Sends the same requests to several servers. */
const compareServers = (
  name: string,
  servers: ServerName[],
  organization: OrganizationRows,
  ...paths: string[]
): RequestCase => ({
  name,
  targets: Object.fromEntries(servers.map((server) => [server, createTarget(server, organization, ...paths)])),
})
/** Compares several paths of the service in the large organization. */
const comparePaths = (name: string, { large }: Organizations, asked: Record<string, string>): RequestCase => ({
  name,
  targets: Object.fromEntries(Object.entries(asked).map(([what, path]) => [what, createTarget('service', large, path)])),
})
/** Compares the large organization with the small one. */
const compareSizes = (name: string, { large, small }: Organizations, ask: (of: Organization) => string[]): RequestCase => ({
  name,
  targets: { large: createTarget('service', large, ...ask(large)), small: createTarget('service', small, ...ask(small)) },
})

/** Reads one row by its id. */
export const reads: Cases = ({ large }) =>
  Object.entries({
    [INVITES]: large.inviteIds,
    [ALTERNATE_INVITES]: large.inviteIds,
    [`${V1}/assessments`]: large.assessmentIds,
    [`${ALTERNATE}/assessments`]: large.assessmentIds,
    [`${V1}/tags`]: large.tagIds,
    [`${ALTERNATE}/tags`]: large.tagIds,
  }).map(([list, ids]) => compareServers(list, ['service', 'floor'], large, ...ids.map((id) => `${list}/${id}`)))

/** Reads the first page of each list. */
export const lists =
  (size: number): Cases =>
  ({ large }) => {
    const ofV1 = ['invites', 'assessments', 'members', 'tags', `assessments/${large.assessmentIds[0]}/questions`]
    return [
      ...ofV1.map((list) => `${V1}/${list}?limit=${size}`),
      ...ALTERNATE_LISTS.map((list) => `${ALTERNATE}/${list}?page_size=${size}`),
    ].map((path) =>
      compareServers(path.replace(/[?].*/, '').replace(/[0-9a-f-]{36}/, '{id}'), ['service', 'plain', 'floor'], large, path),
    )
  }

/** Compares lists that contain related objects with lists that contain their ids. */
export const depths: Cases = (organizations) =>
  ALTERNATE_LISTS.map((list) => {
    const path = `${ALTERNATE}/${list}?depth=`
    return comparePaths(list, organizations, { 'depth=2': `${path}2`, 'depth=0': `${path}0` })
  })

let candidates = 0

/** Each request invites a new email address. */
export const creations: Cases = ({ service, floor }) => {
  const target = (server: ServerName, organization: OrganizationRows): Target => {
    const bodyFor = (assessmentId: string) => () => ({ assessmentId, recipientEmail: `invited.${++candidates}@example.com` })
    return { server, organization, requests: organization.assessmentIds.map((id) => ({ path: INVITES, body: bodyFor(id) })) }
  }
  return [{ name: INVITES, targets: { service: target('service', service), floor: target('floor', floor) } }]
}

/** The list of all invites and two filtered lists. */
const filtered = (organizations: Organizations, order: string) => [
  compareSizes(`all${order}`, organizations, () => [`${INVITES}?${order}`]),
  compareSizes(`status${order}`, organizations, () => [`${INVITES}?status=completed${order}`]),
  compareSizes(`assessment${order}`, organizations, (of) =>
    of.assessmentIds.map((id) => `${INVITES}?assessmentId=${id}${order}`),
  ),
]

export const firstPages: Cases = (organizations) => [
  ...filtered(organizations, ''),
  compareSizes('all, alternate', organizations, () => [ALTERNATE_INVITES]),
]

export const sortedPages: Cases = (organizations) =>
  ['sent_at', 'status', 'expires_at'].flatMap((word) =>
    ['asc', 'desc'].flatMap((order) => filtered(organizations, `&sort=${word}&order=${order}`)),
  )

export const lastPages: Cases = (organizations) => {
  const last = Math.ceil(organizations.large.size / PAGE_SIZE)
  return [
    comparePaths('v1', organizations, { last: `${INVITES}?page=${last}`, 'first page': INVITES }),
    comparePaths('alternate', organizations, { last: `${ALTERNATE_INVITES}?page=last`, 'first page': ALTERNATE_INVITES }),
  ]
}

/** Compares paths with the first page. Each path gets twenty numbers, spread evenly over the organization's invites. */
const compareWithFirstPage =
  (first: string, asked: Record<string, (n: number, of: Organization) => string>): Cases =>
  ({ large }) => {
    const numbers = Array.from({ length: 20 }, (_, i) => 1 + Math.floor(((i + 0.5) * large.size) / 20))
    return Object.entries(asked).map(([name, path]) => {
      const own = createTarget('service', large, ...numbers.map((n) => path(n, large)))
      return { name, targets: { own, 'first page': createTarget('service', large, first) } }
    })
  }

export const filters = compareWithFirstPage(INVITES, {
  tag: (n, { tagIds }) => `${INVITES}?tagId=${tagIds[n % tagIds.length]}`,
  recipientEmail: (n) => `${INVITES}?recipientEmail=Candidate${n}@example.com`,
})

export const words = compareWithFirstPage(INVITES, { words: (n) => `${INVITES}?recipient=didate%20${n}` })

const search = (words: string) => `${ALTERNATE_INVITES}?search=${encodeURIComponent(words)}`
export const searches = compareWithFirstPage(ALTERNATE_INVITES, {
  nothing: (n) => search(`nobody${n}`),
  'an address': (n) => search(`candidate${n}@example.com`),
  // About 1,100 of a million invites contain it.
  'a part of addresses': (n) => search(`e${100 + (n % 900)}`),
  'an assessment': (n) => search(`No${1 + (n % 50)}`),
  both: (n) => search(`${n}@ No${1 + (n % 50)}`),
})

const EVENTS = `${V1}/events?limit=${PAGE_SIZE}`
export const feeds = compareWithFirstPage(INVITES, {
  oldest: () => EVENTS,
  'in the middle': (n, { firstEvent }) => `${EVENTS}&cursor=${firstEvent + n - 1}`,
  newest: (_n, { firstEvent, size }) => `${EVENTS}&cursor=${firstEvent + size - PAGE_SIZE}`,
  'of a type': (n, { firstEvent }) => `${EVENTS}&type=email.failed&cursor=${firstEvent + n - 1}`,
})

/** Pages with the filters and roles that forms and links request, in addition to each plain page. */
const FURTHER = [
  'GET /invites?state=pending',
  'GET /invites?assessment=:assessmentId&state=completed&sort=expires',
  'GET /invites?tag=:tagId',
  'GET /invites?search=candidate7@example.com',
  'GET /invites?page=:lastPage',
  'GET /members?search=last&role=grader',
  'GET /settings/audit-log?action=invited',
  'grader GET /',
  'grader GET /invites',
  'grader GET /invites?state=completed&sort=expires',
  'grader GET /invites/:assignedInviteId',
  'client GET /',
  'client GET /invites',
  'client GET /invites?assessment=:clientAssessmentId&state=completed',
  'client GET /invites/:clientInviteId',
]
/** Routes that are not measured: they redirect, show one person's resource, or need library questions, transcripts, or released results. */
const NO_PAGES = [
  'GET /results/:submissionId/report',
  'GET /results/compare',
  'GET /shares/new',
  'GET /grading/assessments/:assessmentId/search',
  'GET /questions/export',
  'GET /assessments/:assessmentId/preview',
  'GET /assessments/:assessmentId/questions/:questionId/library/difference',
]
const PAGES = [
  ...(await listPortalRoutes()).filter((name) => name.startsWith('GET ') && !NO_PAGES.includes(name) && !name.includes('/ats')),
  ...FURTHER,
]
const PARAMETER = /:(\w+)/g

/** Every page of the portal whose parameters this organization has rows for. */
export const portalPages: Cases = ({ large, portal }) => {
  const rows = portal.rows.map((row, i) => ({
    ...row,
    inviteId: large.inviteIds[i % large.inviteIds.length]!,
    keyId: large.keyId,
    lastPage: String(Math.ceil(large.size / PAGE_SIZE)),
  }))
  const isKnown = (name: string) => [...name.matchAll(PARAMETER)].every(([, parameter]) => parameter! in rows[0]!)
  return PAGES.filter(isKnown).map((name) => {
    const [page, , role = 'admin'] = name.split(' ').reverse() as [string, string, (keyof typeof portal.cookies)?]
    const pathFor = (row: Record<string, string>) => `/portal/${large.id}${page.replace(PARAMETER, (_, field) => row[field]!)}`
    const requests = rows.map((row) => ({ path: pathFor(row), cookie: portal.cookies[role] }))
    return { name, targets: { page: { server: 'service', organization: large, requests } } }
  })
}

/** Requests an admin's pages of the grading area. */
const gradingTarget = ({ cookie, ...organization }: Grading, pages: string[]): Target => {
  const requests = pages.map((page) => ({ path: `/portal/${organization.id}/grading/${page}`.replace(/[/]$/, ''), cookie }))
  return { server: 'service', organization, requests }
}

/** The grading queue and the grading view, with many submissions and with few. */
export const gradingPages: Cases = ({ grading: { many, few } }) => [
  { name: 'queue', targets: { many: gradingTarget(many, ['']), few: gradingTarget(few, ['']) } },
  { name: 'sheet', targets: { many: gradingTarget(many, many.submissionIds), few: gradingTarget(few, few.submissionIds) } },
]

/** The page that a grader sees after saving a grade. */
export const nextAnswers: Cases = ({ grading: { many, few } }) => {
  const answersOf = ({ submissionIds, question }: Grading) => submissionIds.map((id) => `${question}/${id}`)
  return [
    {
      name: 'answer to a question',
      targets: { many: gradingTarget(many, answersOf(many)), few: gradingTarget(few, answersOf(few)) },
    },
  ]
}
