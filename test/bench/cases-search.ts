import type { Case, Goal, Variant } from './cases.ts'
import type { Organization, Organizations } from './fill.ts'
import type { Request } from './load.ts'

const CONNECTIONS = 4
/** For searches that PostgreSQL takes several processes for. */
const ONE_CONNECTION = 1
const LIST = '/api/alternate/assessment_invites'
const FILTERED = '/api/v1/invites'
const EVENTS = '/api/v1/events'

/** Over the first page's median. */
const SEARCH_COSTS = 3
const FILTER_COSTS = 1.2
/** Over the same in the small organization. */
const FLAT = 1.5

type Ask = (organization: Organization) => Request[]

/** Searches, filters and the feed, in organizations of all sizes, beside the first page of the list. */
export function searchCases(organizations: Organizations): Case[] {
  const search: Ask = () => [{ path: LIST }]
  const searching = (text: (n: number) => string): Ask => fromAll((n) => `${LIST}?search=${encodeURIComponent(text(n))}`)
  const first: Ask = () => [{ path: FILTERED }]
  return [
    compare(
      'search',
      organizations,
      ['first page', search],
      [
        ['an address', searching((n) => `candidate${n}@example.com`), SEARCH_COSTS],
        // Of a million, some 1,100 have it.
        ['a part of addresses', searching((n) => `e${100 + (n % 900)}`), SEARCH_COSTS],
        ['an assessment', searching((n) => `No${1 + (n % 50)}`), SEARCH_COSTS],
        ['both', searching((n) => `${n}@ No${1 + (n % 50)}`), SEARCH_COSTS],
        ['nothing', searching((n) => `nobody${n}`), SEARCH_COSTS],
      ],
    ),
    // As many matches as there are invites, and all of them have to be counted.
    compare(
      'search for what all have',
      organizations,
      ['first page', search],
      [
        ['in addresses', searching(() => 'example')],
        ['in names', searching(() => 'assessment'), SEARCH_COSTS],
        ['too short', searching(() => 'e')],
      ],
      ONE_CONNECTION,
    ),
    compare(
      'filters',
      organizations,
      ['first page', first],
      [
        ['recipientEmail', fromAll((n) => `${FILTERED}?recipientEmail=Candidate${n}@example.com`), FILTER_COSTS],
        ['recipient', fromAll((n) => `${FILTERED}?recipient=didate%20${n}`), SEARCH_COSTS],
        ['tagId', ({ tagIds }) => tagIds.map((id) => ({ path: `${FILTERED}?tagId=${id}` })), FILTER_COSTS],
      ],
    ),
    compare(
      'events',
      organizations,
      ['first page', first],
      [
        ['oldest', () => [{ path: `${EVENTS}?limit=20` }], FILTER_COSTS],
        ['in the middle', fromAll((n, { firstEvent }) => `${EVENTS}?limit=20&cursor=${firstEvent + n - 1}`), FILTER_COSTS],
        ['newest', ({ firstEvent, size }) => [{ path: `${EVENTS}?limit=20&cursor=${firstEvent + size - 20}` }], FILTER_COSTS],
        [
          'of a type',
          fromAll((n, { firstEvent }) => `${EVENTS}?limit=20&type=email.failed&cursor=${firstEvent + n - 1}`),
          FILTER_COSTS,
        ],
      ],
    ),
  ]
}

/** Twenty numbers from all over the organization's invites. */
const fromAll =
  (path: (n: number, organization: Organization) => string): Ask =>
  (organization) =>
    Array.from({ length: 20 }, (_, i) => ({ path: path(1 + Math.floor(((i + 0.5) * organization.size) / 20), organization) }))

type Asked = [name: string, ask: Ask, atMost?: number]

function compare(
  name: string,
  { small, middle, large }: Organizations,
  first: [string, Ask],
  asked: Asked[],
  connections = CONNECTIONS,
): Case {
  const variants = [first, ...asked].flatMap(([what, ask]) =>
    [small, middle, large].map(
      (organization): Variant => ({
        name: `${what}@${organization.size}`,
        rival: 'service',
        organization,
        requests: ask(organization),
      }),
    ),
  )
  const goals = asked.flatMap(([what, , atMost]): Goal[] => {
    const over: Goal['over'] = [`${what}@${large.size}`, 'p50']
    if (atMost === undefined) return [{ over, forInformation: true }]
    return [
      { over, under: [`${first[0]}@${large.size}`, 'p50'], atMost },
      { over, under: [`${what}@${small.size}`, 'p50'], atMost: FLAT },
    ]
  })
  return { name, connections, variants, goals }
}
