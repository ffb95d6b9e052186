import type { ServiceContext } from '../context.ts'

/** True if the person has a second factor. */
export const hasFactor = async ({ db }: ServiceContext, credentialId: string): Promise<boolean> =>
  (await db.secondFactor.findFirst({ where: { credentialId }, select: { id: true } })) !== null
