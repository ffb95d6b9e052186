// Keeps a copy of all invites in step with the service. Run it as often as you like, or let it run: it goes on where it ended.
//
//   SERVICE=https://assess.example.org KEY=ak_live_… node follow-events.mjs [--once]
//
// It needs Node 20 or newer, and nothing else. It keeps the invites and the cursor in invites.json (STATE_FILE), written together, so that a
// crash loses neither. In your system, write both to your own database in one transaction.
//
// DELETE /test-data adds no events: with a test key, delete STATE_FILE after it.
import { readFile, rename, writeFile } from 'node:fs/promises'
import { setTimeout as sleep } from 'node:timers/promises'

const { SERVICE, KEY, STATE_FILE = 'invites.json', POLL_SECONDS = '5' } = process.env
if (!SERVICE || !KEY) {
  console.error('Set SERVICE, such as https://assess.example.org, and KEY.')
  process.exit(1)
}
const once = process.argv.includes('--once')
const RETRY_SECONDS = 5

/** GETs a resource of API v1. Waits and asks again while the service is busy, or, unless it runs once, can't be reached. */
async function get(path) {
  for (;;) {
    const response = await fetch(`${SERVICE}/api/v1${path}`, { headers: { 'x-api-key': KEY } }).catch((error) => {
      if (once) throw error
      console.error(`${path}: ${error.cause?.message ?? error.message}`)
    })
    if (!response || response.status === 429 || response.status >= 500) {
      if (once && response && ![429, 503].includes(response.status)) throw new Error(`${response.status} ${path}`)
      await sleep(1000 * Number(response?.headers.get('retry-after') ?? RETRY_SECONDS))
      continue
    }
    const body = await response.json()
    if (!response.ok && ![404, 410].includes(response.status)) throw new Error(`${response.status} ${path}: ${body.error}`)
    return { status: response.status, headers: response.headers, body }
  }
}

/**
 * Reads all pages of the list, and the cursor that the first page came with: what happens meanwhile is in the feed behind it. In the
 * default order, newest first, no invite moves to a page that has been read.
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
    process.stdout.write(`${type} ${data.inviteId} ${data.status ?? ''}\n`)
    await apply(invites, type, data)
  }
  return { state: { invites, cursor: body.cursor }, hasMore: body.hasMore }
}

/** An erased candidate must not stay in the copy. An invite that is gone by now was erased, or deleted with the test data. */
async function apply(invites, type, { inviteId, status }) {
  const invite = type === 'invite.erased' ? undefined : (invites[inviteId] ?? (await fetchInvite(inviteId)))
  if (invite) invites[inviteId] = { ...invite, status }
  else delete invites[inviteId]
}

/** Events are thin: who is invited is read from the invite. */
async function fetchInvite(id) {
  const { status, body } = await get(`/invites/${id}`)
  return status === 404 ? undefined : { recipientEmail: body.recipientEmail }
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
  if (once) break
  await sleep(1000 * Number(POLL_SECONDS))
}
