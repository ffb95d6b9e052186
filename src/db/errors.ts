import { Prisma } from '../generated/prisma/client.ts'

/**
 * The name of the unique constraint or foreign key that refused a write; undefined for every other error.
 * (Prisma's driver adapters give the name only here, not in `meta.target`.)
 */
export function violatedConstraint(error: unknown): string | undefined {
  if (!(error instanceof Prisma.PrismaClientKnownRequestError)) return undefined
  if (error.code !== 'P2002' && error.code !== 'P2003') return undefined
  const adapterError = error.meta?.driverAdapterError as { cause?: { constraint?: { index?: string } } } | undefined
  return adapterError?.cause?.constraint?.index
}
