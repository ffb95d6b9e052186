import { createDb, type Db, openPool } from '../../src/db/client.ts'
import { signForm, signInvitation } from '../../src/domain/secrets/invitation-tokens.ts'
import { CONSENT_VERSION } from '../../src/domain/submissions/taking/record-consent.ts'
import { NO_REQUIREMENTS } from '../support/candidate.ts'
import { factories, systemOn } from '../support/factories.ts'
import type { BenchContext } from './beside.ts'
import type { Cases } from './cases.ts'
import type { Grading } from './fill-portal.ts'
import { median } from './load.ts'
import { BENCH_SECRET, startService } from './servers.ts'

// Measures automatically scored questions from the start of the test to the grading view, for one candidate at a time.

const QUESTIONS = 50
const WARM_UP = 3
/** Candidates per round. */
const CANDIDATES = 20

const OPTIONS = ['a', 'b', 'c', 'd'].map((letter) => ({ id: letter.repeat(8), text: `Option ${letter}` }))
const SPEC = { options: OPTIONS, shuffle: true }
const KEY = { policy: 'exact', right: [OPTIONS[0]!.id] }

/** Reports the median of each step per round, in milliseconds. */
export const scored: Cases = () => [
  {
    name: `${QUESTIONS} choices`,
    async measure({ database, organizations, sink, rounds }: BenchContext) {
      const db = createDb(openPool(database.url, { max: 2 }))
      const server = await startService(database, sink)
      const made = await makePaper(db, organizations.grading.few)
      const times = { start: [] as number[], 'hand-in': [] as number[], sheet: [] as number[] }
      for (let i = 0; i < WARM_UP; i++) await takeOnce(db, server.url, made)
      for (let round = 0; round < rounds; round++) {
        const taken = []
        for (let i = 0; i < CANDIDATES; i++) taken.push(await takeOnce(db, server.url, made))
        for (const what of ['start', 'hand-in', 'sheet'] as const) times[what].push(median(taken.map((one) => one[what])))
      }
      await server.stop()
      await db.$disconnect()
      return { service: times }
    },
  },
]

type Paper = { organization: Grading; assessment: { id: string; organizationId: string } }

async function makePaper(db: Db, organization: Grading): Promise<Paper> {
  const make = factories(systemOn(db))
  const { id: organizationId } = organization
  const assessment = await make.assessment(organizationId)
  const createdAt = new Date()
  for (let i = 0; i < QUESTIONS; i++) {
    const id = crypto.randomUUID()
    await db.questionVersion.create({ data: { organizationId, id, responseType: 'single_choice', spec: SPEC, createdAt } })
    await db.answerKey.create({ data: { organizationId, versionId: id, number: 1, key: KEY, createdAt } })
    const question = await make.question(assessment, { order: i + 1, responseType: 'single_choice', points: 10 })
    await db.question.updateMany({ where: { organizationId, id: question.id }, data: { versionId: id } })
  }
  return { organization, assessment }
}

/** Starts and submits the test as one candidate, and opens the grading view. @returns the milliseconds of each step. */
async function takeOnce(db: Db, url: string, { organization, assessment }: Paper) {
  const invite = await factories(systemOn(db)).invite(assessment, { status: 'accepted', ...NO_REQUIREMENTS })
  const token = signInvitation([BENCH_SECRET], { inviteId: invite.id, linkVersion: invite.linkVersion })
  const press = (action: string, fields: Record<string, string> = {}) =>
    timed(`${url}/i/${token}/${action}`, 303, {
      method: 'POST',
      redirect: 'manual',
      body: new URLSearchParams({ proof: signForm([BENCH_SECRET], token), ...fields }),
    })
  await press('consent', { version: `${CONSENT_VERSION}`, media: '', language: 'en' })
  const start = await press('start')
  const { id: submissionId } = await db.submission.findFirstOrThrow({ where: { inviteId: invite.id, state: 'in_progress' } })
  const now = new Date()
  const take = { organizationId: organization.id, submissionId, kind: 'text' as const, state: 'complete' as const }
  await db.answerAttempt.createMany({
    data: Array.from({ length: QUESTIONS }, (_, i) => {
      const { id, text } = OPTIONS[i % OPTIONS.length]!
      return { ...take, id: crypto.randomUUID(), questionNumber: i + 1, text, value: [id], revision: 1, createdAt: now }
    }),
  })
  const handIn = await press('finish')
  const scores = await db.questionScore.count({ where: { submissionId, points: { not: null } } })
  if (scores !== QUESTIONS) throw new Error(`${scores} of ${QUESTIONS} answers were scored`)
  const address = `${url}/portal/${organization.id}/grading/${submissionId}`
  const sheet = await timed(address, 200, { headers: { cookie: organization.cookie } })
  return { start, 'hand-in': handIn, sheet }
}

/** @returns milliseconds until the whole response has arrived. @throws Error on an unexpected status. */
async function timed(address: string, status: number, init: RequestInit): Promise<number> {
  const since = performance.now()
  const response = await fetch(address, init)
  await response.arrayBuffer()
  if (response.status !== status) throw new Error(`${address}: status ${response.status}`)
  return performance.now() - since
}
