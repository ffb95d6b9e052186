import { Prisma } from '../generated/prisma/client.ts'

/** Of a unique constraint, of a foreign key, and of either in a statement of our own. */
const REFUSALS = ['P2002', 'P2003', 'P2010']

/**
 * The name of the unique constraint or foreign key that refused a write; undefined for every other error.
 * (Prisma's driver adapters give the name only here, not in `meta.target`.)
 */
export function violatedConstraint(error: unknown): string | undefined {
  if (!(error instanceof Prisma.PrismaClientKnownRequestError)) return undefined
  if (!REFUSALS.includes(error.code)) return undefined
  return causeOf(error)?.constraint?.index
}

/** Whether a statement gave up because another transaction had locked what it needed (`lock_timeout`, see client.ts). */
export const isLockTimeout = (error: unknown): boolean =>
  error instanceof Prisma.PrismaClientKnownRequestError && causeOf(error)?.originalCode === '55P03'

/** What PostgreSQL said. */
const causeOf = ({ meta }: Prisma.PrismaClientKnownRequestError) =>
  (meta?.driverAdapterError as { cause?: { originalCode?: string; constraint?: { index?: string } } } | undefined)?.cause
