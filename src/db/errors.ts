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

/** A statement that has not begun, because who asked has gone. */
export class Abandoned extends Error {
  constructor() {
    super('who asked has gone')
    this.name = 'Abandoned'
  }
}

/** A statement for a transaction that has ended: by its time limit, or because nobody waited for the statement. */
export class TransactionOver extends Error {
  constructor() {
    super('the transaction is over')
    this.name = 'TransactionOver'
  }
}

/** A connection that could not be made, was lost, or has gone silent, so that what became of its statement is not known. */
export class ConnectionLost extends Error {
  constructor(cause: Error) {
    super('no connection to the database any more', { cause })
    this.name = 'ConnectionLost'
  }
}

/** Whether a value is none of those that PostgreSQL knows there, such as the name of a time zone. */
export const isUnknownValue = (error: unknown): boolean => sqlStateOf(error) === '22023'

/**
 * Whether the database is away, as it is while it restarts or fails over: it refuses connections (08, 53300), is shutting down or starting
 * up (57P01 to 57P05), takes no writes any more (25006), or has no room left (the rest of 53, 58030).
 */
export const isDatabaseAway = (error: unknown): boolean =>
  error instanceof ConnectionLost || AWAY_KINDS.includes(prismaCodeOf(error)) || AWAY.test(sqlStateOf(error) ?? '')

/** SQLSTATE codes. */
const AWAY = /^(08|53|57P|25006|58030)/
/** Prisma's names for connections that could not be made, or ended. */
const AWAY_KINDS: (string | undefined)[] = ['P1001', 'P1002', 'P1008', 'P1017', 'P2037']

/**
 * Whether a request waited in vain: for what another transaction had locked (`lock_timeout`, 55P03), or had locked and waited itself for
 * what this one had (40P01), or changed it first (40001), for a statement to end in its time (`statement_timeout`, 57014), for a connection, or for a transaction to
 * begin or end in its time (P2028); or nobody waits any more.
 */
export const isDatabaseBusy = (error: unknown): boolean =>
  error instanceof NoConnection ||
  error instanceof Abandoned ||
  error instanceof TransactionOver ||
  prismaCodeOf(error) === 'P2028' ||
  IN_VAIN.includes(sqlStateOf(error))

/** SQLSTATE codes. */
const OVERTAKEN: (string | undefined)[] = ['55P03', '40P01', '40001']
const IN_VAIN: (string | undefined)[] = [...OVERTAKEN, '57014']

/** Whether a statement was ended because it took longer than it may. */
export const isTimeout = (error: unknown): boolean => sqlStateOf(error) === '57014'

/** Whether a statement was ended because of what another transaction has locked, or has changed first. */
export const isOvertaken = (error: unknown): boolean => OVERTAKEN.includes(sqlStateOf(error))

const prismaCodeOf = (error: unknown): string | undefined =>
  error instanceof Prisma.PrismaClientKnownRequestError ? error.code : undefined

/** PostgreSQL's code of an error, whichever way its statement went. */
function sqlStateOf(error: unknown): string | undefined {
  if (error instanceof DatabaseError) return error.code
  if (isOfAdapter(error)) return error.cause?.originalCode
  return error instanceof Prisma.PrismaClientKnownRequestError ? causeOf(error)?.originalCode : undefined
}

type AdapterCause = { originalCode?: string; constraint?: { index?: string } }

/** Prisma's driver adapter has no class for its errors. Those of the end of a transaction come as they are, in no error of Prisma's own. */
const isOfAdapter = (error: unknown): error is Error & { cause?: AdapterCause } =>
  error instanceof Error && error.name === 'DriverAdapterError'

/** What PostgreSQL said. */
const causeOf = ({ meta }: Prisma.PrismaClientKnownRequestError) =>
  (meta?.driverAdapterError as { cause?: AdapterCause } | undefined)?.cause
