import type { RETAINED_DATA } from '../../domain/erasure/erasures.ts'

/** Retained data of an erased candidate, in the words of every receipt. */
export const RETAINED_DATA_REASONS: Record<(typeof RETAINED_DATA)[number], string> = {
  counts: 'How many were invited, when, and how many completed: numbers that name nobody',
  results: 'Points of released results, in the figures of reports, without names',
  events: 'Events of the feed with their type, time and ids, so that it has no holes',
  audit_entries: 'Who of the organization did what and when, without what named the candidate',
  suppressions: 'Where the address is on the list of those that nothing is mailed to: that entry, with a code in its place',
}
