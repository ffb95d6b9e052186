// Time zone rules as PostgreSQL has them. Node has its own copy, possibly of another release: governments change rules, and a reminder
// that PostgreSQL considers due must not be outside of its hours by Node's clock.

/** @property at time of the change, in milliseconds. @property offset minutes that local time is ahead of UTC from then on. */
export type ZoneChange = { at: number; offset: number }
/** @property until when the changes are known, in milliseconds; they begin with the first. */
export type ZoneRules = { changes: readonly ZoneChange[]; until: number }

const MINUTE_MS = 60_000
const rulesByZone = new Map<string, ZoneRules>()

export const setZoneRules = (zone: string, rules: ZoneRules): void => void rulesByZone.set(zone, rules)

/** Minutes that a zone's local time is ahead of UTC by PostgreSQL's rules; undefined outside of the years that were loaded. */
export function offsetAt(zone: string, at: Date): number | undefined {
  const rules = rulesByZone.get(zone)
  if (!rules || at.getTime() >= rules.until) return undefined
  return rules.changes.findLast((change) => change.at <= at.getTime())?.offset
}

/** Shifts a time, so that its UTC fields are the local time. */
export const shiftBy = (at: Date, offset: number): Date => new Date(at.getTime() + offset * MINUTE_MS)
