import type { Asset } from '../../generated/prisma/client.ts'
import type { ServiceContext } from '../context.ts'
import { DomainError } from '../errors.ts'
import { BRAND, type Brand } from '../ports/brand.ts'
import { isUuid } from '../text/uuid.ts'

// Public logos and colors: mails and candidates' pages contain their addresses.

/** @throws DomainError media_not_found for an organization that there is not. */
export async function findBrand({ db }: ServiceContext, id: string): Promise<Brand> {
  const found = isUuid(id) ? await db.organization.findUnique({ where: { id }, select: BRAND }) : null
  if (!found) throw new DomainError('media_not_found')
  return found
}

/** A logo of an organization, also one of earlier. @param hash of its content, in hexadecimal. @throws DomainError media_not_found. */
export async function findLogo({ db }: ServiceContext, organizationId: string, hash: string): Promise<Asset> {
  const isHash = /^[\da-f]{64}$/.test(hash)
  const sha256 = new Uint8Array(Buffer.from(hash, 'hex'))
  const where = { organizationId, sha256, kind: 'logo', state: 'ready' }
  const found = isHash && isUuid(organizationId) ? await db.asset.findFirst({ where, orderBy: { id: 'asc' } }) : null
  if (!found) throw new DomainError('media_not_found')
  return found
}
