import type { Prisma } from '../../generated/prisma/client.ts'

const newest = { orderBy: { version: 'desc' }, take: 1 } satisfies Prisma.Submission$releasesArgs
export const newestRelease = { ...newest } satisfies Prisma.Submission$releasesArgs
/** Omits grades, whose comments may be long: for lists. */
export const newestTotal = { ...newest, omit: { grades: true } } satisfies Prisma.Submission$releasesArgs
