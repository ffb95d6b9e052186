import type { IdToken } from '../ports/identity-provider.ts'

const MAX_LENGTH = 100
const truncateName = (name: string): string => [...name.replaceAll('\0', '').trim()].slice(0, MAX_LENGTH).join('')

/** The names of a token, as short as names are. */
export const tokenNamesOf = ({ givenName, familyName }: IdToken) => ({
  firstName: truncateName(givenName),
  lastName: truncateName(familyName),
})
