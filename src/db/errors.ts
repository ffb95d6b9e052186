import { Prisma } from '../generated/prisma/client.ts'

/**
 * The name of the unique constraint or foreign key that refused a write; undefined for every other error.
 * (Prisma's driver adapters give the name only here, not in `meta.target`.)
 */
export function violatedConstraint(error: unknown): string | undefined {
  if (!(error instanceof Prisma.PrismaClientKnownRequestError)) return undefined
  if (error.code !== 'P2002' && error.code !== 'P2003') return undefined
  return causeOf(error)?.constraint?.index
}

/** Whether a statement gave up because another transaction had locked what it needed (`lock_timeout`, see client.ts). */
export const isLockTimeout = (error: unknown): boolean =>
  error instanceof Prisma.PrismaClientKnownRequestError && causeOf(error)?.originalCode === '55P03'

/** What PostgreSQL said. */
const causeOf = ({ meta }: Prisma.PrismaClientKnownRequestError) =>
  (meta?.driverAdapterError as { cause?: { originalCode?: string; constraint?: { index?: string } } } | undefined)?.cause
