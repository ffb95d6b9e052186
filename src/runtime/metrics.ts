import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { Pool } from 'pg'
import type { PgBoss } from 'pg-boss'
import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client'
import type { Db } from '../db/client.ts'
import type { MediaStore } from '../domain/ports/media-store.ts'
import {
  BREACH_OUTCOMES,
  EMAIL_OUTCOMES,
  JOIN_OUTCOMES,
  type Metrics,
  READ_FROM,
  REGISTRATION_OUTCOMES,
  REPORT_OUTCOMES,
  SWEEP_PARTS,
  TRANSCRIPTION_OUTCOMES,
  WEBHOOK_OUTCOMES,
} from '../domain/ports/metrics.ts'
import { observeDatabase, observeFallback, observeMedia, observeQueues, observeReplica } from './gauges.ts'
import { MEDIA_OPERATIONS, MEDIA_OUTCOMES, type RecordMediaOperation } from './measure-store.ts'
import { release } from './version.ts'

const LATENCY_BUCKETS_SECONDS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10]
const MEDIA_BUCKETS_SECONDS = [0.005, 0.02, 0.1, 0.5, 2, 8, 30]

/** The process's metrics, in Prometheus's terms. */
export type MetricsRegistry = Metrics & {
  registry: Registry
  /** Records requests by method, route, and status. */
  observeRequests: (app: FastifyInstance) => void
  /** Records a request without a route: Fastify runs no hooks for it. */
  observeUnrouted: (request: FastifyRequest, reply: FastifyReply) => void
  /** Counts input that could not be parsed as a request. */
  unreadableRequest: (status: number) => void
  /** Counts an outage of the database. */
  databaseUnavailable: () => void
  mediaOperation: RecordMediaOperation
  /** Adds gauges read from the database on each scrape. */
  observeDatabase: (pool: Pool, db: Db) => void
  observeQueues: (boss: PgBoss) => void
  observeMedia: (media: MediaStore) => void
  /** Adds a gauge that shows whether Redis is away and requests are counted per process. */
  observeFallback: (isAlone: () => boolean) => void
  /** @param lateness milliseconds. */
  observeReplica: (lateness: () => number) => void
}

export function createMetrics(): MetricsRegistry {
  const registry = new Registry()
  const registers = [registry]
  collectDefaultMetrics({ register: registry })
  const build = new Gauge({
    name: 'build_info',
    help: 'Always 1; the build that runs',
    labelNames: ['version', 'commit'],
    registers,
  })
  build.set({ version: release.version, commit: release.commit ?? '' }, 1)
  const http = countRequests(registers)
  const invites = new Counter({ name: 'invites_created_total', help: 'Invites made', registers })
  const countOutcomes = (name: string, help: string, outcomes: readonly string[]) =>
    createOutcomeCounter(registers, name, help, outcomes)
  const emails = countOutcomes('invite_email_attempts_total', 'Attempts to send a mail', EMAIL_OUTCOMES)
  const memberEmails = countOutcomes('member_email_attempts_total', 'Attempts to send a mail to a member', EMAIL_OUTCOMES)
  const registrations = countOutcomes('registrations_total', 'Forms of open links, by what became of them', REGISTRATION_OUTCOMES)
  const webhooks = countOutcomes('webhook_attempts_total', 'Attempts to deliver an event to an endpoint', WEBHOOK_OUTCOMES)
  const reports = countOutcomes(
    'ats_report_attempts_total',
    'Attempts to report to an applicant tracking system',
    REPORT_OUTCOMES,
  )
  const breaches = countOutcomes(
    'password_breach_lookups_total',
    'New passwords that were looked up among leaked ones',
    BREACH_OUTCOMES,
  )
  const refusedAnswers = new Counter({
    name: 'ats_refused_answers_total',
    help: 'Answers of the service that an applicant tracking system has found wrong',
    registers,
  })
  const recordings = countOutcomes('recordings_joined_total', 'Recordings whose parts were to become one file', JOIN_OUTCOMES)
  const transcripts = countOutcomes(
    'recordings_transcribed_total',
    'Recordings that speech recognition was to turn into text',
    TRANSCRIPTION_OUTCOMES,
  )
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
    name: 'event_sequence_failures_total',
    help: 'Attempts of this process to number events that failed',
    registers,
  })
  const outages = new Counter({
    name: 'database_away_total',
    help: 'Outages of the database that this process has seen',
    registers,
  })
  return {
    registry,
    databaseUnavailable: () => outages.inc(),
    mediaOperation: countMediaOperations(registers),
    inviteCreated: () => invites.inc(),
    emailAttempted: (outcome) => emails.inc({ outcome }),
    memberEmailAttempted: (outcome) => memberEmails.inc({ outcome }),
    registered: (outcome, count = 1) => registrations.inc({ outcome }, count),
    eventsNumbered: (count) => numbered.inc(count),
    numberingFailed: () => numberingFailures.inc(),
    webhookAttempted: (outcome) => webhooks.inc({ outcome }),
    reportAttempted: (outcome) => reports.inc({ outcome }),
    answerRefused: () => refusedAnswers.inc(),
    replicaRead: (outcome) => reads.inc({ outcome }),
    recordingJoined: (outcome) => recordings.inc({ outcome }),
    recordingTranscribed: (outcome) => transcripts.inc({ outcome }),
    breachLookedUp: (outcome) => breaches.inc({ outcome }),
    swept: (part, outcome) => sweeps.inc({ part, outcome }),
    ...http,
    observeReplica: (lateness) => observeReplica(registers, lateness),
    observeDatabase: (pool, db) => observeDatabase(registers, pool, db),
    observeQueues: (boss) => observeQueues(registers, boss),
    observeMedia: (media) => observeMedia(registers, media),
    observeFallback: (isAlone) => observeFallback(registers, isAlone),
  }
}

function countRequests(
  registers: Registry[],
): Pick<MetricsRegistry, 'observeRequests' | 'observeUnrouted' | 'unreadableRequest'> {
  const requests = new Histogram({
    name: 'http_request_duration_seconds',
    help: 'Requests by method, route and status',
    labelNames: ['method', 'route', 'status'],
    buckets: LATENCY_BUCKETS_SECONDS,
    registers,
  })
  const failed = new Counter({
    name: 'http_failed_requests_total',
    help: 'Requests answered with a status of 5xx, by route; 0 for each before the first',
    labelNames: ['route'],
    registers,
  })
  const observeAnswer = ({ method, routeOptions: { url: route = 'none' } }: FastifyRequest, reply: FastifyReply) => {
    requests.observe({ method, route, status: reply.statusCode }, reply.elapsedTime / 1000)
    if (reply.statusCode >= 500) failed.inc({ route })
  }
  const unreadable = new Counter({
    name: 'http_unreadable_requests_total',
    help: 'What came in that could not be read as a request, by the status it was answered with',
    labelNames: ['status'],
    registers,
  })
  return {
    observeRequests(app) {
      // A series that starts with its first failure has no rate for it, so each route starts at 0.
      app.addHook('onRoute', ({ url }) => failed.inc({ route: url }, 0))
      app.addHook('onResponse', (request, reply, done) => {
        observeAnswer(request, reply)
        done()
      })
    },
    observeUnrouted: (request, reply) => reply.raw.once('finish', () => observeAnswer(request, reply)),
    unreadableRequest: (status) => unreadable.inc({ status }),
  }
}

function countMediaOperations(registers: Registry[]): RecordMediaOperation {
  const operations = new Histogram({
    name: 'media_store_operation_duration_seconds',
    help: 'What the media store was asked for, by operation and outcome; reading ends with the first byte',
    labelNames: ['operation', 'outcome'],
    buckets: MEDIA_BUCKETS_SECONDS,
    registers,
  })
  for (const operation of MEDIA_OPERATIONS) for (const outcome of MEDIA_OUTCOMES) operations.zero({ operation, outcome })
  return (operation, outcome, seconds) => operations.observe({ operation, outcome }, seconds)
}

/** Creates a counter with every outcome at 0: alerts on a rate would miss the first event of a new series. */
function createOutcomeCounter(
  registers: Registry[],
  name: string,
  help: string,
  outcomes: readonly string[],
): Counter<'outcome'> {
  const counter = new Counter({ name, help, labelNames: ['outcome'] as const, registers })
  for (const outcome of outcomes) counter.inc({ outcome }, 0)
  return counter
}
