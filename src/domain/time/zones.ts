/** Data of an invite that decide in which time zone its candidate reads times. */
export type Zoned = { timeZone: string | null; organization: { timeZone: string } }

/** The zone of a candidate's times, on pages and in mails: their device's, else the organization's. */
export const zoneOf = ({ timeZone, organization }: Zoned): string => timeZone ?? organization.timeZone

/**
 * True for UTC or an area and a city. `Intl` also accepts offsets such as +05:30, which PostgreSQL reads with the opposite sign.
 */
export function isZoneName(zone: string): boolean {
  if (zone !== 'UTC' && !/^[A-Z][A-Za-z_]+(?:\/[A-Za-z][A-Za-z_+-]*\d*)+$/.test(zone)) return false
  try {
    new Intl.DateTimeFormat('en', { timeZone: zone })
    return true
  } catch {
    return false
  }
}
