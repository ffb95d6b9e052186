import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { Pool } from 'pg'
import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client'
import type { Db } from '../db/client.ts'
import {
  EMAIL_OUTCOMES,
  JOIN_OUTCOMES,
  type Metrics,
  READ_FROM,
  REPORT_OUTCOMES,
  SWEEP_PARTS,
  WEBHOOK_OUTCOMES,
} from '../domain/context.ts'
import { measureNumbering } from '../domain/events/number-events.ts'
import { measureEmailQueue } from '../domain/invites/emails.ts'
import { readMailOutage } from '../domain/mails/mail-outage.ts'
import type { EmailQueue } from '../domain/mails/sendings.ts'
import { measureMemberEmailQueue } from '../domain/members/member-emails.ts'
import { measureWebhooks } from '../domain/webhooks/measure-webhooks.ts'
import { coalesce } from '../domain/work/coalesce.ts'
import { version } from './version.ts'

const LATENCY_BUCKETS_SECONDS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10]

/** What the process counts, in Prometheus' terms. */
export type MetricsRegistry = Metrics & {
  registry: Registry
  /** Counts and times the requests of the app by route and status. */
  observeRequests: (app: FastifyInstance) => void
  /** Counts and times a request that could not be routed: no hook runs for it. */
  observeUnrouted: (request: FastifyRequest, reply: FastifyReply) => void
  /** Counts what was answered so without having become a request. */
  unreadableRequest: (status: number) => void
  /** Reads pool, mail queue, unnumbered events and webhooks whenever they are asked for. */
  observe: (pool: Pool, db: Db) => void
  /** Reads how far the replica is behind, in milliseconds, whenever it is asked for. */
  observeReplica: (lateness: () => number) => void
}

export function createMetrics(): MetricsRegistry {
  const registry = new Registry()
  const registers = [registry]
  collectDefaultMetrics({ register: registry })
  const info = new Gauge({ name: 'service_info', help: 'Always 1; the release that runs', labelNames: ['version'], registers })
  info.set({ version }, 1)
  const requests = new Histogram({
    name: 'http_request_duration_seconds',
    help: 'Requests by method, route and status',
    labelNames: ['method', 'route', 'status'],
    buckets: LATENCY_BUCKETS_SECONDS,
    registers,
  })
  const observeAnswer = ({ method, routeOptions }: FastifyRequest, { statusCode, elapsedTime }: FastifyReply) =>
    requests.observe({ method, route: routeOptions.url ?? 'none', status: statusCode }, elapsedTime / 1000)
  const unreadable = new Counter({
    name: 'http_unreadable_requests_total',
    help: 'What came in that could not be read as a request, by the status it was answered with',
    labelNames: ['status'],
    registers,
  })
  const invites = new Counter({ name: 'invites_created_total', help: 'Invites made', registers })
  const countOutcomes = (name: string, help: string, outcomes: readonly string[]) => makeCounter(registers, name, help, outcomes)
  const emails = countOutcomes('invite_email_attempts_total', 'Attempts to send a mail', EMAIL_OUTCOMES)
  const memberEmails = countOutcomes('member_email_attempts_total', 'Attempts to send a mail to a member', EMAIL_OUTCOMES)
  const webhooks = countOutcomes('webhook_attempts_total', 'Attempts to deliver an event to an endpoint', WEBHOOK_OUTCOMES)
  const reports = countOutcomes(
    'ats_report_attempts_total',
    'Attempts to report to an applicant tracking system',
    REPORT_OUTCOMES,
  )
  const refusedAnswers = new Counter({
    name: 'ats_refused_answers_total',
    help: 'Answers of the service that an applicant tracking system has found wrong',
    registers,
  })
  const recordings = countOutcomes('recordings_joined_total', 'Recordings whose parts were to become one file', JOIN_OUTCOMES)
  const reads = countOutcomes('replica_reads_total', 'Lists asked of the replica, by who answered them', READ_FROM)
  const sweeps = new Counter({
    name: 'sweep_parts_total',
    help: 'Runs of each part of the scheduled sweep',
    labelNames: ['part', 'outcome'],
    registers,
  })
  for (const part of SWEEP_PARTS) for (const outcome of ['done', 'failed']) sweeps.inc({ part, outcome }, 0)
  const numbered = new Counter({
    name: 'events_numbered_total',
    help: 'Events that this process has put into the feed',
    registers,
  })
  const numberingFailures = new Counter({
    name: 'event_numbering_failures_total',
    help: 'Attempts of this process to number events that failed',
    registers,
  })
  return {
    registry,
    inviteCreated: () => invites.inc(),
    emailAttempted: (outcome) => emails.inc({ outcome }),
    memberEmailAttempted: (outcome) => memberEmails.inc({ outcome }),
    eventsNumbered: (count) => numbered.inc(count),
    numberingFailed: () => numberingFailures.inc(),
    webhookAttempted: (outcome) => webhooks.inc({ outcome }),
    reportAttempted: (outcome) => reports.inc({ outcome }),
    answerRefused: () => refusedAnswers.inc(),
    replicaRead: (outcome) => reads.inc({ outcome }),
    recordingJoined: (outcome) => recordings.inc({ outcome }),
    swept: (part, outcome) => sweeps.inc({ part, outcome }),
    observeRequests(app) {
      app.addHook('onResponse', (request, reply, done) => {
        observeAnswer(request, reply)
        done()
      })
    },
    observeUnrouted: (request, reply) => reply.raw.once('finish', () => observeAnswer(request, reply)),
    unreadableRequest: (status) => unreadable.inc({ status }),
    observeReplica: (lateness) => observeReplica(registers, lateness),
    observe(pool, db) {
      observePool(registers, pool)
      observeEmailQueue(registers, 'invite_email', () => measureEmailQueue({ db }))
      observeEmailQueue(registers, 'member_email', () => measureMemberEmailQueue({ db }))
      observeNumbering(registers, db)
      observeMailOutage(registers, db)
      observeWebhooks(registers, db)
    },
  }
}

/** A series that begins at its first event can not be seen to rise by it: who alerts on a rate would miss the first failure. */
function makeCounter(registers: Registry[], name: string, help: string, outcomes: readonly string[]): Counter<'outcome'> {
  const counter = new Counter({ name, help, labelNames: ['outcome'] as const, registers })
  for (const outcome of outcomes) counter.inc({ outcome }, 0)
  return counter
}

function observeReplica(registers: Registry[], lateness: () => number): void {
  const gauge = new Gauge({
    name: 'replica_lateness_seconds',
    help: 'How far the replica is behind the database, at most; +Inf where that is not known',
    registers,
    collect() {
      gauge.set(lateness() / 1_000)
    },
  })
}

function observePool(registers: Registry[], pool: Pool): void {
  const gauge = new Gauge({
    name: 'database_pool_connections',
    help: 'Connections in use and idle, and requests waiting for one',
    labelNames: ['state'],
    registers,
    collect() {
      gauge.set({ state: 'used' }, pool.totalCount - pool.idleCount)
      gauge.set({ state: 'idle' }, pool.idleCount)
      gauge.set({ state: 'waiting' }, pool.waitingCount)
    },
  })
}

function observeEmailQueue(registers: Registry[], kind: string, read: () => Promise<EmailQueue>): void {
  // Without its database the process is still to be watched.
  const measure = coalesce(() => read().catch(() => undefined))
  const depth = new Gauge({
    name: `${kind}_queue_depth`,
    help: 'Mails waiting to be sent; NaN when the database does not say',
    registers,
    async collect() {
      depth.set((await measure())?.waiting ?? Number.NaN)
    },
  })
  const age = new Gauge({
    name: `${kind}_oldest_waiting_seconds`,
    help: 'Age of the mail that has waited longest; 0 when none waits, NaN when the database does not say',
    registers,
    async collect() {
      const queue = await measure()
      age.set(queue ? secondsSince(queue.oldest) : Number.NaN)
    },
  })
}

function observeMailOutage(registers: Registry[], db: Db): void {
  const age = new Gauge({
    name: 'mail_outage_seconds',
    help: 'For how long the mail server has taken no mails at all; 0 while it does, NaN when the database does not say',
    registers,
    async collect() {
      const outage = await readMailOutage(db).catch(() => undefined)
      age.set(outage === undefined ? Number.NaN : secondsSince(outage?.since ?? null))
    },
  })
}

function observeNumbering(registers: Registry[], db: Db): void {
  const age = new Gauge({
    name: 'events_oldest_unnumbered_seconds',
    help: 'Age of the committed event that is to be numbered next; 0 when there is none, NaN when the database does not say',
    registers,
    async collect() {
      const measured = await measureNumbering({ db }).catch(() => undefined)
      age.set(measured ? secondsSince(measured.oldest) : Number.NaN)
    },
  })
}

function observeWebhooks(registers: Registry[], db: Db): void {
  const age = new Gauge({
    name: 'webhook_oldest_due_seconds',
    help: 'For how long the delivery that is due for longest has not been attempted; 0 when none is due, NaN when the database does not say',
    registers,
    async collect() {
      const measured = await measureWebhooks({ db }, new Date()).catch(() => undefined)
      age.set(measured ? secondsSince(measured.oldestDue) : Number.NaN)
    },
  })
}

const secondsSince = (time: Date | null) => (time ? Math.max(0, Date.now() - time.getTime()) / 1000 : 0)
