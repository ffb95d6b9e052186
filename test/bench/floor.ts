// The floor: what this database and Node can do for the same answers, by hand-written SQL, prepared, and node:http alone. It checks
// nothing but the key and keeps no promise but the body. The bodies are written here once more on purpose: what
// the service is measured against has nothing of it.
import { createHash } from 'node:crypto'
import { createServer, type IncomingMessage } from 'node:http'
import { Pool } from 'pg'
import * as alternate from './floor-alternate.ts'
import { prepareCreation } from './floor-create.ts'
import * as v1 from './floor-v1.ts'

export type Key = { id: string; organizationId: string; createdById: string | null }
/** What a request asks for, and who asks. */
export type Request = { pool: Pool; key: Key; id: string; query: URLSearchParams; url: URL }
export type Read = (request: Request) => Promise<object | undefined>
// biome-ignore lint/suspicious/noExplicitAny: what pg makes of whatever columns
export type Row = Record<string, any>

const reads: Record<string, Read> = {
  '/api/v1/invites': v1.listInvites,
  '/api/v1/invites/{id}': v1.readInvite,
  '/api/v1/assessments': v1.listAssessments,
  '/api/v1/assessments/{id}/questions': v1.listQuestions,
  '/api/v1/members': v1.listMembers,
  '/api/v1/tags': v1.listTags,
  '/api/v1/assessments/{id}': v1.readAssessment,
  '/api/v1/tags/{id}': v1.readTag,
  '/api/alternate/assessment_invites': alternate.listInvites,
  '/api/alternate/assessment_invites/{id}': alternate.readInvite,
  '/api/alternate/assessments': alternate.listAssessments,
  '/api/alternate/organization_users': alternate.listOrganizationUsers,
  '/api/alternate/tags': alternate.listTags,
  '/api/alternate/assessments/{id}': alternate.readAssessment,
  '/api/alternate/tags/{id}': alternate.readTag,
}

const ID = /[0-9a-f-]{36}/
const pool = new Pool({ connectionString: process.env.DATABASE_URL!, max: Number(process.env.POOL_SIZE) })
const keys = new Map<string, Key>()
const createInvite = await prepareCreation(process.env.DATABASE_URL!)

createServer(async (request, response) => {
  const answer = (status: number, body: unknown) => {
    const text = JSON.stringify(body)
    const headers = { 'content-type': 'application/json; charset=utf-8', 'content-length': Buffer.byteLength(text) }
    response.writeHead(status, headers).end(text)
  }
  try {
    const url = new URL(request.url!, `http://${request.headers.host}`)
    const { pathname, searchParams: query } = url
    const key = await authenticate(request)
    if (!key) return answer(401, { error: 'No such key' })
    if (request.method === 'POST') return answer(201, await createInvite(pool, key, JSON.parse(await readBody(request))))
    const id = ID.exec(pathname)?.[0] ?? ''
    const body = await reads[id === '' ? pathname : pathname.replace(id, '{id}')]?.({ pool, key, id, query, url })
    answer(body ? 200 : 404, body ?? { error: 'Not found' })
  } catch (error) {
    console.error('floor:', error)
    answer(500, { error: 'Failed' })
  }
}).listen(Number(process.env.PORT), '127.0.0.1')

/** The service remembers the keys it has seen, too. */
async function authenticate({ headers }: IncomingMessage): Promise<Key | undefined> {
  const text = headers['x-api-key'] ?? headers['x-service-docs-api-key']
  if (!text) return undefined
  const hash = createHash('sha256').update(text.toString()).digest()
  const fingerprint = hash.toString('base64')
  const known = keys.get(fingerprint)
  if (known) return known
  const { rows } = await pool.query<Key>({
    name: 'key',
    text: `SELECT id, organization_id AS "organizationId", created_by_id AS "createdById" FROM api_keys WHERE hash = $1`,
    values: [hash],
  })
  if (rows[0]) keys.set(fingerprint, rows[0])
  return rows[0]
}

async function readBody(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = []
  for await (const chunk of request) chunks.push(chunk)
  return Buffer.concat(chunks).toString('utf8')
}
