import { findRuleIssues } from '../domain/invites/reminders/reminder-rules.ts'
import { isZoneName } from '../domain/time/zones.ts'
import { isEmailAddress, toStoredAddress } from '../domain/validation/email-address.ts'
import { findNetworkIssues } from '../domain/validation/find-network-issues.ts'
import type { ExportedName } from './tables.ts'

export type Row = Record<string, unknown>
type Check = (value: never, row: Row) => boolean

// Only what could harm others: the database checks types and references, and pages escape texts.

const isOptional = (check: (text: string) => boolean) => (value: unknown) =>
  value === null || (typeof value === 'string' && check(value))
const isAddress = isOptional((text) => isEmailAddress(text) && toStoredAddress(text) === text)
/** Browsers would run these. */
const isPlainUrl = isOptional((text) => !/^[\s\p{C}]*(javascript|data|vbscript)\s*:/iu.test(text))
const isZone = isOptional(isZoneName)
const areNetworks = (value: unknown) =>
  Array.isArray(value) && value.every((network) => typeof network === 'string') && findNetworkIssues(value).length === 0
/** Types of which browsers run nothing. Files are served under the stored type. */
const isMediaType = isOptional((text) => /^((image\/(png|jpeg|webp|gif))|((audio|video)\/[a-z0-9.+-]+))?$/.test(text))
const isLanguageCode = isOptional((text) => /^[a-z]{2,8}(-[a-z0-9]{1,8}){0,3}$/i.test(text))
/** Texts of the page links, of all languages. */
const arePageLinks = (value: unknown): boolean =>
  typeof value === 'object' && value !== null ? Object.values(value).every(arePageLinks) : isPlainUrl(value)
const areReminders = (steps: unknown, { quiet_from, quiet_until }: Row) =>
  Array.isArray(steps) &&
  steps.every((step) => Array.isArray((step as Row | null)?.states)) &&
  findRuleIssues({ steps, quietFrom: quiet_from as number, quietUntil: quiet_until as number }).length === 0

const CHECKS: { [T in ExportedName]?: Record<string, Check> } = {
  languages: { code: isLanguageCode },
  organizations: { reply_to: isAddress, time_zone: isZone, page_links: arePageLinks },
  users: { email: isAddress, avatar_url: isPlainUrl },
  members: { email: isAddress, time_zone: isZone },
  organizationSecurity: { networks: areNetworks, api_key_networks: areNetworks },
  assets: { content_type: isMediaType },
  questions: { audio_url: isPlainUrl, video_url: isPlainUrl },
  submissionQuestions: { audio_url: isPlainUrl, video_url: isPlainUrl },
  invites: { recipient_email: isAddress, return_url: isPlainUrl, time_zone: isZone },
  reminderRules: { steps: areReminders },
  mediaFiles: { content_type: isMediaType },
}

/** @returns the column whose value is refused. */
export function findRefusedColumn(table: ExportedName, row: Row): string | undefined {
  const checks = Object.entries(CHECKS[table] ?? {})
  return checks.find(([column, check]) => column in row && !check(row[column] as never, row))?.[0]
}

/** Nesting of JSON that no row of ours has. */
const MAX_DEPTH = 32

export function isTooDeep(value: unknown): boolean {
  let level = [value]
  for (let depth = 0; depth <= MAX_DEPTH; depth++) {
    level = level.flatMap((item) => (typeof item === 'object' && item !== null ? Object.values(item) : []))
    if (level.length === 0) return false
  }
  return true
}
