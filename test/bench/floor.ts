// The floor is the fastest server that this database and Node allow for the same responses: hand-written prepared SQL and plain node:http.
// It checks only the API key, and only its response bodies match the service's.
import { createHash } from 'node:crypto'
import { createServer, type IncomingMessage } from 'node:http'
import { json } from 'node:stream/consumers'
import { Pool } from 'pg'
import { answersOf } from './floor-answers.ts'
import { type Body, prepareCreation } from './floor-create.ts'

export type Key = { id: string; organizationId: string; createdById: string | null }

const ID = /[0-9a-f-]{36}/
const pool = new Pool({ connectionString: process.env.DATABASE_URL!, max: Number(process.env.POOL_SIZE) })
const keys = new Map<string, Key>()
const createInvite = await prepareCreation(pool, process.env.DATABASE_URL!)
const answers = answersOf(pool)

createServer(async (request, response) => {
  const answer = (status: number, body: unknown) => {
    const text = JSON.stringify(body)
    const headers = { 'content-type': 'application/json; charset=utf-8', 'content-length': Buffer.byteLength(text) }
    response.writeHead(status, headers).end(text)
  }
  try {
    const key = await authenticate(request)
    if (!key) return answer(401, { error: 'No such key' })
    if (request.method === 'POST') return answer(201, await createInvite(key, (await json(request)) as Body))
    const [address, id] = [request.url!, ID.exec(request.url!)?.[0]]
    const path = address.split('?', 1)[0]!.replace(ID, '{id}')
    const body = await answers[path]?.(address, request.headers.host!, [key.organizationId, ...(id ? [id] : [])])
    answer(body ? 200 : 404, body ?? { error: 'Not found' })
  } catch (error) {
    console.error('floor:', error)
    answer(500, { error: 'Failed' })
  }
}).listen(Number(process.env.PORT), '127.0.0.1')

/** Caches keys, as the service does. */
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
