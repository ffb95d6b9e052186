import type { Pool } from 'pg'
import type { PgBoss } from 'pg-boss'
import { Gauge, type Registry } from 'prom-client'
import type { Db } from '../db/client.ts'
import { readTimeline } from '../db/identity.ts'
import { singleFlight } from '../domain/concurrency/single-flight.ts'
import { measureSweep } from '../domain/concurrency/sweep-parts.ts'
import { measureSequenceLag } from '../domain/events/sequence-events.ts'
import { measureEmailQueue } from '../domain/invites/emails.ts'
import { readMailOutage } from '../domain/mails/mail-outage.ts'
import { measureMemberEmailQueue } from '../domain/mails/member-emails.ts'
import type { EmailQueue } from '../domain/mails/send-outcome.ts'
import { measureRegistrationQueue } from '../domain/open-links/registration-emails.ts'
import type { MediaStore } from '../domain/ports/media-store.ts'
import { countAllMediaBytes } from '../domain/submissions/media/media.ts'
import { measureWebhooks } from '../domain/webhooks/measure-webhooks.ts'
import { measureQueues, measureWaitingRecordings } from '../jobs/measure-queues.ts'

/** Adds a gauge that is read on each scrape. NaN if reading fails, so that the other metrics remain available. */
type AddGauge = (name: string, help: string, read: () => Promise<number> | number) => void

const addGaugesTo =
  (registers: Registry[]): AddGauge =>
  (name, help, read) => {
    const gauge = new Gauge({
      name,
      help: `${help}; NaN when that is not known`,
      registers,
      async collect() {
        gauge.set(await Promise.resolve(read()).catch(() => Number.NaN))
      },
    })
  }

/** Adds the gauges read from the database. */
export function observeDatabase(registers: Registry[], pool: Pool, db: Db): void {
  const add = addGaugesTo(registers)
  observePool(registers, pool)
  observeSweep(registers, db)
  observeEmailQueue(add, 'invite_email', () => measureEmailQueue({ db }))
  observeEmailQueue(add, 'member_email', () => measureMemberEmailQueue({ db }))
  observeEmailQueue(add, 'registration_email', () => measureRegistrationQueue({ db }))
  add(
    'events_oldest_unnumbered_seconds',
    'Age of the committed event that is to be numbered next; 0 when there is none',
    async () => secondsSince((await measureSequenceLag({ db })).oldest),
  )
  add('mail_outage_seconds', 'For how long the mail server has taken no mails at all; 0 while it does', async () =>
    secondsSince((await readMailOutage(db))?.since ?? null),
  )
  add(
    'webhook_oldest_due_seconds',
    'For how long the delivery that is due for longest has not been attempted; 0 when none is due',
    async () => secondsSince((await measureWebhooks({ db }, new Date())).oldestDue),
  )
  add('media_bytes', 'Bytes of the photos and recordings of all organizations', () => countAllMediaBytes({ db }))
  add('database_timeline', "The database's timeline: another one after a failover, or a restore to a point in time", () =>
    readTimeline(db),
  )
}

function observeSweep(registers: Registry[], db: Db): void {
  const ages = new Gauge({
    name: 'sweep_part_age_seconds',
    help: 'Seconds since each part of the scheduled sweep last came to its end; none when the database does not say',
    labelNames: ['part'],
    registers,
    async collect() {
      ages.reset()
      for (const { part, endedAt } of await measureSweep({ db }).catch(() => [])) ages.set({ part }, secondsSince(endedAt))
    },
  })
}

/** Adds the gauges of the job queues. */
export function observeQueues(registers: Registry[], boss: PgBoss): void {
  const add = addGaugesTo(registers)
  const recordings = singleFlight(() => measureWaitingRecordings(boss))
  add('recordings_waiting', 'Recordings that wait to be joined', async () => (await recordings()).waiting)
  add(
    'recording_oldest_waiting_seconds',
    'Age of the recording that has waited longest to be joined; 0 when none waits',
    async () => secondsSince((await recordings()).oldest),
  )
  const jobs = new Gauge({
    name: 'queue_jobs',
    help: 'Jobs of each queue by their state, as of a minute ago; none when the database does not say',
    labelNames: ['queue', 'state'],
    registers,
    async collect() {
      jobs.reset()
      for (const { queue, ...counts } of await measureQueues(boss).catch(() => []))
        for (const [state, count] of Object.entries(counts)) jobs.set({ queue, state }, count)
    },
  })
}

export function observeMedia(registers: Registry[], media: MediaStore): void {
  addGaugesTo(registers)('media_disk_free_bytes', 'Bytes that the folder of media still takes; +Inf for a bucket', media.free)
}

/** @param lateness milliseconds. */
export function observeReplica(registers: Registry[], lateness: () => number): void {
  const help = 'How far the replica is behind the database, at most; +Inf where that is not known'
  addGaugesTo(registers)('replica_lateness_seconds', help, () => lateness() / 1_000)
}

/** @param isAlone true if a configured Redis is away. */
export function observeFallback(registers: Registry[], isAlone: () => boolean): void {
  const help = '1 while Redis is away, and this process counts requests by itself; 0 otherwise, and where there is none'
  addGaugesTo(registers)('rate_limit_fallback', help, () => Number(isAlone()))
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

function observeEmailQueue(add: AddGauge, kind: string, read: () => Promise<EmailQueue>): void {
  const measure = singleFlight(read)
  add(`${kind}_queue_depth`, 'Mails waiting to be sent', async () => (await measure()).waiting)
  add(`${kind}_oldest_waiting_seconds`, 'Age of the mail that has waited longest; 0 when none waits', async () =>
    secondsSince((await measure()).oldest),
  )
}

const secondsSince = (time: Date | null) => (time ? Math.max(0, Date.now() - time.getTime()) / 1000 : 0)
