import type { Case, Goal, Variant } from './cases.ts'
import type { Organizations } from './fill.ts'

const CONNECTIONS = 4
/** Milliseconds. */
const SLOWEST = 50

/** What is in every address is counted in every invite, the middle of the list is counted to. */
const UNBOUND = ['GET /invites?search=example', 'GET /invites?page=:middlePage']

/** Pages as their forms and links ask for them, besides each as it is by itself. */
const FURTHER = [
  'GET /invites?state=pending',
  'GET /invites?assessment=:assessmentId',
  'GET /invites?assessment=:assessmentId&state=completed&sort=expires',
  'GET /invites?tag=:tagId',
  'GET /invites?search=candidate7@example.com',
  'GET /invites?search=word',
  'GET /invites?search=example',
  'GET /invites?page=1000',
  'GET /invites?page=:middlePage',
  'GET /invites?page=:lastPage',
  'GET /invites/batches/:batchId?page=2',
  'GET /members?search=last&role=grader',
  'GET /members?page=2',
  'GET /tags?search=more',
  'GET /assessments?search=assessment',
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

/**
 * Every page of the portal in the large organization.
 *
 * @param routes all of them: those about rows that this organization does not have are left out.
 */
export function portalCase({ large, portal }: Organizations, routes: string[]): Case {
  const pages = Math.ceil(large.size / 20)
  const rows = portal.rows.map((row, i) => ({
    ...row,
    inviteId: large.inviteIds[i % large.inviteIds.length]!,
    middlePage: String(Math.floor(pages / 2) + i),
    lastPage: String(pages),
  }))
  const known = new Set(Object.keys(rows[0]!))
  const names = [...routes.filter((name) => name.startsWith('GET ')), ...FURTHER]
  const variants = names
    .filter((name) => parametersOf(name).every((parameter) => known.has(parameter)))
    .map((name): Variant => {
      const [path, , role = 'admin'] = name.split(' ').reverse() as [string, string, (keyof typeof portal.cookies)?]
      const address = (row: Record<string, string>) => path.replace(PARAMETER, (_all, parameter) => row[parameter]!)
      const requests = rows.map((row) => ({ path: `/portal/${large.id}${address(row)}`, cookie: portal.cookies[role] }))
      return { name, rival: 'service', organization: large, requests }
    })
  const goals = variants
    .filter(({ name }) => !UNBOUND.includes(name))
    .map(({ name }): Goal => ({ over: [name, 'p50'], atMost: SLOWEST }))
  return { name: 'portal', connections: CONNECTIONS, variants, goals, rounds: 1 }
}

const PARAMETER = /:(\w+)/g
const parametersOf = (name: string): string[] => [...name.matchAll(PARAMETER)].map(([, parameter]) => parameter!)
