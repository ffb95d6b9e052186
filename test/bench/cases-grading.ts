import type { Case, Goal, Variant } from './cases.ts'
import type { Organizations } from './fill.ts'
import type { Grading } from './fill-grading.ts'
import type { Request } from './load.ts'

const CONNECTIONS = 4
/** Milliseconds. */
const SLOWEST = 100
/** So much longer may it take among a hundred times as many submissions. */
const FLAT = 2
const PAGE_SIZE = 50

/** What graders, and the organization's own systems, ask for. */
const READINGS: Record<string, (grading: Grading) => Request[]> = {
  queue: ({ id, cookies }) => [{ path: `/portal/${id}/grading`, cookie: cookies.admin }],
  'queue, last page': ({ id, cookies, size }) => [
    { path: `/portal/${id}/grading?page=${Math.ceil(size / PAGE_SIZE)}`, cookie: cookies.admin },
  ],
  'queue of an assessment': ({ id, cookies, assessmentId }) => [
    { path: `/portal/${id}/grading?assessment=${assessmentId}`, cookie: cookies.admin },
  ],
  'queue, mine': ({ id, cookies }) => [{ path: `/portal/${id}/grading?whose=mine`, cookie: cookies.grader }],
  'queue, nobody’s': ({ id, cookies }) => [{ path: `/portal/${id}/grading?whose=nobody`, cookie: cookies.grader }],
  sheet: ({ id, cookies, submissionIds }) =>
    submissionIds.map((submissionId) => ({ path: `/portal/${id}/grading/${submissionId}`, cookie: cookies.admin })),
  results: ({ id, cookies }) => [{ path: `/portal/${id}/results`, cookie: cookies.admin }],
  'submissions, v1': () => [{ path: '/api/v1/submissions' }],
  'submissions of an assessment, v1': ({ assessmentId }) => [
    { path: `/api/v1/submissions?state=submitted&assessmentId=${assessmentId}` },
  ],
  'submission of an invite, v1': ({ inviteIds }) =>
    inviteIds.map((inviteId) => ({ path: `/api/v1/invites/${inviteId}/submission` })),
}

/** Reads every result there is: it is to stay bearable, not flat. */
const REPORT = (grading: Grading): Request[] => [
  { path: `/portal/${grading.id}/results/assessments/${grading.assessmentId}`, cookie: grading.cookies.admin },
]

/** Grading among few submissions and many, of 20 questions each. */
export function gradingCase({ grading: { few, many } }: Organizations): Case {
  const ask = (name: string, organization: Grading, requests: Request[]): Variant => ({
    name: `${name}@${organization.size}`,
    rival: 'service',
    organization,
    requests,
  })
  const pairs = Object.entries({ ...READINGS, report: REPORT }).map(
    ([name, read]) => [ask(name, few, read(few)), ask(name, many, read(many))] as const,
  )
  const goals = pairs.flatMap(([{ name: small }, { name: large }]): Goal[] => {
    const isReport = large.startsWith('report')
    const slowest: Goal = { over: [large, 'p50'], ...(isReport ? { forInformation: true } : { atMost: SLOWEST }) }
    const flat: Goal = {
      over: [large, 'p50'],
      under: [small, 'p50'],
      ...(isReport ? { forInformation: true } : { atMost: FLAT }),
    }
    return [slowest, flat]
  })
  return { name: 'grading', connections: CONNECTIONS, variants: pairs.flat(), goals, rounds: 1 }
}
