import { LRUCache } from 'lru-cache'
import type { Connection } from '../../db/client.ts'
import { readZoneRules } from '../../db/zones.ts'
import { DAY_MS } from '../time/days.ts'
import { setZoneRules } from '../time/zone-rules.ts'

/** Days of the past and the future whose rules are loaded. No invite lasts longer. */
const DAYS = { before: 800, after: 4_000 }

/** Reloads rules daily, because PostgreSQL may have been updated. */
const loading = new LRUCache<string, Promise<void>>({ max: 1_000, ttl: DAY_MS })

/** Loads PostgreSQL's rules of time zones, once, before a time there is computed or formatted. */
export async function loadZones(db: Connection, zones: readonly string[]): Promise<void> {
  for (const zone of new Set(zones)) if (zone !== 'UTC') await (loading.get(zone) ?? start(db, zone))
}

function start(db: Connection, zone: string): Promise<void> {
  const now = Date.now()
  const [from, until] = [new Date(now - DAYS.before * DAY_MS), new Date(now + DAYS.after * DAY_MS)]
  const work = readZoneRules(db, zone, { from, until }).then((changes) => setZoneRules(zone, { changes, until: until.getTime() }))
  loading.set(zone, work)
  work.catch(() => loading.delete(zone))
  return work
}
