import { listPortalRoutes } from '../support/portal-routes.ts'
import type { Surroundings } from './beside.ts'
import type { Organization, Organizations } from './fill.ts'
import type { Furniture } from './fill-organization.ts'
import type { Grading } from './fill-portal.ts'
import type { Figures, Target } from './measure.ts'
import type { ServerName } from './servers.ts'

/** Cases that send requests to the servers in turn. The first target is compared with a goal, alone or relative to the others. */
export type Asked = { name: string; targets: Record<string, Target> }
/** Cases that start services of their own, while no others run. */
export type Alone = { name: string; measure: (surroundings: Surroundings) => Promise<Figures> }
export type Cases = (organizations: Organizations) => (Asked | Alone)[]

const V1 = '/api/v1'
const ALTERNATE = '/api/alternate'
const INVITES = `${V1}/invites`
const ALTERNATE_INVITES = `${ALTERNATE}/assessment_invites`
const ALTERNATE_LISTS = ['assessment_invites', 'assessments', 'organization_users', 'tags']
const PAGE_SIZE = 20

const asking = (server: ServerName, organization: Furniture, ...paths: string[]): Target => ({
  server,
  organization,
  requests: paths.map((path) => ({ path })),
})
/** The same asked of several. */
const rivals = (name: string, servers: ServerName[], organization: Furniture, ...paths: string[]): Asked => ({
  name,
  targets: Object.fromEntries(servers.map((server) => [server, asking(server, organization, ...paths)])),
})
/** Several asked of the service in the large organization. */
const paths = (name: string, { large }: Organizations, asked: Record<string, string>): Asked => ({
  name,
  targets: Object.fromEntries(Object.entries(asked).map(([what, path]) => [what, asking('service', large, path)])),
})
/** The same in the large organization and in the small one. */
const sizes = (name: string, { large, small }: Organizations, ask: (of: Organization) => string[]): Asked => ({
  name,
  targets: { large: asking('service', large, ...ask(large)), small: asking('service', small, ...ask(small)) },
})

/** One row by its id. */
export const reads: Cases = ({ large }) =>
  Object.entries({
    [INVITES]: large.inviteIds,
    [ALTERNATE_INVITES]: large.inviteIds,
    [`${V1}/assessments`]: large.assessmentIds,
    [`${ALTERNATE}/assessments`]: large.assessmentIds,
    [`${V1}/tags`]: large.tagIds,
    [`${ALTERNATE}/tags`]: large.tagIds,
  }).map(([list, ids]) => rivals(list, ['service', 'floor'], large, ...ids.map((id) => `${list}/${id}`)))

/** The first page of each list. */
export const lists =
  (size: number): Cases =>
  ({ large }) => {
    const ofV1 = ['invites', 'assessments', 'members', 'tags', `assessments/${large.assessmentIds[0]}/questions`]
    return [
      ...ofV1.map((list) => `${V1}/${list}?limit=${size}`),
      ...ALTERNATE_LISTS.map((list) => `${ALTERNATE}/${list}?page_size=${size}`),
    ].map((path) =>
      rivals(path.replace(/[?].*/, '').replace(/[0-9a-f-]{36}/, '{id}'), ['service', 'plain', 'floor'], large, path),
    )
  }

/** Lists with related objects instead of their ids. */
export const depths: Cases = (organizations) =>
  ALTERNATE_LISTS.map((list) => {
    const path = `${ALTERNATE}/${list}?depth=`
    return paths(list, organizations, { 'depth=2': `${path}2`, 'depth=0': `${path}0` })
  })

let candidates = 0

/** Each with an address that was never invited. */
export const creations: Cases = ({ service, floor }) => {
  const target = (server: ServerName, organization: Furniture): Target => {
    const bodyFor = (assessmentId: string) => () => ({ assessmentId, recipientEmail: `invited.${++candidates}@example.com` })
    return { server, organization, requests: organization.assessmentIds.map((id) => ({ path: INVITES, body: bodyFor(id) })) }
  }
  return [{ name: INVITES, targets: { service: target('service', service), floor: target('floor', floor) } }]
}

/** All of them, and filtered. */
const filtered = (organizations: Organizations, order: string) => [
  sizes(`all${order}`, organizations, () => [`${INVITES}?${order}`]),
  sizes(`status${order}`, organizations, () => [`${INVITES}?status=completed${order}`]),
  sizes(`assessment${order}`, organizations, (of) => of.assessmentIds.map((id) => `${INVITES}?assessmentId=${id}${order}`)),
]

export const firstPages: Cases = (organizations) => [
  ...filtered(organizations, ''),
  sizes('all, alternate', organizations, () => [ALTERNATE_INVITES]),
]

export const sortedPages: Cases = (organizations) =>
  ['sent_at', 'status', 'expires_at'].flatMap((word) =>
    ['asc', 'desc'].flatMap((order) => filtered(organizations, `&sort=${word}&order=${order}`)),
  )

export const lastPages: Cases = (organizations) => {
  const last = Math.ceil(organizations.large.size / PAGE_SIZE)
  return [
    paths('v1', organizations, { last: `${INVITES}?page=${last}`, 'first page': INVITES }),
    paths('alternate', organizations, { last: `${ALTERNATE_INVITES}?page=last`, 'first page': ALTERNATE_INVITES }),
  ]
}

/** Beside the first page: what is asked with twenty numbers from all over the organization's invites. */
const besideFirst =
  (first: string, asked: Record<string, (n: number, of: Organization) => string>): Cases =>
  ({ large }) => {
    const numbers = Array.from({ length: 20 }, (_, i) => 1 + Math.floor(((i + 0.5) * large.size) / 20))
    return Object.entries(asked).map(([name, path]) => {
      const own = asking('service', large, ...numbers.map((n) => path(n, large)))
      return { name, targets: { own, 'first page': asking('service', large, first) } }
    })
  }

export const filters = besideFirst(INVITES, {
  tag: (n, { tagIds }) => `${INVITES}?tagId=${tagIds[n % tagIds.length]}`,
  recipientEmail: (n) => `${INVITES}?recipientEmail=Candidate${n}@example.com`,
})

export const words = besideFirst(INVITES, { words: (n) => `${INVITES}?recipient=didate%20${n}` })

const search = (words: string) => `${ALTERNATE_INVITES}?search=${encodeURIComponent(words)}`
export const searches = besideFirst(ALTERNATE_INVITES, {
  nothing: (n) => search(`nobody${n}`),
  'an address': (n) => search(`candidate${n}@example.com`),
  // About 1,100 of a million invites contain it.
  'a part of addresses': (n) => search(`e${100 + (n % 900)}`),
  'an assessment': (n) => search(`No${1 + (n % 50)}`),
  both: (n) => search(`${n}@ No${1 + (n % 50)}`),
})

const EVENTS = `${V1}/events?limit=${PAGE_SIZE}`
export const feeds = besideFirst(INVITES, {
  oldest: () => EVENTS,
  'in the middle': (n, { firstEvent }) => `${EVENTS}&cursor=${firstEvent + n - 1}`,
  newest: (_n, { firstEvent, size }) => `${EVENTS}&cursor=${firstEvent + size - PAGE_SIZE}`,
  'of a type': (n, { firstEvent }) => `${EVENTS}&type=email.failed&cursor=${firstEvent + n - 1}`,
})

/** Pages as their forms and links ask for them, besides each as it is by itself. */
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
/** Addresses with one resource for each person, addresses that redirect, and those that need questions from the library, transcripts, or released results. */
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

/** Every page of the portal, but for those about what this organization has none of. */
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

/** Pages of the grading area, as its admin asks for them. */
const gradingTarget = ({ cookie, ...organization }: Grading, pages: string[]): Target => {
  const requests = pages.map((page) => ({ path: `/portal/${organization.id}/grading/${page}`.replace(/[/]$/, ''), cookie }))
  return { server: 'service', organization, requests }
}

/** A grader's work among many submissions and among few. */
export const gradingPages: Cases = ({ grading: { many, few } }) => [
  { name: 'queue', targets: { many: gradingTarget(many, ['']), few: gradingTarget(few, ['']) } },
  { name: 'sheet', targets: { many: gradingTarget(many, many.submissionIds), few: gradingTarget(few, few.submissionIds) } },
]

/** The page that follows when a grade is saved. */
export const nextAnswers: Cases = ({ grading: { many, few } }) => {
  const answersOf = ({ submissionIds, question }: Grading) => submissionIds.map((id) => `${question}/${id}`)
  return [
    {
      name: 'answer to a question',
      targets: { many: gradingTarget(many, answersOf(many)), few: gradingTarget(few, answersOf(few)) },
    },
  ]
}
