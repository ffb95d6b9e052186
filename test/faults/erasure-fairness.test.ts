import { setTimeout as sleep } from 'node:timers/promises'
import { describe, expect, it, onTestFinished } from 'vitest'
import { createApiKey } from '../../src/domain/api-keys/api-keys.ts'
import { openTestDatabase, startProcess } from '../support/processes.ts'
import { LONG, scaled } from '../support/scale.ts'
import { waitUntil } from '../support/wait-until.ts'

const CANDIDATES = scaled(60, 10_000)
const PER_MINUTE = 300
/** When an erasure is requested, two batches may be in progress, and two more may start before it. */
const MAX_OVERTAKEN = 20
const LONG_MS = 3_600_000
const TOO_MANY = 429

const addressOf = (i: number) => `candidate${i}@example.com`

describe('an erasure while another organization erases many candidates', () => {
  it(
    `finishes before ${MAX_OVERTAKEN} more erasures of the other organization`,
    async () => {
      const { url, db, system, make } = await openTestDatabase()
      onTestFinished(() => db.$disconnect())
      const service = await startProcess({ DATABASE_URL: url, RATE_LIMIT_STANDARD: '1000000' })
      const join = async (candidates: number) => {
        const { id: organizationId } = await make.organization()
        const scopes = ['candidates:erase'] as const
        const { key } = await createApiKey(system, { organizationId, name: 'Eraser', mode: 'live', scopes })
        const assessment = await make.assessment(organizationId)
        for (let i = 0; i < candidates; i++) await make.invite(assessment, { recipientEmail: addressOf(i) })
        const erase = async (i: number) => {
          const headers = { 'x-api-key': key, 'content-type': 'application/json' }
          const body = JSON.stringify({ email: addressOf(i) })
          const answer = await fetch(`${service.url}/api/v1/candidates`, { method: 'DELETE', headers, body })
          await answer.text()
          return answer.status
        }
        const finished = () => db.erasure.count({ where: { organizationId, finishedAt: { not: null } } })
        return { erase, finished }
      }
      const [many, one] = [await join(CANDIDATES), await join(1)]
      const since = performance.now()
      const asking = (async () => {
        for (let i = 0; i < CANDIDATES; i++) while ((await many.erase(i)) === TOO_MANY) await sleep(500)
      })()
      await waitUntil('the first erasures to finish', async () => (await many.finished()) > 2 || undefined)
      if (!LONG) await asking
      const before = await many.finished()
      const askedAt = performance.now()
      await one.erase(0)
      await waitUntil("the other organization's erasure", async () => (await one.finished()) === 1 || undefined)
      const waited = Math.round(performance.now() - askedAt)
      const overtakenBy = (await many.finished()) - before
      process.stdout.write(`waited ${waited} ms, overtaken by ${overtakenBy} of ${CANDIDATES}\n`)
      expect(overtakenBy).toBeLessThan(MAX_OVERTAKEN)
      await asking
      await waitUntil('all erasures to finish', async () => (await many.finished()) === CANDIDATES || undefined, LONG_MS)
      const perMinute = Math.round((CANDIDATES / (performance.now() - since)) * 60_000)
      process.stdout.write(`${perMinute} erasures a minute\n`)
      if (LONG) expect(perMinute).toBeGreaterThan(PER_MINUTE)
    },
    LONG_MS,
  )
})
