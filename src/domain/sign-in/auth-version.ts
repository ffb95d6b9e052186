import type { ServiceContext } from '../context.ts'

/**
 * Raises the credential's version after a change of the person's sign-in data. Earlier sessions and devices end, and no browser replaces a
 * second factor any more.
 *
 * @param sessionId session in which the change was made; it continues.
 */
export async function raiseAuthVersion({ db }: ServiceContext, credentialId: string, sessionId?: string): Promise<number> {
  const data = { authVersion: { increment: 1 } }
  const { authVersion } = await db.credential.update({ where: { id: credentialId }, data, select: { authVersion: true } })
  await db.device.updateMany({ where: { credentialId, trustedUntil: { not: null } }, data: { trustedUntil: null } })
  if (!sessionId) return authVersion
  await db.session.updateMany({ where: { id: sessionId }, data: { authVersion } })
  const session = await db.session.findUnique({ where: { id: sessionId }, select: { deviceId: true } })
  const deviceId = session?.deviceId
  if (deviceId) await db.device.updateMany({ where: { id: deviceId, credentialId }, data: { authVersion } })
  return authVersion
}
