import { DatabaseError } from 'pg'
import { Prisma } from '../generated/prisma/client.ts'

/** Prisma's codes for a unique constraint, a foreign key, and either in a raw statement. */
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
export class PoolTimeoutError extends Error {
  constructor(cause: Error) {
    super('no connection to the database', { cause })
    this.name = 'PoolTimeoutError'
  }
}

/** A statement that was not sent, because its client had disconnected. */
export class RequestAbortedError extends Error {
  constructor() {
    super('the client has disconnected')
    this.name = 'RequestAbortedError'
  }
}

/** A statement for a transaction that has ended: by its time limit, or because nobody waited for the statement. */
export class TransactionClosedError extends Error {
  constructor() {
    super('the transaction is over')
    this.name = 'TransactionClosedError'
  }
}

/** The connection could not be made, was lost, or stopped responding. It is unknown whether its last statement took effect. */
export class ConnectionLostError extends Error {
  constructor(cause: Error) {
    super('no connection to the database any more', { cause })
    this.name = 'ConnectionLostError'
  }
}

/** True for a value that PostgreSQL doesn't know, such as a time zone. */
export const isUnknownValue = (error: unknown): boolean => sqlStateOf(error) === '22023'

/**
 * True while the database restarts or fails over: it refuses connections (08, 53300), shuts down or starts (57P01 to 57P05), is
 * read-only (25006), or has no room (the rest of 53, 58030).
 */
export const isDatabaseUnavailable = (error: unknown): boolean =>
  error instanceof ConnectionLostError || AWAY_KINDS.includes(prismaCodeOf(error)) || AWAY.test(sqlStateOf(error) ?? '')

/** SQLSTATE codes. */
const AWAY = /^(08|53|57P|25006|58030)/
/** Prisma's names for connections that could not be made, or ended. */
const AWAY_KINDS: (string | undefined)[] = ['P1001', 'P1002', 'P1008', 'P1017', 'P2037']

/**
 * True if a request waited too long or lost a conflict: a lock (`lock_timeout`, 55P03), a deadlock (40P01), a concurrent change
 * (40001), a statement (`statement_timeout`, 57014), a connection, or a transaction (P2028); or if its client is gone.
 */
export const isDatabaseBusy = (error: unknown): boolean =>
  error instanceof PoolTimeoutError ||
  error instanceof RequestAbortedError ||
  error instanceof TransactionClosedError ||
  prismaCodeOf(error) === 'P2028' ||
  IN_VAIN.includes(sqlStateOf(error))

/** SQLSTATE codes. */
const OVERTAKEN: (string | undefined)[] = ['55P03', '40P01', '40001']
const IN_VAIN: (string | undefined)[] = [...OVERTAKEN, '57014']

/** True if a statement exceeded its time limit. */
export const isTimeout = (error: unknown): boolean => sqlStateOf(error) === '57014'

/** True if a statement lost to another transaction's lock or change. */
export const isLockConflict = (error: unknown): boolean => OVERTAKEN.includes(sqlStateOf(error))

const prismaCodeOf = (error: unknown): string | undefined =>
  error instanceof Prisma.PrismaClientKnownRequestError ? error.code : undefined

/** PostgreSQL's code of an error, from either driver. */
function sqlStateOf(error: unknown): string | undefined {
  if (error instanceof DatabaseError) return error.code
  if (isOfAdapter(error)) return error.cause?.originalCode
  return error instanceof Prisma.PrismaClientKnownRequestError ? causeOf(error)?.originalCode : undefined
}

type AdapterCause = { originalCode?: string; constraint?: { index?: string } }

/** Prisma's driver adapter exports no class for its errors. Errors at the end of a transaction reach the caller unwrapped. */
const isOfAdapter = (error: unknown): error is Error & { cause?: AdapterCause } =>
  error instanceof Error && error.name === 'DriverAdapterError'

const causeOf = ({ meta }: Prisma.PrismaClientKnownRequestError) =>
  (meta?.driverAdapterError as { cause?: AdapterCause } | undefined)?.cause
