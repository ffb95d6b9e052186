import { DatabaseError } from 'pg'
import { Prisma } from '../generated/prisma/client.ts'

/** Of a unique constraint, of a foreign key, and of either in a statement of our own. */
const REFUSALS = ['P2002', 'P2003', 'P2010']
/** PostgreSQL's codes for them, of a statement that went past Prisma. */
const VIOLATIONS: (string | undefined)[] = ['23505', '23503']

/**
 * The name of the unique constraint or foreign key that refused a write; undefined for every other error.
 * (Prisma's driver adapters give the name only here, not in `meta.target`.)
 */
export function violatedConstraint(error: unknown): string | undefined {
  if (error instanceof DatabaseError) return VIOLATIONS.includes(error.code) ? error.constraint : undefined
  if (!(error instanceof Prisma.PrismaClientKnownRequestError)) return undefined
  if (!REFUSALS.includes(error.code)) return undefined
  return causeOf(error)?.constraint?.index
}

/** No connection could be had in the time there is for it (`connectionTimeoutMillis`, see client.ts), mostly because all are in use. */
export class NoConnection extends Error {
  constructor(cause: Error) {
    super('no connection to the database', { cause })
    this.name = 'NoConnection'
  }
}

/**
 * Whether a request waited in vain: for what another transaction had locked (`lock_timeout`, 55P03), or had locked and waited itself for
 * what this one had (40P01), for a statement to end in its time (`statement_timeout`, 57014), for a connection, or for a transaction to
 * begin or end in its time (P2028).
 */
export const isDatabaseBusy = (error: unknown): boolean =>
  error instanceof NoConnection ||
  (error instanceof DatabaseError && IN_VAIN.includes(error.code)) ||
  (error instanceof Prisma.PrismaClientKnownRequestError &&
    (error.code === 'P2028' || IN_VAIN.includes(causeOf(error)?.originalCode)))

/** PostgreSQL's codes for them. */
const IN_VAIN: (string | undefined)[] = ['55P03', '40P01', '57014']

/** What PostgreSQL said. */
const causeOf = ({ meta }: Prisma.PrismaClientKnownRequestError) =>
  (meta?.driverAdapterError as { cause?: { originalCode?: string; constraint?: { index?: string } } } | undefined)?.cause
