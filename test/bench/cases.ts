import { gradingCase } from './cases-grading.ts'
import { portalCase } from './cases-portal.ts'
import { searchCases } from './cases-search.ts'
import type { Organization, Organizations } from './fill.ts'
import type { Request, Sample } from './load.ts'
import type { RivalName } from './rivals.ts'

/** Who is asked for what, as whom. */
export type Variant = { name: string; rival: RivalName; organization: Organization; requests: Request[] }

type Figure = keyof Sample
/** What a value has to keep, if anything. */
export type Bound = { atLeast: number } | { atMost: number } | { forInformation: true }
/** A figure of a variant; or one over another one's, or another of its own. */
export type Goal = { over: [variant: string, Figure]; under?: [variant: string, Figure] } & Bound

/**
 * Variants that are measured in turn, and compared.
 *
 * @property rounds where fewer than usual are enough.
 * @property isVariation whether it is another case with other parameters: a quick run has it only where it is asked for by its name.
 */
export type Case = {
  name: string
  connections: number
  variants: Variant[]
  goals: Goal[]
  rounds?: number
  isVariation?: boolean
}

const CONNECTIONS = 16
/** For pages that cost the database so much that more connections would measure its queue. */
const FEW_CONNECTIONS = 2
const PAGE_SIZE = 20
const LARGE_PAGE_SIZE = 100
const V1 = '/api/v1'
const ALTERNATE = '/api/alternate'

const sizeOf = ({ size }: Organization) => (size >= 1_000_000 ? `${size / 1_000_000}M` : `${size / 1_000}k`)
const paths = (...all: string[]): Request[] => all.map((path) => ({ path }))

/** All that is asked of the running rivals. */
export function makeCases(organizations: Organizations, portalRoutes: string[]): Case[] {
  return [
    ...readCases(organizations),
    ...listCases(organizations),
    ...flatCases(organizations),
    ...pageCases(organizations),
    ...depthCases(organizations),
    ...searchCases(organizations),
    createCase(organizations),
    portalCase(organizations, portalRoutes),
    gradingCase(organizations),
  ]
}

function readCases({ large }: Organizations): Case[] {
  const resources = [
    ['invite', 'invites', 'assessment_invites', large.inviteIds],
    ['assessment', 'assessments', 'assessments', large.assessmentIds],
    ['tag', 'tags', 'tags', large.tagIds],
  ] as const
  const ask = (name: string, resource: string, ids: string[], connections = CONNECTIONS): Case => ({
    name: `read ${name}${connections === 1 ? ', 1 connection' : ''}`,
    connections,
    isVariation: connections === 1,
    variants: (['service', 'floor'] as const).map((rival) => ({
      name: rival,
      rival,
      organization: large,
      requests: ids.map((id) => ({ path: `${resource}/${id}` })),
    })),
    goals: [{ over: ['service', 'throughput'], under: ['floor', 'throughput'], atLeast: 0.5 }],
  })
  return resources.flatMap(([name, v1, alternate, ids]) => [
    ask(`${name}, v1`, `${V1}/${v1}`, ids),
    ask(`${name}, alternate`, `${ALTERNATE}/${alternate}`, ids),
    ask(`${name}, v1`, `${V1}/${v1}`, ids, 1),
    ask(`${name}, alternate`, `${ALTERNATE}/${alternate}`, ids, 1),
  ])
}

/** The first page of each list. */
function listCases({ large }: Organizations): Case[] {
  const lists = {
    v1: ['invites', 'assessments', 'members', 'tags', `assessments/${large.assessmentIds[0]}/questions`],
    alternate: ['assessment_invites', 'assessments', 'organization_users', 'tags'],
  }
  const ask = (name: string, list: string, size: string, limit: number): Case => ({
    name: `list ${list.split('/').at(-1)}, ${limit} a page, ${name}`,
    connections: CONNECTIONS,
    isVariation: limit === LARGE_PAGE_SIZE,
    variants: (['service', 'plain', 'floor'] as const).map((rival) => ({
      name: rival,
      rival,
      organization: large,
      requests: paths(`${list}?${size}=${limit}`),
    })),
    goals: [
      { over: ['service', 'throughput'], under: ['plain', 'throughput'], atLeast: 2 },
      { over: ['service', 'throughput'], under: ['floor', 'throughput'], atLeast: 0.5 },
    ],
  })
  return [PAGE_SIZE, LARGE_PAGE_SIZE].flatMap((limit) => [
    ...lists.v1.map((list) => ask('v1', `${V1}/${list}`, 'limit', limit)),
    ...lists.alternate.map((list) => ask('alternate', `${ALTERNATE}/${list}`, 'page_size', limit)),
  ])
}

/** What costs as much in a large organization as in a small one. */
function flatCases({ small, large }: Organizations): Case[] {
  const flat = (name: string, ask: (organization: Organization) => Request[]): Case => {
    const [at, than] = [large, small].map((organization) => ({
      name: `service@${sizeOf(organization)}`,
      rival: 'service' as const,
      organization,
      requests: ask(organization),
    })) as [Variant, Variant]
    const goal = { over: [at.name, 'throughput'], under: [than.name, 'throughput'], atLeast: 0.8 } satisfies Goal
    return { name, connections: CONNECTIONS, variants: [at, than], goals: [goal] }
  }
  const list = (query: string) => () => paths(`${V1}/invites?${query}`)
  const ofAssessment = (query: string) => (organization: Organization) =>
    organization.assessmentIds.map((id) => ({ path: `${V1}/invites?assessmentId=${id}${query}` }))
  const sorted = (name: string, ask: (organization: Organization) => Request[]): Case => ({
    ...flat(name, ask),
    isVariation: true,
  })
  const words = ['sent_at', 'status', 'expires_at']
  return [
    flat('first page, v1', list('')),
    flat('first page, alternate', () => paths(`${ALTERNATE}/assessment_invites`)),
    flat('of a status, v1', list('status=completed')),
    flat('of an assessment, v1', ofAssessment('')),
    // The small organization has three of them for each assessment: both answer with as many.
    flat('of both, v1', ofAssessment('&status=completed&limit=3')),
    ...words.flatMap((word) =>
      ['asc', 'desc'].map((order) => sorted(`by ${word} ${order}, v1`, list(`sort=${word}&order=${order}`))),
    ),
    ...words.map((word) => sorted(`by ${word}, of a status, v1`, list(`sort=${word}&status=completed`))),
    ...words.map((word) => sorted(`by ${word}, of an assessment, v1`, ofAssessment(`&sort=${word}`))),
    flat('assessments, v1', () => paths(`${V1}/assessments`)),
    flat('assessments, alternate', () => paths(`${ALTERNATE}/assessments`)),
  ]
}

/** The page that is furthest from the first one. */
function pageCases({ large }: Organizations): Case[] {
  const ask = (name: string, path: string): Variant => ({ name, rival: 'service', organization: large, requests: paths(path) })
  return [
    ['v1', `${V1}/invites`, String(Math.ceil(large.size / PAGE_SIZE))] as const,
    ['alternate', `${ALTERNATE}/assessment_invites`, 'last'] as const,
  ].map(([name, list, last]) => ({
    name: `last page, ${name}`,
    connections: FEW_CONNECTIONS,
    variants: [ask('last', `${list}?page=${last}`), ask('first', list)],
    goals: [{ over: ['last', 'p50'], under: ['first', 'p50'], atMost: 2 }],
  }))
}

/** Lists with related objects instead of their ids. */
function depthCases({ large }: Organizations): Case[] {
  const lists = ['assessments', 'assessment_invites', 'organization_users', 'tags']
  return lists.map((list) => ({
    name: `depth of ${list}`,
    connections: CONNECTIONS,
    variants: [2, 0].map((depth) => ({
      name: `depth=${depth}`,
      rival: 'service',
      organization: large,
      requests: paths(`${ALTERNATE}/${list}?depth=${depth}`),
    })),
    goals: [{ over: ['depth=2', 'p50'], under: ['depth=0', 'p50'], atMost: 2 }],
  }))
}

let candidates = 0
/** An address that was never invited. */
const newCandidate = () => `invited.${process.pid}.${++candidates}@example.com`

/** Creates an invite of the assessment. */
export const invitation = (assessmentId: string): Request => ({
  path: `${V1}/invites`,
  body: () => ({ assessmentId, recipientEmail: newCandidate() }),
})

const alternateInvitation = (assessment: string): Request => ({
  path: `${ALTERNATE}/assessment_invites`,
  body: () => ({
    email: newCandidate(),
    assessment,
    question_play_limit: 1,
    answer_record_limit: 1,
    face_photo_required: true,
    id_photo_required: true,
    tags: [],
    assigned_grader: null,
  }),
})

function createCase({ service, floor }: Organizations): Case {
  const own = { rival: 'service', organization: service } as const
  return {
    name: 'create',
    connections: CONNECTIONS,
    variants: [
      { name: 'service', ...own, requests: service.assessmentIds.map(invitation) },
      { name: 'floor', rival: 'floor', organization: floor, requests: floor.assessmentIds.map(invitation) },
      { name: 'one assessment', ...own, requests: service.assessmentIds.slice(0, 1).map(invitation) },
      { name: 'alternate', ...own, requests: service.assessmentIds.map(alternateInvitation) },
    ],
    goals: [
      { over: ['service', 'throughput'], under: ['floor', 'throughput'], atLeast: 0.45 },
      { over: ['service', 'p99'], under: ['service', 'p50'], atMost: 5 },
      { over: ['one assessment', 'throughput'], under: ['service', 'throughput'], atLeast: 0.9 },
      { over: ['alternate', 'throughput'], under: ['service', 'throughput'], forInformation: true },
    ],
  }
}
