// Receives webhooks, and keeps the state of each invite by them. What it missed while it was not running it reads from the feed of events.
//
//   npm install standardwebhooks
//   SERVICE=https://assess.example.org KEY=ak_live_… WEBHOOK_SECRET=whsec_… node receive-webhooks.mjs
//
// It listens on PORT for what a proxy with a certificate passes on. It keeps what it knows in received.json (STATE_FILE). In your system, write
// it to your own database, in one transaction for each event.
import { readFile, rename, writeFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'
import { Webhook } from 'standardwebhooks'

const { SERVICE, KEY, WEBHOOK_SECRET, PORT = '8080', STATE_FILE = 'received.json', CATCH_UP_SECONDS = '600' } = process.env
if (!SERVICE || !KEY || !WEBHOOK_SECRET) {
  console.error('Set SERVICE, KEY, and WEBHOOK_SECRET, the whsec_… that POST /api/v1/webhooks answered with.')
  process.exit(1)
}
const MAX_BODY_BYTES = 64 * 1024
const RETRY_SECONDS = 5
// During a rotation of the secret: both, separated by a comma.
const webhooks = WEBHOOK_SECRET.split(',').map((secret) => new Webhook(secret))

// `cursor`: the feed has been read up to this position. `seen` and `erased`: the events behind it that webhooks have brought, by their ids,
// and the invites that they have erased, each with its position.
let state = await readFile(STATE_FILE, 'utf8').then(JSON.parse, () => ({ cursor: undefined, seen: {}, erased: {}, invites: {} }))

/** One change after the other, each stored before anybody is told that it is. */
let turn = Promise.resolve()
function change(work) {
  const done = turn.then(async () => {
    const next = structuredClone(state)
    await work(next)
    await writeFile(`${STATE_FILE}.new`, JSON.stringify(next))
    await rename(`${STATE_FILE}.new`, STATE_FILE)
    state = next
  })
  turn = done.catch(() => {})
  return done
}

/** Events come repeatedly, and in any order: each counts once, and of those of an invite the one with the highest position. */
function apply({ cursor = 0, seen, erased, invites }, { id, type, position, data: { inviteId, status } }) {
  if (position <= cursor || id in seen) return
  seen[id] = position
  process.stdout.write(`${type} ${inviteId ?? ''}\n`)
  if (inviteId === undefined || inviteId in erased) return // webhook.test, or a late event of an erased invite
  if (type === 'invite.erased') {
    erased[inviteId] = position
    delete invites[inviteId]
  } else if (position > (invites[inviteId]?.position ?? 0)) invites[inviteId] = { status, position }
}

/** GETs a resource of API v1; waits and asks again while the service is busy. */
async function get(path) {
  for (;;) {
    const response = await fetch(`${SERVICE}/api/v1${path}`, { headers: { 'x-api-key': KEY } })
    const body = await response.json()
    if (response.ok || response.status === 410) return { status: response.status, headers: response.headers, body }
    if (response.status !== 429 && response.status !== 503) throw new Error(`${response.status} ${path}: ${body.error}`)
    await sleep(1000 * Number(response.headers.get('retry-after') ?? RETRY_SECONDS))
  }
}

/** Reads the feed to its end: it has what the webhooks have not brought. */
async function catchUp(next) {
  for (let hasMore = true; hasMore; ) {
    const from = next.cursor === undefined ? '' : `&cursor=${next.cursor}`
    const { status, body } = await get(`/events?mode=all&limit=100${from}`)
    if (status === 410) {
      await listEverything(next)
      continue
    }
    for (const event of body.events) apply(next, event)
    next.cursor = Number(body.cursor)
    hasMore = body.hasMore
  }
  for (const known of [next.seen, next.erased])
    for (const [id, position] of Object.entries(known)) if (position <= next.cursor) delete known[id]
}

/** Begins anew where the feed has lost the cursor: its events are no longer kept, or the service was restored from a backup. */
async function listEverything(next) {
  Object.assign(next, { cursor: undefined, seen: {}, erased: {}, invites: {} })
  for (let page = 1, pages = 1; page <= pages; page++) {
    const { headers, body } = await get(`/invites?limit=100&page=${page}`)
    next.cursor ??= Number(headers.get('events-cursor'))
    for (const { id, status } of body.invites) next.invites[id] = { status, position: next.cursor }
    pages = body.pagination.totalPages
  }
}

async function readBody(request) {
  const chunks = []
  let length = 0
  for await (const chunk of request) {
    length += chunk.length
    if (length > MAX_BODY_BYTES) throw new Error('The body is too large')
    chunks.push(chunk)
  }
  return Buffer.concat(chunks).toString('utf8')
}

/** The event, if it was signed with one of the secrets, and not long ago. The signature is of the bytes as they came. */
function verify(body, headers) {
  for (const webhook of webhooks) {
    try {
      return webhook.verify(body, headers)
    } catch {}
  }
  return undefined
}

const server = createServer(async (request, response) => {
  try {
    const event = verify(await readBody(request), request.headers)
    // What is stored is confirmed at once; what takes longer than a moment is to be done afterwards.
    if (event) await change((next) => apply(next, event))
    response.writeHead(event ? 204 : 401).end()
  } catch (error) {
    console.error(error.message)
    response.writeHead(500).end() // it will come again
  }
})

await change(catchUp)
server.on('error', (error) => {
  console.error(error.code === 'EADDRINUSE' ? `Port ${PORT} is in use. Is another receiver running?` : error.message)
  process.exit(1)
})
server.listen(Number(PORT), () => process.stdout.write(`listening on ${server.address().port}\n`))
// Also now and then: should a delivery be given up, the feed still has its event.
setInterval(() => change(catchUp).catch((error) => console.error(error.message)), 1000 * Number(CATCH_UP_SECONDS))
