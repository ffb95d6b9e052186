import type { ServiceContext } from '../context.ts'

/** Whether a person signs in with more than a password, or may. */
export const hasFactor = async ({ db }: ServiceContext, credentialId: string): Promise<boolean> =>
  (await db.secondFactor.findFirst({ where: { credentialId }, select: { id: true } })) !== null
