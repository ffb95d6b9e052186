import { setTimeout as sleep } from 'node:timers/promises'
import { expect, it, onTestFinished } from 'vitest'
import { createApiKey } from '../../src/domain/api-keys/api-keys.ts'
import { startSession } from '../../src/domain/sign-in/sessions.ts'
import { PASSWORD, SECRET_KEY } from '../support/known-secrets.ts'
import { openTestDatabase, type ServiceProcess, startProcess, type TestDatabase } from '../support/processes.ts'
import { LONG, scaled } from '../support/scale.ts'
import { waitUntil } from '../support/wait-until.ts'

const WRITERS = 8
const ENTRIES = scaled(160, 10_000)
const CHANGES = ENTRIES / WRITERS
const KILLS = scaled(2, 10)
const READERS = 3
const CLIENT_SECRET = 'client-secret-of-the-audit-feed-0123456789'

type Entry = {
  id: string
  position: number
  action: string
  address: string | null
  target: { id: string } | null
  details: Record<string, unknown>
}
type Running = { service: ServiceProcess }
type Person = { cookie: string; token: string; keyId: string; key: string }

/** Creates a signed-in admin and an API key whose limit the admin changes. */
async function makeWriter({ db, deps, system, make }: TestDatabase, organizationId: string, name: string): Promise<Person> {
  const { id, email } = await make.member(organizationId, { roles: ['admin'] })
  const now = new Date()
  const data = { id: deps.newId(), email, passwordHash: 'none', passwordChangedAt: now, createdAt: now }
  const credential = await db.credential.create({ data })
  await db.member.update({ where: { id }, data: { credentialId: credential.id } })
  const browser = { userAgent: 'A test', network: '192.0.2.1', isShared: false, isInside: false }
  const { token } = (await startSession(system, credential, browser, ['password']))!
  const { key, apiKey } = await createApiKey(system, { organizationId, name, mode: 'live' })
  return { cookie: `session=${token}`, token, keyId: apiKey.id, key }
}

const post = ({ service }: Running, { cookie }: Person, path: string, fields: Record<string, string>) =>
  fetch(service.url + path, {
    method: 'POST',
    redirect: 'manual',
    headers: { cookie, 'sec-fetch-site': 'same-origin' },
    body: new URLSearchParams(fields),
  })

/**
 * Repeats the request until it is answered, because the service may be killed before or after the change. Setting the same limit again changes
 * nothing.
 */
async function postUntilAnswered(running: Running, person: Person, path: string, requestsPerMinute: number): Promise<void> {
  for (;;) {
    const answer = await post(running, person, path, { requestsPerMinute: String(requestsPerMinute) }).catch(() => null)
    await answer?.body?.cancel()
    if (answer?.status === 303) return
    if (answer && answer.status < 500 && answer.status !== 429) throw new Error(`It was answered ${answer.status}.`)
    await sleep(20)
  }
}

/** Reads the feed until the writers are done, and then to its end. */
async function follow(running: Running, key: string, isOver: () => boolean): Promise<Entry[]> {
  const entries: Entry[] = []
  for (let cursor = ''; ; ) {
    const wasOver = isOver()
    const url = `${running.service.url}/api/v1/audit-entries?limit=${1 + Math.floor(Math.random() * 100)}${cursor && `&cursor=${cursor}`}`
    const page = await fetch(url, { headers: { 'x-api-key': key } })
      .then(async (answer) =>
        answer.ok ? ((await answer.json()) as { entries: Entry[]; cursor: string; hasMore: boolean }) : null,
      )
      .catch(() => null)
    if (page) {
      entries.push(...page.entries)
      cursor = page.cursor
      if (wasOver && !page.hasMore) return entries
    }
    if (!page?.hasMore) await sleep(20)
  }
}

it(`shows ${ENTRIES} entries of ${WRITERS} writers to ${READERS} readers once and in order, despite ${KILLS} kills`, async () => {
  const database = await openTestDatabase()
  onTestFinished(() => database.db.$disconnect())
  const { db, system, make } = database
  const { id: organizationId } = await make.organization()
  const writers = await Promise.all(
    Array.from({ length: WRITERS }, (_, i) => makeWriter(database, organizationId, `Writer ${i}`)),
  )
  const reader = await createApiKey(system, { organizationId, name: 'Reader', mode: 'live', scopes: ['audit:read'] })
  const launch = () => startProcess({ DATABASE_URL: database.url })
  const running: Running = { service: await launch() }
  const home = `/portal/${organizationId}/settings`

  // The first writer creates an API key and an identity provider, which both have a secret.
  const made = await post(running, writers[0]!, `${home}/integrations`, { name: 'Made here', mode: 'live', expiry: 'never' })
  const shown = /ak_live_\w+/.exec(await made.text())?.[0]
  expect([made.status, shown]).toEqual([200, expect.any(String)])
  const provider = await post(running, writers[0]!, `${home}/sign-in/providers`, {
    ...{ name: 'Acme', issuer: 'https://login.example.com', clientId: 'ours', clientSecret: CLIENT_SECRET, secondFactor: 'ours' },
    ...{ clientAuth: 'client_secret_basic', secretExpiresAt: '', acrValues: '', requiredClaims: '', defaultRoles: 'grader' },
  })
  expect(provider.status).toBe(303)

  let isWritten = false
  let written = 0
  const readers = Array.from({ length: READERS }, () => follow(running, reader.key, () => isWritten))
  const writing = Promise.all(
    writers.map(async (person) => {
      for (let n = 1; n <= CHANGES; n++) {
        await postUntilAnswered(running, person, `${home}/integrations/${person.keyId}/limit`, n)
        written++
      }
    }),
  )
  const began = performance.now()
  for (let kill = 1; kill <= KILLS; kill++) {
    const due = (kill * ENTRIES) / (KILLS + 1)
    await waitUntil(`${due} entries`, () => written >= due || undefined, 1_500_000)
    running.service.kill('SIGKILL')
    await running.service.exited
    running.service = await launch()
  }
  await writing
  await waitUntil(
    'the sequencing of events',
    async () => (await db.auditEntry.count({ where: { organizationId, position: null } })) === 0 || undefined,
  )
  isWritten = true
  const [one, ...others] = (await Promise.all(readers)) as [Entry[], ...Entry[][]]
  if (LONG) process.stdout.write(`${ENTRIES} entries, ${KILLS} kills: ${Math.round(performance.now() - began)} ms\n`)

  for (const other of others) expect(other).toEqual(one)
  const positions = one.map(({ position }) => position)
  expect(positions).toEqual([...new Set(positions)].toSorted((a, b) => a - b))
  expect(one).toHaveLength(await db.auditEntry.count({ where: { organizationId } }))
  const changes = one.filter(({ action }) => action === 'changed_key')
  expect(changes).toHaveLength(ENTRIES)
  expect(new Set(changes.map(({ address }) => address))).toEqual(new Set(['127.0.0.1']))
  for (const { keyId } of writers)
    expect(changes.filter(({ target }) => target?.id === keyId).map(({ details }) => details.requestsPerMinute)).toEqual(
      Array.from({ length: CHANGES }, (_, i) => ({ before: i === 0 ? 'none' : i, after: i + 1 })),
    )
  const text = JSON.stringify(one)
  const secrets = [SECRET_KEY, PASSWORD, CLIENT_SECRET, shown!, reader.key, ...writers.flatMap(({ token, key }) => [token, key])]
  expect(secrets.filter((secret) => text.includes(secret))).toEqual([])
})
