import { setTimeout as sleep } from 'node:timers/promises'
import { PATIENT, waitUntil } from './wait-until.ts'

/** @property urls base URLs, used in turn. @property key API key. */
type Access = { urls: string[]; key: string }

export type Answer = { status: number; retryAfter: string | null; at: number }

const PAUSE_MS = 20
/** Shorter than the Retry-After of a 503, so that a test sees enough of these responses. */
const RETRY_MS = 200

async function send({ urls, key }: Access, turn: number, resource: string, init: RequestInit = {}): Promise<Response> {
  const headers = { 'x-api-key': key, ...(init.body !== undefined && { 'content-type': 'application/json' }), ...init.headers }
  const url = `${urls[turn % urls.length]}/api/v1${resource}`
  return fetch(url, { ...init, headers, signal: AbortSignal.timeout(PATIENT.timeout) })
}

/** Starts clients that create one invite after the other. Each repeats its request with the same Idempotency-Key until the invite is created. */
export function keepInviting(access: Access & { assessmentId: string }, { clients = 3 } = {}) {
  const answers: Answer[] = []
  const acknowledged: { email: string; id: string; at: number }[] = []
  const run = crypto.randomUUID()
  let isOver = false

  async function invite(email: string): Promise<void> {
    const body = JSON.stringify({ assessmentId: access.assessmentId, recipientEmail: email })
    for (let attempt = 0; ; attempt++) {
      const init = { method: 'POST', body, headers: { 'idempotency-key': email } }
      const response = await send(access, attempt + answers.length, '/invites', init)
      const answer = (await response.json()) as { invite?: { id: string } }
      const at = performance.now()
      answers.push({ status: response.status, retryAfter: response.headers.get('retry-after'), at })
      if (response.status === 201) return void acknowledged.push({ email, id: answer.invite!.id, at })
      if (response.status !== 503) throw new Error(`${response.status}: ${JSON.stringify(answer)}`)
      await sleep(RETRY_MS)
    }
  }

  const running = Array.from({ length: clients }, async (_, client) => {
    for (let nth = 0; !isOver; nth++) {
      await invite(`${run}-${client}-${nth}@example.com`)
      await sleep(PAUSE_MS)
    }
  })
  const done = Promise.all(running)
  done.catch(() => {}) // awaited in stop
  return {
    answers,
    acknowledged,
    /** Waits until this many more invites have been created. */
    made(more: number) {
      const enough = acknowledged.length + more
      return Promise.race([waitUntil(`${more} more invites`, () => acknowledged.length >= enough || undefined), failed(done)])
    },
    refused: () => answers.filter(({ status }) => status !== 201),
    /** Returns the longest time between two created invites, in seconds. */
    longestPause: () => Math.max(...acknowledged.slice(1).map(({ at }, i) => at - acknowledged[i]!.at)) / 1_000,
    async stop() {
      isOver = true
      await done
    },
  }
}

const failed = (running: Promise<unknown>) => running.then(() => new Promise<never>(() => {}))

/** Starts a reader of the feed. After a 410, it lists invites and continues from the list's cursor. */
export function followFeed(access: Access) {
  /** Ids of events by position. `contradictions` has the positions at which two different events were read. */
  const eventIds = new Map<number, string>()
  const contradictions: { position: number; ids: string[] }[] = []
  let [cursor, listings, turn, isOver] = ['0', 0, 0, false]

  async function list(): Promise<void> {
    const response = await send(access, turn++, '/invites?limit=1')
    await response.arrayBuffer()
    if (response.status !== 200) return
    cursor = response.headers.get('events-cursor')!
    listings++
  }
  async function read(): Promise<void> {
    const response = await send(access, turn++, `/events?limit=100&cursor=${cursor}`)
    const page = (await response.json()) as { events: { id: string; position: number }[]; cursor: string }
    if (response.status === 410) return list()
    if (response.status === 503) return
    if (response.status !== 200) throw new Error(`${response.status}: ${JSON.stringify(page)}`)
    for (const { id, position } of page.events) {
      const known = eventIds.get(position)
      if (known !== undefined && known !== id) contradictions.push({ position, ids: [known, id] })
      eventIds.set(position, id)
    }
    cursor = page.cursor
  }
  const running = (async () => {
    while (!isOver) {
      await read()
      await sleep(PAUSE_MS)
    }
  })()
  running.catch(() => {}) // awaited in stop
  return {
    eventIds,
    contradictions,
    listings: () => listings,
    cursor: () => BigInt(cursor),
    async stop() {
      isOver = true
      await running
    },
  }
}
