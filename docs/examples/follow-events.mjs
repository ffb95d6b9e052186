// Keeps a copy of all invites in step with the service. Run it as often as you like, or let it run: it goes on where it has ended.
//
//   SERVICE_URL=https://assess.example.org API_KEY=ak_live_… node follow-events.mjs [--once]
//
// It needs Node 20 or newer, and nothing else. What it knows is in invites.json (STATE_FILE): the invites and the cursor, which are
// written together, so that a crash loses neither. Put your own database in its place: one transaction for both.
import { readFile, rename, writeFile } from 'node:fs/promises'
import { setTimeout as sleep } from 'node:timers/promises'

const { SERVICE_URL, API_KEY, STATE_FILE = 'invites.json', POLL_SECONDS = '5' } = process.env

/** GETs a resource of API v1; waits and asks again when the service says so. */
async function get(path) {
  for (;;) {
    const response = await fetch(`${SERVICE_URL}/api/v1${path}`, { headers: { 'x-api-key': API_KEY } })
    if (response.status === 429 || response.status === 503) {
      await sleep(1000 * Number(response.headers.get('retry-after') ?? 5))
      continue
    }
    const body = await response.json()
    if (!response.ok && response.status !== 410) throw new Error(`${response.status} ${path}: ${body.error}`)
    return { status: response.status, headers: response.headers, body }
  }
}

/**
 * The beginning: all pages of the list, and the cursor that the first came with. What happens meanwhile is in the feed behind it. In the
 * list's own order, newest first, nothing slips from a page to one that has been read.
 */
async function listEverything() {
  const invites = {}
  let cursor
  for (let page = 1, pages = 1; page <= pages; page++) {
    const { headers, body } = await get(`/invites?limit=100&page=${page}`)
    cursor ??= headers.get('events-cursor')
    for (const { id, status, recipientEmail } of body.invites) invites[id] = { status, recipientEmail }
    pages = body.pagination.totalPages
  }
  return { invites, cursor }
}

/** Applies one page of the feed. An event says what the invite was then; events that the list knew already lead to the same end. */
async function followOnce({ invites, cursor }) {
  const { status, body } = await get(`/events?mode=all&limit=100&cursor=${cursor}`)
  // The events behind the cursor are no longer kept, or the service has been restored from a backup.
  if (status === 410) return { state: await listEverything(), hasMore: true }
  for (const { type, data } of body.events) {
    process.stdout.write(`${type} ${data.inviteId} ${data.status}\n`)
    invites[data.inviteId] = { ...(invites[data.inviteId] ?? (await fetchInvite(data.inviteId))), status: data.status }
  }
  return { state: { invites, cursor: body.cursor }, hasMore: body.hasMore }
}

/** Events are thin: who is invited is read from the invite. */
async function fetchInvite(id) {
  const { body } = await get(`/invites/${id}`)
  return { recipientEmail: body.recipientEmail }
}

const readState = () => readFile(STATE_FILE, 'utf8').then(JSON.parse, () => undefined)

async function writeState(state) {
  await writeFile(`${STATE_FILE}.new`, JSON.stringify(state))
  await rename(`${STATE_FILE}.new`, STATE_FILE)
}

let state = (await readState()) ?? (await listEverything())
await writeState(state)
for (;;) {
  const next = await followOnce(state)
  state = next.state
  await writeState(state)
  if (next.hasMore) continue
  if (process.argv.includes('--once')) break
  await sleep(1000 * Number(POLL_SECONDS))
}
