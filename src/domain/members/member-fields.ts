import type { Prisma } from '../../generated/prisma/client.ts'
import { type FieldPolicy, shown } from '../values/field-policy.ts'

/** Erasing a member: test/domain/erasure/member-catalogue.ts. */
export const MEMBER_FIELDS: Record<Prisma.MemberScalarFieldEnum, FieldPolicy> = {
  id: shown('v1', 'alternate', 'csv'),
  organizationId: shown('alternate'),
  userId: shown('alternate'),
  email: shown('v1', 'csv'),
  roles: shown('v1', 'alternate', 'csv'),
  portalRoles: shown('csv'),
  status: shown('v1', 'csv'),
  department: shown('v1', 'csv'),
  canViewTranscription: shown('alternate'),
  joinedAt: shown('v1', 'csv'),
  createdAt: shown('alternate', 'csv'),
  updatedAt: shown('alternate', 'csv'),
  credentialId: shown('csv'),
  activeSince: shown(),
  invitedById: shown(),
  signInException: shown(),
  timeZone: shown(),
  pageSize: shown(),
  notices: shown(),
  erasedAt: shown(),
}
