// Receives webhooks, and keeps the state of each invite by them. What it missed while it was not running it reads from the feed of events.
//
//   npm install standardwebhooks
//   SERVICE_URL=https://assess.example.org API_KEY=ak_live_… WEBHOOK_SECRET=whsec_… node receive-webhooks.mjs
//
// It listens on PORT for what a proxy with a certificate passes on. What it knows is in received.json (STATE_FILE). Put your own database
// in its place: one transaction for each event.
import { readFile, rename, writeFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import { Webhook } from 'standardwebhooks'

const {
  SERVICE_URL,
  API_KEY,
  WEBHOOK_SECRET,
  PORT = '8080',
  STATE_FILE = 'received.json',
  CATCH_UP_SECONDS = '600',
} = process.env
const MAX_BODY_BYTES = 64 * 1024
// During a rotation of the secret: both, separated by a comma.
const webhooks = WEBHOOK_SECRET.split(',').map((secret) => new Webhook(secret))

// `cursor`: the feed has been read up to this position. `seen`: the events behind it that webhooks have brought, by their ids.
let state = await readFile(STATE_FILE, 'utf8').then(JSON.parse, () => ({ cursor: undefined, seen: {}, invites: {} }))

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
function apply({ cursor = 0, seen, invites }, { id, type, position, data }) {
  if (position <= cursor || id in seen) return
  seen[id] = position
  process.stdout.write(`${type} ${data.inviteId ?? ''}\n`)
  if (data.inviteId === undefined) return // webhook.test
  if (position > (invites[data.inviteId]?.position ?? 0)) invites[data.inviteId] = { status: data.status, position }
}

/** Reads the feed to its end: it has what the webhooks have not brought. */
async function catchUp(next) {
  for (let hasMore = true; hasMore; ) {
    const from = next.cursor === undefined ? '' : `&cursor=${next.cursor}`
    const response = await fetch(`${SERVICE_URL}/api/v1/events?mode=all&limit=100${from}`, { headers: { 'x-api-key': API_KEY } })
    const body = await response.json()
    if (response.status === 410) throw new Error('Events have been missed for good: list everything again, see follow-events.mjs')
    if (!response.ok) throw new Error(`${response.status}: ${body.error}`)
    for (const event of body.events) apply(next, event)
    next.cursor = Number(body.cursor)
    hasMore = body.hasMore
  }
  next.seen = Object.fromEntries(Object.entries(next.seen).filter(([, position]) => position > next.cursor))
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
server.listen(Number(PORT), () => process.stdout.write(`listening on ${server.address().port}\n`))
// Also now and then: should a delivery be given up, the feed still has its event.
setInterval(() => change(catchUp).catch((error) => console.error(error.message)), 1000 * Number(CATCH_UP_SECONDS))
